import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Verification } from "../../src/store/drivers/jsonl/verify-store.js";
import type { Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

let place: Workplace;
beforeEach(async () => {
  place = workplace();
  await decide();
});

const decide = (env: Readonly<Record<string, string>> = {}): ReturnType<Workplace["run"]> => {
  const stdin = Array.from({ length: 5 }, (_, index) =>
    JSON.stringify({ artifact: { quality_score: index } }),
  );
  return place.run(["evaluate", "decision-quality-gate", "--inputs", "-"], { stdin: stdin.join("\n"), env });
};

const verify = async (...words: readonly string[]): Promise<{ code: number; found: Verification }> => {
  const { code, out } = await place.run(["verify", ...words]);
  return { code, found: JSON.parse(out) as Verification };
};

const headline = async (...words: readonly string[]): Promise<string> =>
  (await place.run(["verify", ...words], { terminal: true })).out.split("  ")[0] ?? "";

const verdict = async (...words: readonly string[]): Promise<string | undefined> =>
  (await place.run(["verify", "--format", "plain", ...words])).out.split("\t")[1];

function keys(name: string): { readonly secret: string; readonly open: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const secret = join(place.root, `${name}.pem`);
  const open = join(place.root, `${name}.pub.pem`);
  writeFileSync(secret, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  writeFileSync(open, publicKey.export({ type: "spki", format: "pem" }));
  return { secret, open };
}

const log = (): string => join(place.store, "log/000000000001.jsonl");

describe("verify", () => {
  it("takes back what it gave", async () => {
    const { found } = await verify();
    await decide();
    expect((await verify("--expect", found.expect ?? "")).code).toBe(0);
  });

  it("shows the head on one line of a terminal", async () => {
    await decide();
    const { out } = await place.run(["verify"], { terminal: true, columns: 80 });
    expect(out).toMatch(/^ {2}head 10:[0-9a-f]{64}$/m);
    expect(out).not.toMatch(/ $/m);
  });

  it("says of a log that is only not signed that it is not signed", async () => {
    const { secret, open } = keys("ours");
    expect(await headline("--key", open)).toBe("✗ not signed with this key");
    expect(await verdict("--key", open)).toBe("unsigned");
    await decide({ AGENT33_SIGNING_KEY: secret, AGENT33_CHECKPOINT_EVERY: "2" });
    expect((await verify("--key", open)).code).toBe(0);
    const { code, found } = await verify("--key", keys("theirs").open);
    expect({ code, kinds: found.problems.map(({ kind }) => kind) }).toEqual({
      code: 6,
      kinds: ["signature"],
    });
  });

  it("says of a log that is another than expected that it is different from --expect", async () => {
    const expect5 = `5:${"ab".repeat(32)}`;
    expect(await headline("--expect", expect5)).toBe("✗ different from --expect");
    expect(await verdict("--expect", expect5)).toBe("unexpected");
  });

  it("says of a changed log that it is damaged, whatever else is wrong", async () => {
    writeFileSync(log(), readFileSync(log(), "utf8").replace("stage-rework", "stage-deploy"));
    expect(await headline("--key", keys("ours").open)).toBe("✗ damaged");
    expect(await verdict()).toBe("damaged");
    const { code, found } = await verify();
    expect({ code, first: found.problems[0] }).toMatchObject({ code: 6, first: { kind: "changed", seq: 1 } });
  });

  it("names a derived file that differs from the log, and has it rebuilt", async () => {
    await place.run(["distribution", "decision-quality-gate"]);
    const index = join(place.store, "log/index");
    const tally = readdirSync(index).find((name) => name.startsWith("tally-")) ?? "";
    const saved = readFileSync(join(index, tally), "utf8");
    writeFileSync(
      join(index, tally),
      saved.replace(/\d/, (digit) => String(9 - Number(digit))),
    );
    const { code, found } = await verify();
    expect({ code, found }).toMatchObject({
      code: 6,
      found: { ok: false, size: 5, problems: [{ kind: "derived", file: `log/index/${tally}` }] },
    });
    await place.run(["distribution", "decision-quality-gate"]);
    expect((await verify()).code).toBe(0);
    expect((await decide()).code).toBe(0);
  });

  it("says of a line that became longer where that shows", async () => {
    const lines = readFileSync(log(), "utf8").split("\n");
    writeFileSync(log(), lines.map((line, at) => (at === 2 ? line.replace("{", "{ ") : line)).join("\n"));
    const { found } = await verify();
    expect(found.problems.map(({ seq }) => seq)).toEqual([3, 5]);
    expect(found.problems[1]?.message).toContain("does not end where the head file says");
  });

  it("does not take records for pruned that nobody pruned", async () => {
    const lines = readFileSync(log(), "utf8").split("\n");
    writeFileSync(log(), lines.slice(1).join("\n"));
    const { code, found } = await verify();
    expect({ code, pruned: found.pruned }).toEqual({ code: 6, pruned: 0 });
    expect(found.problems.map(({ kind }) => kind)).toContain("missing");
  });

  it("fails for a log without records, unless --allow-empty or --expect is given", async () => {
    rmSync(place.store, { recursive: true });
    const { code, err } = await place.run(["verify"]);
    expect(code).toBe(6);
    expect(err).toMatch(/^error: nothing to check: there are no records\nhint: add --allow-empty/);
    expect((await verify("--allow-empty")).code).toBe(0);
    expect((await verify("--expect", `0:${"0".repeat(64)}`)).code).toBe(0);
  });

  it("finds that the log of a store was removed, and no new one is started", async () => {
    rmSync(join(place.store, "log"), { recursive: true });
    const { code, found } = await verify("--allow-empty");
    const message = "the log was removed, but the store still has `definitions`, `environments`";
    expect({ code, problems: found.problems }).toEqual({ code: 6, problems: [{ kind: "missing", message }] });
    const { code: failed, err } = await place.run([
      "evaluate",
      "decision-quality-gate",
      "--input",
      '{"artifact":{"quality_score":0.9}}',
    ]);
    expect(failed).toBe(1);
    expect(err).toContain(`is damaged: ${message}\nhint: `);
  });
});

describe("prune", () => {
  it("has nothing to remove where nothing was recorded", async () => {
    const another = join(place.root, "another");
    const { code, out, err } = await place.run(["prune", "--keep", "1", "--yes"], {
      env: { AGENT33_STORE: another },
    });
    expect(existsSync(another)).toBe(false);
    expect({ code, err }).toEqual({ code: 0, err: "no records yet\n" });
    expect(JSON.parse(out)).toEqual({ removed: 0, through: 0, bytes: 0 });
  });
});
