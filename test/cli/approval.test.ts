import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import type { ApprovalLock } from "../../src/model/approval.js";
import { files, other, quality } from "./approving.js";
import { fakeIo } from "./fake-io.js";
import type { Ran } from "./workspace.js";

let root: string;
let decisions: string;
let env: Readonly<Record<string, string>>;

const key = (name = "key"): string => join(root, `${name}.pem`);
const lockFile = (): string => join(decisions, "decisions.lock");
const lock = (): ApprovalLock => JSON.parse(readFileSync(lockFile(), "utf8")) as ApprovalLock;
const write = (name: string, text: string): void => writeFileSync(join(decisions, name), text);

async function run(words: readonly string[], { terminal = false } = {}): Promise<Ran> {
  const io = fakeIo({ terminal, cwd: root, env: { ...env, NO_COLOR: "1" } });
  return { code: await main(["decision", ...words], io), ...io.written };
}

const approve = (...words: readonly string[]): Promise<Ran> => run(["approve", ...words, "--key", key()]);
const evaluate = (): Promise<Ran> =>
  run(["evaluate", "quality", "--input", '{"score": 0.9}', "--format", "target", "--require-approval"]);
const trust = async (...names: readonly string[]): Promise<void> => {
  const written = names.map((name) => `${key(name)}.pub`).join(",");
  expect((await run(["config", "set", "trusted_keys", written])).err).toBe("");
};

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "agent-33-signing-"));
  decisions = join(root, "decisions");
  env = { AGENT33_HOME: join(root, "home"), AGENT33_DECISIONS: decisions };
  mkdirSync(decisions);
  write("quality.yaml", quality("0.8"));
  write("other.yaml", other);
  await run(["keygen", "--out", key()]);
  await trust("key");
});

describe("approve", () => {
  it("prints what was signed and what changed since the last approval", async () => {
    const first = JSON.parse((await approve("quality", "--json")).out) as object[];
    expect(first).toMatchObject([
      { decision_id: "quality", status: "approved", was: "unknown", serial: 1, changes: [] },
    ]);
    write("quality.yaml", quality("0.7"));
    const { code, out, err } = await approve("quality", "--json");
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject([
      {
        was: "changed",
        serial: 2,
        changes: [{ path: "/cases/0/condition", before: "input >= 0.8", after: "input >= 0.7" }],
        environment_changes: [],
      },
    ]);
    expect(lock().entries.map(({ serial }) => serial)).toEqual([2]);
  });

  it("shows people a table", async () => {
    const { out } = await run(["approve", "--all", "--key", key()], { terminal: true });
    expect(out).toMatch(/^ID +SERIAL +STATUS +WAS +CHANGED +HASH +ENVIRONMENT\n/);
    expect(out).toMatch(/quality +2 +approved +unknown/);
  });

  it("leaves what the same key has approved already", async () => {
    await approve("--all");
    const before = readFileSync(lockFile(), "utf8");
    const { code, err } = await approve("--all");
    expect([code, err]).toEqual([0, "2 of 2 unchanged\n"]);
    expect(readFileSync(lockFile(), "utf8")).toBe(before);
  });

  it.each([
    { name: "no decision", words: [], code: 2, why: "specify decisions to approve" },
    { name: "both", words: ["quality", "--all"], code: 2, why: "ids and --all cannot be combined" },
    { name: "an unknown one", words: ["qualty"], code: 2, why: "no decision called `qualty`" },
  ])("refuses $name", async ({ words, code, why }) => {
    const ran = await approve(...words);
    expect([ran.code, ran.out]).toEqual([code, ""]);
    expect(ran.err).toContain(why);
  });

  it("needs a key, and a private one", async () => {
    expect((await run(["approve", "quality"])).code).toBe(2);
    const { code, err } = await run(["approve", "quality", "--key", `${key()}.pub`]);
    expect(code).toBe(2);
    expect(err).toContain("contains a public key; signing needs the private key");
  });

  it("reports an encrypted key", async () => {
    const { generateKeyPairSync } = await import("node:crypto");
    const { privateKey } = generateKeyPairSync("ed25519");
    const secret = { cipher: "aes-256-cbc", passphrase: "a secret" };
    writeFileSync(key("locked"), privateKey.export({ type: "pkcs8", format: "pem", ...secret }));
    const { code, err } = await run(["approve", "quality", "--key", key("locked")]);
    expect([code, err]).toEqual([2, expect.stringContaining("is encrypted")]);
  });

  it.skipIf(process.platform === "win32")("warns of a key that others can read or write", async () => {
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(key(), mode);
      expect((await approve("quality")).err).toContain(
        "warning: other users can access the private key; run `chmod 600 ",
      );
    }
    chmodSync(key(), 0o600);
    expect((await approve("other")).err).toBe("");
  });

  it("warns about project settings that are ignored", async () => {
    writeFileSync(join(root, "agent-33.json"), '{"trusted_keys": "key.pem.pub", "store": "elsewhere"}');
    const { code, err } = await approve("quality");
    expect([code, err.match(/ignoring `trusted_keys` in `[^`]+`/g)?.length]).toEqual([0, 1]);
    expect(existsSync(join(root, "elsewhere"))).toBe(false);
  });

  it("has nothing to sign where nothing is defined", async () => {
    for (const name of ["quality.yaml", "other.yaml"]) rmSync(join(decisions, name));
    expect(await approve("--all")).toMatchObject({ code: 2, out: "" });
    expect((await approve("--all")).err).toContain("there are no definitions in");
  });

  it("does not sign an invalid definition", async () => {
    write("broken.yaml", "decision:\n  id: broken\n  type: binary\n");
    expect((await approve("broken")).code).toBe(3);
    const all = await approve("--all");
    expect([all.code, all.out]).toEqual([3, ""]);
    expect(all.err).toContain("some are invalid");
    expect((await approve("quality")).code).toBe(0);
  });

  it("does not sign over a forged lock", async () => {
    await approve("--all");
    const text = readFileSync(lockFile(), "utf8").replace('"serial": 1,', '"serial": 7,');
    writeFileSync(lockFile(), text);
    write("quality.yaml", quality("0.7"));
    const { code, err } = await approve("quality");
    expect(code).toBe(3);
    expect(err).toContain("is forged");
    expect(err).toContain("remove it and approve");
    expect(readFileSync(lockFile(), "utf8")).toBe(text);
  });

  it("does not sign a lock of untrusted keys", async () => {
    await run(["keygen", "--out", key("stranger")]);
    await run(["config", "unset", "trusted_keys"]);
    const own = await run(["approve", "--all", "--key", key("stranger")]);
    expect(own.code).toBe(0);
    expect(own.err).toMatch(
      /^warning: no key is trusted yet, so .* run `agent-33 decision config set trusted_keys ed25519:[^`]*`$/m,
    );
    await trust("key");
    const { code, err } = await approve("quality");
    expect(code).toBe(3);
    expect(err).toContain("signed by a key that is not trusted");
  });

  it.each([
    { name: "approve", words: ["approve", "quality"] },
    { name: "approve --all", words: ["approve", "--all"] },
    { name: "retire", words: ["retire", "quality"] },
  ])("$name does not sign with a key that is not trusted where others are", async ({ words }) => {
    await approve("--all");
    const before = readFileSync(lockFile(), "utf8");
    await run(["keygen", "--out", key("stranger")]);
    write("quality.yaml", quality("0.7"));
    const { code, out, err } = await run([...words, "--key", key("stranger")]);
    expect([code, out]).toEqual([3, ""]);
    expect(err).toContain("the signing key is not trusted, so nothing was signed");
    expect(err).toMatch(/agent-33 decision config set trusted_keys \S+,ed25519:/);
    expect(readFileSync(lockFile(), "utf8")).toBe(before);
  });

  it("rejects an older lock, unless --all --yes is used", async () => {
    await approve("--all");
    const old = readFileSync(lockFile(), "utf8");
    await run(["retire", "other", "--key", key()]);
    expect((await evaluate()).code).toBe(0);
    writeFileSync(lockFile(), old);
    expect((await approve("quality")).err).toContain("was rolled back from serial 3 to 2");
    expect((await run(["retire", "quality", "--key", key()])).code).toBe(3);
    for (const words of [["--all"], ["quality", "--yes"]]) {
      const { code, out, err } = await approve(...words);
      expect([code, out]).toEqual([3, ""]);
      expect(err).toContain("was rolled back from serial 3 to 2");
      expect(err).toContain("agent-33 decision approve --all --yes --key FILE");
      expect(readFileSync(lockFile(), "utf8")).toBe(old);
    }
    const { code, err } = await approve("--all", "--yes");
    expect([code, err]).toEqual([
      0,
      "warning: the lock was rolled back from serial 3 to 2; signing everything again\n",
    ]);
    expect(lock().entries.map(({ serial }) => serial)).toEqual([4, 5]);
    expect((await evaluate()).code).toBe(0);
  });

  it("rejects a different lock with a known serial, unless --all --yes is used", async () => {
    await approve("--all");
    const old = readFileSync(lockFile(), "utf8");
    await run(["retire", "other", "--key", key()]);
    const other = { AGENT33_STORE: join(root, "another-store") };
    writeFileSync(lockFile(), old);
    env = { ...env, ...other };
    await run(["retire", "quality", "--key", key()]);
    env = { AGENT33_HOME: join(root, "home"), AGENT33_DECISIONS: decisions };
    expect((await approve("--all")).err).toContain("differs from the one seen before with serial 3");
    expect((await approve("--all", "--yes")).err).toContain(
      "warning: the lock differs from the one seen before with serial 3; signing everything again\n",
    );
    expect(lock().head.serial).toBeGreaterThan(3);
  });

  it("remembers what was signed, so that the older lock is refused where nothing was decided yet", async () => {
    await approve("--all");
    const old = readFileSync(lockFile(), "utf8");
    write("quality.yaml", quality("0.95"));
    await approve("quality");
    write("quality.yaml", quality("0.8"));
    writeFileSync(lockFile(), old);
    expect((await evaluate()).err).toContain("was rolled back from serial 3 to 2");
  });

  it("begins another lock where the first was removed on purpose", async () => {
    await approve("--all");
    expect((await evaluate()).code).toBe(0);
    const { lock_id } = lock();
    expect(lock_id).toMatch(/^[0-9a-f]{32}$/);
    rmSync(lockFile());
    await approve("quality");
    expect(lock().head.serial).toBe(1);
    expect(lock().lock_id).not.toBe(lock_id);
    expect((await evaluate()).code).toBe(0);
  });

  it("signs everything again with another key, so that keys can be rotated", async () => {
    write("files.yaml", files("/etc/shadow"));
    write("gone.yaml", other.replace("id: other", "id: gone"));
    write("late.yaml", other.replace("id: other", "id: late"));
    await approve("--all");
    await run(["retire", "other", "late", "--key", key()]);
    for (const name of ["gone.yaml", "late.yaml"]) rmSync(join(decisions, name));
    const before = lock();
    await run(["keygen", "--out", key("next")]);
    await trust("key", "next");
    const { code, err } = await run(["approve", "--all", "--key", key("next")]);
    expect([code, err]).toEqual([0, "1 decision stays retired; specify its id to approve it again\n"]);
    const said = ({ entries }: ApprovalLock): object[] =>
      entries.map(({ decision_id, status, definition_hash, environment_hash, definition, environment }) => {
        return { decision_id, status, definition_hash, environment_hash, definition, environment };
      });
    expect(said(lock())).toEqual(said(before));
    expect(new Set(lock().entries.map((entry) => entry.key))).toEqual(new Set([lock().head.key]));
    expect(Math.min(...lock().entries.map(({ serial }) => serial))).toBe(before.head.serial + 1);
    await trust("next");
    expect((await evaluate()).out).toBe("deploy\n");
    const ask = (id: string): Promise<Ran> =>
      run(["evaluate", id, "--input", "{}", "--require-approval", "--quiet"]);
    expect((await ask("other")).err).toContain("`other` was retired with serial");
    expect((await ask("gone")).err).toContain("`gone` was approved with serial");
    await trust("key");
    expect((await evaluate()).code).toBe(3);
  });
});

describe("retire", () => {
  it("is remembered where nothing was decided yet", async () => {
    await approve("--all");
    const old = readFileSync(lockFile(), "utf8");
    await run(["retire", "quality", "--key", key()]);
    writeFileSync(lockFile(), old);
    expect((await evaluate()).err).toContain("was rolled back from serial 3 to 2");
  });

  it("refuses what was approved, until it is approved again", async () => {
    await approve("--all");
    const { code, out } = await run(["retire", "quality", "--key", key(), "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject([{ status: "retired", was: "approved", serial: 3 }]);
    expect((await evaluate()).err).toContain("`quality` was retired with serial 3");
    await approve("quality");
    expect((await evaluate()).code).toBe(0);
  });

  it("refuses a directory that is not there", async () => {
    const words = ["retire", "quality", "--key", key(), "--decisions", join(root, "nowhere")];
    expect(await run(words)).toMatchObject({
      code: 2,
      err: expect.stringContaining("does not exist") as string,
    });
  });

  it("stays where all are approved, until it is named", async () => {
    await approve("--all");
    await run(["retire", "quality", "--key", key()]);
    const all = await approve("--all");
    expect(all.code).toBe(0);
    expect(all.err).toContain("1 decision stays retired; specify its id to approve it again\n");
    expect(all.out).not.toContain("quality");
    expect((await evaluate()).err).toContain("`quality` was retired with serial 3");
    await run(["retire", "other", "--key", key()]);
    expect((await approve("--all")).err).toBe(
      "2 decisions stay retired; specify their ids to approve them again\n",
    );
    expect((await approve("--all", "--quiet")).err).toBe("");
    expect((await approve("quality")).code).toBe(0);
    expect((await evaluate()).code).toBe(0);
  });

  it("needs no file any more", async () => {
    await approve("--all");
    rmSync(join(decisions, "other.yaml"));
    expect((await run(["retire", "other", "--key", key()])).code).toBe(0);
  });

  it("refuses what was never approved, and signs nothing then", async () => {
    await approve("quality");
    const { code, err } = await run(["retire", "quality", "other", "--key", key()]);
    expect(code).toBe(2);
    expect(err).toContain("`other` was never approved");
    expect(lock().head.serial).toBe(1);
  });
});

describe("diff", () => {
  const diff = (...words: readonly string[]): Promise<Ran> => run(["diff", "quality", ...words]);

  it("reports no changes", async () => {
    await approve("--all");
    expect(await diff("--check", "--json")).toMatchObject({ code: 0, err: "" });
    expect((await run(["diff", "quality"], { terminal: true })).out).toMatch(
      /^quality is unchanged since it was approved with serial 2 at /,
    );
  });

  it("shows what changed, in the definition and in its environment", async () => {
    await approve("--all");
    write("quality.yaml", quality("0.1"));
    write("guardrails.yaml", "guardrails:\n  - { type: weight_bounds, min_weight: 5 }\n");
    const { code, out } = await diff("--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      decision_id: "quality",
      state: "changed",
      serial: 2,
      changes: [{ path: "/cases/0/condition", before: "input >= 0.8", after: "input >= 0.1" }],
      environment_changes: [{ path: "/guardrails", after: [{ type: "weight_bounds", min_weight: 5 }] }],
    });
    expect((await diff("--check")).code).toBe(6);
    const shown = (await run(["diff", "quality"], { terminal: true })).out;
    expect(shown).toContain("quality changed since it was approved with serial 2");
    expect(shown).toContain("-   - condition: input >= 0.8\n+   - condition: input >= 0.1\n");
    expect(shown).toContain("+   - type: weight_bounds\n+     min_weight: 5\n");
    expect((await diff("--format", "plain")).out).toBe(
      'definition\t/cases/0/condition\t"input >= 0.8"\t"input >= 0.1"\n' +
        'environment\t/guardrails\t\t[{"type":"weight_bounds","min_weight":5}]\n',
    );
  });

  it("shows no change where only the layout did", async () => {
    await approve("--all");
    write(
      "quality.yaml",
      `# looked at again\n${quality("0.8").replace("type: binary\n", "type:   binary\n")}`,
    );
    expect((await diff("--check")).code).toBe(0);
  });

  it.each([
    { name: "was never approved", prepare: () => approve("other"), state: "unknown" },
    { name: "has no lock", prepare: () => undefined, state: "unknown" },
    {
      name: "was retired",
      prepare: async () => {
        await approve("--all");
        await run(["retire", "quality", "--key", key()]);
      },
      state: "retired",
    },
    {
      name: "is gone",
      prepare: async () => {
        await approve("--all");
        rmSync(join(decisions, "quality.yaml"));
      },
      state: "changed",
    },
  ])("knows one that $name", async ({ prepare, state }) => {
    await prepare();
    const { code, out } = await diff("--check", "--json");
    expect(code).toBe(6);
    expect(JSON.parse(out)).toMatchObject({ decision_id: "quality", state });
    expect((await run(["diff", "quality"], { terminal: true })).code).toBe(0);
  });

  it("compares without a trusted key, and rejects an invalid lock", async () => {
    await approve("--all");
    await run(["config", "unset", "trusted_keys"]);
    write("quality.yaml", quality("0.1"));
    const { code, out, err } = await diff("--json");
    expect([code, err]).toEqual([0, "warning: no trusted key is configured, so no definition is approved\n"]);
    expect(JSON.parse(out)).toMatchObject({ state: "unknown", changes: [{ path: "/cases/0/condition" }] });
    writeFileSync(lockFile(), "{}");
    expect((await diff()).code).toBe(3);
  });

  it("rejects an unknown id", async () => {
    expect((await run(["diff", "qualty"])).code).toBe(2);
  });
});

describe("list, show and validate", () => {
  it("say nothing of approval where there is none", async () => {
    const listed = (await run(["list", "--json"])).out;
    expect(listed).not.toContain("approval");
    expect((await run(["show", "quality", "--json"])).out).not.toContain("approval");
    expect((await run(["list"], { terminal: true })).out).not.toContain("APPROVAL");
    expect((await run(["validate", "--format", "plain"])).out).toBe("");
  });

  it("show whether a decision is approved, changed, retired or unknown", async () => {
    write("files.yaml", files("/etc/shadow"));
    write("late.yaml", other.replace("id: other", "id: late"));
    await approve("files", "quality", "other");
    write("quality.yaml", quality("0.1"));
    await run(["retire", "other", "--key", key()]);
    const { out } = await run(["list", "--json"]);
    const states = (JSON.parse(out) as { id: string; approval: { state: string; serial?: number } }[]).map(
      ({ id, approval: { state, serial } }) => [id, state, serial],
    );
    expect(states).toEqual([
      ["files", "approved", 1],
      ["late", "unknown", undefined],
      ["other", "retired", 4],
      ["quality", "changed", 2],
    ]);
    const table = (await run(["list"], { terminal: true })).out;
    expect(table).toMatch(/APPROVAL/);
    expect(table).toMatch(/quality +binary +1 +changed/);
    const shown = JSON.parse((await run(["show", "quality", "--json"])).out) as { approval: object };
    expect(shown.approval).toMatchObject({ state: "changed", serial: 2 });
    expect((await run(["show", "quality"], { terminal: true })).out).toContain(
      "changed since it was approved (serial 2",
    );
    const problems = (await run(["validate", "--format", "plain"])).out;
    expect(problems).toContain("warning\t`quality` changed since it was approved with serial 2");
    expect(problems).toContain("warning\t`other` was retired with serial 4");
    expect(problems).toContain("warning\t`late` is not approved\t");
    expect((await run(["validate"])).code).toBe(0);
  });

  it("make errors of them where approval is required", async () => {
    write("files.yaml", files("/etc/shadow"));
    write("late.yaml", other.replace("id: other", "id: late"));
    write("gone.yaml", other.replace("id: other", "id: gone"));
    await approve("files", "gone", "quality", "other");
    write("quality.yaml", quality("0.1"));
    rmSync(join(decisions, "gone.yaml"));
    await run(["retire", "other", "--key", key()]);
    const words = ["validate", "--format", "plain"];
    const { code, out } = await run([...words, "--require-approval"]);
    expect(code).toBe(3);
    expect(out.match(/\terror\t`[a-z]+` [^\t\n]+/g)).toEqual([
      "\terror\t`gone` was approved with serial 2, but its definition is missing",
      "\terror\t`late` is not approved",
      "\terror\t`other` was retired with serial 5",
      "\terror\t`quality` changed since it was approved with serial 3",
    ]);
    expect((await run(words)).code).toBe(0);
    await run(["config", "set", "require_approval", "true"]);
    expect((await run(words)).code).toBe(3);
    rmSync(join(decisions, "late.yaml"));
    await run(["retire", "gone", "--key", key()]);
    rmSync(join(decisions, "other.yaml"));
    await approve("quality");
    expect(await run(words)).toMatchObject({ code: 0, out: "" });
  });

  it("make errors of no lock and no key where approval is required", async () => {
    const words = ["validate", "--require-approval", "--format", "plain"];
    const none = await run(words);
    expect(none.code).toBe(3);
    expect(none.out).toContain("decisions.lock:1:1\terror\tno definition is approved: there is no lock");
    expect(none.out).toContain("error\t`quality` is not approved");
    expect(none.out).toContain("error\t`other` is not approved");
    await approve("--all");
    expect(await run(words)).toMatchObject({ code: 0, out: "" });
    await run(["config", "unset", "trusted_keys"]);
    expect(await run(words)).toMatchObject({
      code: 3,
      out: expect.stringContaining("error\tno trusted key is configured") as string,
    });
  });

  it("do not tell of a file by itself whether it is approved", async () => {
    await approve("--all");
    const file = join(decisions, "quality.yaml");
    const { code, err } = await run(["validate", file, "--require-approval"]);
    expect([code, err]).toEqual([2, expect.stringContaining("cannot check the approval of the single file")]);
    expect((await run(["validate", file])).code).toBe(0);
  });

  it("warn of an approved decision that is not there", async () => {
    await approve("--all");
    rmSync(join(decisions, "other.yaml"));
    expect((await run(["validate", "--format", "plain"])).out).toContain(
      "warning\t`other` was approved with serial 1, but its definition is missing",
    );
  });

  it("know nothing by a lock that proves nothing, and say why", async () => {
    await approve("--all");
    writeFileSync(lockFile(), readFileSync(lockFile(), "utf8").replace('"serial": 1,', '"serial": 7,'));
    const { code, out, err } = await run(["list", "--json"]);
    expect(code).toBe(0);
    expect(out.match(/"state": "unknown"/g)).toHaveLength(2);
    expect(err).toContain("is forged");
    const validated = await run(["validate", "--format", "plain"]);
    expect(validated.code).toBe(3);
    expect(validated.out).toMatch(/decisions\/decisions\.lock:1:1\terror\t/);
  });

  it("look at signatures only where a key is trusted", async () => {
    await approve("--all");
    await run(["config", "unset", "trusted_keys"]);
    const { code, out } = await run(["validate", "--format", "plain"]);
    expect(code).toBe(0);
    expect(out).toContain("note\tsignatures are not checked because no trusted key is configured");
    expect((await run(["list", "--json"])).err).toContain("no trusted key is configured");
  });
});

describe("help approval", () => {
  it("describes an older lock like the error and the help of approve", async () => {
    await approve("--all");
    const old = readFileSync(lockFile(), "utf8");
    await run(["retire", "other", "--key", key()]);
    writeFileSync(lockFile(), old);
    const io = fakeIo({ cwd: root, env });
    await main(["help", "approval"], io);
    const command = "agent-33 decision approve --all --yes --key FILE";
    expect(io.written.out.replaceAll(/\s+/g, " ")).toContain(command);
    expect((await evaluate()).err).toContain(command);
    expect((await run(["approve", "--help"])).out.replaceAll(/\s+/g, " ")).toContain(
      "To sign everything again over such a lock, use --all --yes",
    );
  });
});

describe("a lock", () => {
  it("that was merged by taking the newer side is decided by once the rest is approved again", async () => {
    await approve("--all");
    const base = readFileSync(lockFile(), "utf8");
    const inStore = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      const before = env;
      env = { ...env, AGENT33_STORE: join(root, name) };
      await work();
      env = before;
    };
    write("other.yaml", other.replace("target: one", "target: three"));
    await inStore("theirs", () => approve("other"));
    writeFileSync(lockFile(), base);
    write("quality.yaml", quality("0.7"));
    await approve("quality");
    expect((await evaluate()).code).toBe(0);
    await approve("other");
    expect((await evaluate()).code).toBe(0);
    await inStore("theirs", async () => expect((await evaluate()).code).toBe(0));
  });

  it("with merge conflict markers is reported as such", async () => {
    await approve("--all");
    const text = readFileSync(lockFile(), "utf8");
    writeFileSync(lockFile(), `<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> other\n`);
    for (const ran of [await evaluate(), await approve("quality")]) {
      expect([ran.code, ran.out]).toEqual([3, ""]);
      expect(ran.err).toContain("decisions.lock` contains merge conflict markers");
      expect(ran.err).toContain("hint: take one side");
    }
  });

  it("distinguishes a missing definition from an invalid one", async () => {
    write("files.yaml", files("/etc/shadow"));
    await approve("--all");
    const check = (): Promise<Ran> =>
      run(["check", "write_file", "--params", "{}", "--session-id", "s", "--require-approval"]);
    write("files.yaml", files("/etc/shadow").replace("tool: write_*", "tols: write_*"));
    const invalid = await check();
    expect(invalid.code).toBe(3);
    expect(invalid.err).not.toContain("but its definition is missing");
    expect((await run(["validate", "--format", "plain"])).out).not.toContain("but its definition is missing");
    rmSync(join(decisions, "files.yaml"));
    expect((await check()).err).toContain(
      "`files` was approved with serial 1, but its definition is missing",
    );
  });
});

describe("the setting trusted_keys", () => {
  it.each([
    { name: "no key at all", value: "ed25519:abc", why: "must be public keys" },
    { name: "a file that is not there", value: "nowhere.pub", why: "cannot be used: ENOENT" },
    { name: "nothing", value: "", why: "must be public keys" },
    {
      name: "a file without a key",
      value: "agent.txt",
      why: "it does not contain a public key in PEM format",
    },
    { name: "a private key", value: "key.pem", why: "it contains a private key, which must stay secret" },
  ])("refuses $name", async ({ value, why }) => {
    writeFileSync(join(root, "agent.txt"), "no key");
    const { code, err } = await run(["config", "set", "trusted_keys", value]);
    expect(code).toBe(2);
    expect(err).toContain(why);
  });

  it("rejects a key of another type, even if it was replaced later", async () => {
    const { generateKeyPairSync } = await import("node:crypto");
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await approve("--all");
    writeFileSync(join(root, "home/config.json"), JSON.stringify({ trusted_keys: `${key()}.pub` }));
    expect((await evaluate()).code).toBe(0);
    writeFileSync(`${key()}.pub`, publicKey.export({ type: "spki", format: "pem" }));
    expect((await run(["config", "set", "trusted_keys", `${key()}.pub`])).code).toBe(2);
    const { code, err } = await evaluate();
    expect(code).toBe(3);
    expect(err).toContain("it is not an Ed25519 key");
  });

  it("keeps the keys of files, so that exchanging one changes nothing", async () => {
    await run(["keygen", "--out", key("stranger")]);
    await approve("--all");
    for (const written of [`${key()}.pub`, JSON.stringify([`${key()}.pub`, `${key()}.pub`])]) {
      expect(await run(["config", "set", "trusted_keys", written])).toMatchObject({ code: 0, err: "" });
      const kept = JSON.parse(readFileSync(join(root, "home/config.json"), "utf8")) as object;
      expect(kept).toEqual({ trusted_keys: expect.stringMatching(/^ed25519:[^,]+$/) as string });
    }
    writeFileSync(`${key()}.pub`, readFileSync(`${key("stranger")}.pub`));
    expect((await evaluate()).code).toBe(0);
    const strange = await run(["approve", "--all", "--key", key("stranger")]);
    expect(strange.err).toContain("the signing key is not trusted");
  });

  it("may be a list in the file of the user's settings", async () => {
    await approve("--all");
    const made = await run(["keygen", "--out", key("more"), "--json"]);
    const { public_key } = JSON.parse(made.out) as { public_key: string };
    const file = join(root, "home/config.json");
    writeFileSync(file, JSON.stringify({ trusted_keys: [public_key, "../key.pem.pub"] }));
    expect((await evaluate()).code).toBe(0);
    writeFileSync(file, JSON.stringify({ trusted_keys: [public_key] }));
    expect((await evaluate()).code).toBe(3);
  });
});

describe("the key of the user", () => {
  it("signs where no other is named, in approvals and retirements", async () => {
    expect(await run(["approve", "quality"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no key to sign with") as string,
    });
    const { public_key } = JSON.parse((await run(["keygen", "--json"])).out) as { public_key: string };
    await run(["config", "set", "trusted_keys", public_key]);
    expect((await run(["approve", "quality"])).code).toBe(0);
    expect((await evaluate()).code).toBe(0);
    expect((await run(["retire", "quality"])).code).toBe(0);
    expect((await evaluate()).code).toBe(3);
  });

  it("may be trusted as it stands in its file", async () => {
    await run(["keygen"]);
    const pem = readFileSync(join(root, "home/approval-key.pem.pub"), "utf8");
    const set = await run(["config", "set", "trusted_keys", JSON.stringify([pem])]);
    expect(set).toMatchObject({ code: 0, err: "" });
    await run(["approve", "--all"]);
    expect((await evaluate()).code).toBe(0);
    writeFileSync(join(root, "home/config.json"), JSON.stringify({ trusted_keys: pem }));
    expect((await evaluate()).code).toBe(0);
  });

  it.each(["[", '["ed25519:abc"]', "[]", "[5]"])("is none in %s", async (written) => {
    expect((await run(["config", "set", "trusted_keys", written])).code).toBe(2);
  });
});

describe("the setting require_approval", () => {
  it("comes from the flag, the environment, the project or the user", async () => {
    const plain = ["evaluate", "quality", "--input", "{}"];
    expect((await run(plain)).code).toBe(0);
    env = { ...env, AGENT33_REQUIRE_APPROVAL: "1" };
    expect((await run(plain)).code).toBe(3);
    env = { ...env, AGENT33_REQUIRE_APPROVAL: "maybe" };
    expect((await run(plain)).code).toBe(2);
    env = { ...env, AGENT33_REQUIRE_APPROVAL: "" };
    writeFileSync(join(root, "agent-33.json"), '{"require_approval": true}');
    expect((await run(plain)).code).toBe(3);
    writeFileSync(join(root, "agent-33.json"), '{"require_approval": "yes"}');
    expect((await run(plain)).code).toBe(2);
    rmSync(join(root, "agent-33.json"));
    await run(["config", "set", "require_approval", "true"]);
    expect((await run(plain)).code).toBe(3);
    expect(JSON.parse(readFileSync(join(root, "home/config.json"), "utf8"))).toMatchObject({
      require_approval: true,
    });
  });

  it("does not keep the result of a call from being recorded", async () => {
    await run(["config", "set", "require_approval", "true"]);
    const words = ["result", "write_file", "--session-id", "s", "--ok"];
    expect((await run(words)).err).not.toContain("approved");
  });
});
