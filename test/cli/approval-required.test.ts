import { execFileSync, spawnSync } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ApprovedProject, entryOf, files, other, quality, wire } from "./approving.js";
import { approvalStatement, reviseLock, signedEntryText } from "../../src/definition/approval/lock.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import type { LockEntry } from "../../src/model/approval.js";
import { thisOwner } from "../../src/store/drivers/jsonl/lock.js";
import { binary, newLockId } from "../definition/approval/locks.js";

const lax = quality("0.1");

/** A file of the project, spoilt; what the refusal says of it. */
interface Attack {
  readonly name: string;
  readonly spoil: (project: ApprovedProject) => unknown;
  readonly why: string;
}

const attacks: readonly Attack[] = [
  { name: "no lock", spoil: ({ lock }) => rmSync(lock), why: "no definition is approved: there is no" },
  {
    name: "a lock that is cut off",
    spoil: ({ lock }) => writeFileSync(lock, readFileSync(lock, "utf8").slice(0, -200)),
    why: "is not JSON",
  },
  {
    name: "a lock that is not JSON",
    spoil: (project) => project.writeLock("approved: all"),
    why: "is not JSON",
  },
  { name: "an empty lock", spoil: (project) => project.writeLock(""), why: "is not JSON" },
  {
    name: "NUL bytes in the lock",
    spoil: ({ lock }) => writeFileSync(lock, Buffer.concat([readFileSync(lock), Buffer.alloc(16)])),
    why: "is not JSON",
  },
  {
    name: "an unknown format",
    spoil: (project) => project.writeLock({ ...project.readLock(), format: 7 }),
    why: "has the format `7`",
  },
  {
    name: "an unknown field",
    spoil: (project) => project.forge("quality", (entry) => ({ ...entry, trusted: true })),
    why: "has an unknown field",
  },
  {
    name: "an entry removed",
    spoil: (project) => {
      const lock = project.readLock();
      const entries = lock.entries.filter(({ decision_id }) => decision_id !== "files");
      project.writeLock({ ...lock, entries });
    },
    why: "has other entries than its head was signed for",
  },
  {
    name: "the entry of another decision renamed",
    spoil: (project) => {
      const lock = project.readLock();
      const entries = lock.entries.filter(({ decision_id }) => decision_id !== "quality");
      const renamed = { ...entryOf(lock, "other"), decision_id: "quality" };
      project.writeLock({
        ...lock,
        entries: entries.map((each) => (each.decision_id === "other" ? renamed : each)),
      });
    },
    why: "the signature of the entry with serial",
  },
  {
    name: "a hash swapped for that of the changed file",
    spoil: (project) => {
      project.write("quality.yaml", lax);
      project.forge("quality", (entry) => ({ ...entry, definition_hash: "0".repeat(64) }));
    },
    why: "is forged: the signature of the entry",
  },
  {
    name: "a raised serial",
    spoil: (project) => project.forge("quality", (entry) => ({ ...entry, serial: 99 })),
    why: "is forged: the signature of the entry with serial 99",
  },
  {
    name: "the signature of another entry",
    spoil: (project) =>
      project.forge("quality", (entry, lock) => ({ ...entry, signature: entryOf(lock, "other").signature })),
    why: "is forged: the signature of the entry",
  },
  {
    name: "a signature by a stranger",
    spoil: async (project) => {
      const stranger = join(project.root, "stranger.pem");
      await project.run("keygen", "--out", stranger);
      rmSync(project.lock);
      await project.run("config", "unset", "trusted_keys");
      await project.run("approve", "--all", "--key", stranger);
      await project.run("config", "set", "trusted_keys", project.oneLine());
    },
    why: "is signed by a key that is not trusted",
  },
  {
    name: "a stranger's signature under a trusted name",
    spoil: (project) => {
      const { privateKey } = generateKeyPairSync("ed25519");
      project.forge("quality", (entry, lock) => ({
        ...entry,
        signature: sign(null, Buffer.from(signedEntryText(lock, entry)), privateKey).toString("base64"),
      }));
    },
    why: "is forged: the signature of the entry",
  },
  {
    name: "the name of another key",
    spoil: (project) => project.forge("quality", (entry) => ({ ...entry, key: "a".repeat(64) })),
    why: "is signed by a key that is not trusted",
  },
  {
    name: "a signature spelt otherwise in base64",
    spoil: (project) =>
      project.forge("quality", (entry) => ({ ...entry, signature: respelt(entry.signature) })),
    why: "is forged: the signature of the entry",
  },
  {
    name: "a signature without its padding",
    spoil: (project) =>
      project.forge("quality", (entry) => ({ ...entry, signature: entry.signature.replace(/=+$/, "") })),
    why: "has an invalid `entries/",
  },
  {
    name: "a signature by a key of another kind",
    spoil: (project) => {
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      project.forge("quality", (entry, lock) => {
        const text = Buffer.from(signedEntryText(lock, entry));
        const signature = sign("sha256", text, { key: privateKey, dsaEncoding: "ieee-p1363" });
        return { ...entry, signature: signature.toString("base64") };
      });
    },
    why: "is forged: the signature of the entry",
  },
  {
    name: "retired flipped to approved",
    spoil: async (project) => {
      const { definition, environment } = entryOf(project.readLock(), "quality");
      await project.run("retire", "quality", "--key", project.key);
      project.forge("quality", (entry) => ({ ...entry, status: "approved", definition, environment }));
    },
    why: "is forged: the signature of the entry",
  },
  {
    name: "an older lock and an older file put back",
    spoil: async (project) => {
      const old = readFileSync(project.lock);
      project.write("quality.yaml", quality("0.95"));
      await project.approve("quality");
      await project.evaluate();
      project.write("quality.yaml", quality("0.8"));
      writeFileSync(project.lock, old);
    },
    why: "was rolled back from serial 6 to 5",
  },
  {
    name: "another lock with a serial that was seen",
    spoil: async (project) => {
      const old = readFileSync(project.lock);
      await project.run("retire", "other", "--key", project.key);
      await project.evaluate();
      writeFileSync(project.lock, old);
      const again = reviseLock(project.readLock(), [approvalStatement(binary("more"), at)], {
        signer: project.signer(),
        above: 0,
        newLockId,
      });
      project.writeLock(again);
    },
    why: "differs from the one seen before with serial 6",
  },
  {
    name: "an older approved file put back",
    spoil: async (project) => {
      project.write("quality.yaml", quality("0.95"));
      await project.approve("quality");
      project.write("quality.yaml", quality("0.8"));
    },
    why: "`quality` changed since it was approved with serial 6: its definition",
  },
  {
    name: "a serial twice",
    spoil: (project) =>
      project.forge("quality", (entry, lock) => ({ ...entry, serial: entryOf(lock, "other").serial })),
    why: "more than once",
  },
  {
    name: "a decision twice",
    spoil: (project) => {
      const lock = project.readLock();
      const more: LockEntry = { ...entryOf(lock, "quality"), serial: 77 };
      project.writeLock({ ...lock, entries: [...lock.entries, more] });
    },
    why: "has more than one entry of `quality`",
  },
  {
    name: "the definition in the lock changed",
    spoil: (project) =>
      project.forge("quality", (entry) => ({
        ...entry,
        definition: JSON.parse(JSON.stringify(entry.definition).replace("0.8", "0.1")) as object,
      })),
    why: "what it holds of `quality` is not what was approved",
  },
  {
    name: "the entry of another lock with the same serial",
    spoil: async (project) => {
      const mine = project.readLock();
      rmSync(project.lock);
      project.write("quality.yaml", lax);
      await project.approve("--all");
      const theirs = entryOf(project.readLock(), "quality");
      project.writeLock(mine);
      project.forge("quality", () => theirs);
    },
    why: "is forged: the signature of the entry",
  },
  {
    name: "the name of another lock",
    spoil: (project) => project.writeLock({ ...project.readLock(), lock_id: "0".repeat(32) }),
    why: "is forged: the signature of the entry",
  },
  {
    name: "no name of the lock",
    spoil: (project) => project.writeLock({ ...project.readLock(), lock_id: undefined }),
    why: "has no `lock_id`",
  },
  {
    name: "the head dropped",
    spoil: (project) => {
      const { format, lock_id, entries } = project.readLock();
      project.writeLock({ format, lock_id, entries });
    },
    why: "has no head",
  },
  {
    name: "the head of an older lock",
    spoil: async (project) => {
      const { head } = project.readLock();
      project.write("quality.yaml", quality("0.95"));
      await project.approve("quality");
      project.writeLock({ ...project.readLock(), head });
    },
    why: "has a head with serial 5, but its newest entry has 6",
  },
  {
    name: "a changed file",
    spoil: (project) => project.write("quality.yaml", lax),
    why: "`quality` changed since it was approved with serial",
  },
  {
    name: "a file that was removed",
    spoil: ({ decisions }) => rmSync(join(decisions, "quality.yaml")),
    why: "its definition is missing",
  },
  {
    name: "a new guardrail for every decision",
    spoil: (project) =>
      project.write(
        "guardrails.yaml",
        "guardrails:\n  - { type: weight_bounds, min_weight: 1, on_fail: warn }\n",
      ),
    why: "its guardrails, targets, endpoints, masks, observers or overrides of other decisions",
  },
  {
    name: "a new observer of every session",
    spoil: (project) => project.write("observers.yaml", "observers: [{ type: precedent_consistency }]\n"),
    why: "its guardrails, targets, endpoints, masks, observers or overrides of other decisions",
  },
  {
    name: "a new file of targets",
    spoil: (project) =>
      project.write("targets.yaml", "targets: [{ id: deploy, kind: stage }, rework, one, two]\n"),
    why: "its guardrails, targets, endpoints, masks, observers or overrides of other decisions",
  },
  {
    name: "a directory in the place of the lock",
    spoil: ({ lock }) => {
      rmSync(lock);
      mkdirSync(lock);
    },
    why: "is a directory",
  },
  {
    name: "a link to itself in the place of the lock",
    spoil: ({ lock }) => {
      rmSync(lock);
      symlinkSync(lock, lock);
    },
    why: "cannot be read",
  },
  {
    name: "a link that leads nowhere in the place of the lock",
    spoil: ({ lock }) => {
      rmSync(lock);
      symlinkSync("nowhere", lock);
    },
    why: "cannot be read",
  },
  {
    name: "a pipe in the place of the lock",
    spoil: ({ lock }) => {
      rmSync(lock);
      execFileSync("mkfifo", [lock]);
    },
    why: "is not a regular file",
  },
];

const at = "2026-11-17T10:00:00.000000Z";

/** Other letters for the same bytes: the last one before the padding carries four bits that do not count. */
function respelt(signature: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const last = letters.indexOf(signature.at(-3) ?? "");
  return `${signature.slice(0, -3)}${letters[last + 1] ?? ""}==`;
}

describe("where approval is required", () => {
  it("what is approved is decided by", async () => {
    const project = await ApprovedProject.make();
    expect(await project.evaluate()).toEqual({ exitCode: 0, stdout: "deploy\n", stderr: "" });
    const gate = await project.run("gate", "acme/pay/wire", "--input", "{}", "--format", "target");
    expect(gate).toMatchObject({ exitCode: 5, stderr: "" });
    const call = ["check", "write_file", "--params", '{"path": "/etc/shadow"}', "--session-id", "s"];
    expect(await project.run(...call, "--format", "reason")).toMatchObject({
      exitCode: 4,
      stdout: "that is secret\n",
    });
  });

  it.each(attacks)("nothing is decided by $name", async ({ spoil, why }) => {
    const project = await ApprovedProject.make();
    await spoil(project);
    const before = project.recorded();
    const { exitCode, stdout, stderr } = await project.evaluate();
    expect(stderr).toContain(why);
    expect(stderr).toMatch(/^error: [^\n]+\nhint: [^\n]+\n$/);
    expect({ exitCode, stdout, recorded: project.recorded() }).toEqual({
      exitCode: 3,
      stdout: "",
      recorded: before,
    });
  });

  it("nothing is decided by data of an endpoint that leads elsewhere since", async () => {
    const project = await ApprovedProject.make();
    const endpoint = (host: string): string => `endpoints: { bureau: { url: "https://${host}/score" } }\n`;
    const fetching = {
      ...{ id: "credit", type: "switch", cases: [{ condition: "credit > 700", target: "pay" }] },
      ...{ default: { target: "review" }, enrich: [{ endpoint: "bureau", into: "credit" }] },
    };
    project.write("bureau.yaml", endpoint("bureau.invalid"));
    project.write("credit.yaml", JSON.stringify({ decision: fetching }));
    await project.run("approve", "credit", "--key", project.key);
    const ask = ["evaluate", "credit", "--input", "{}", "--format", "target"];
    expect(await project.run(...ask)).toMatchObject({ exitCode: 0, stdout: "review\n" });
    project.write("bureau.yaml", endpoint("elsewhere.invalid"));
    expect(await project.run(...ask)).toMatchObject({
      exitCode: 3,
      stdout: "",
      stderr: expect.stringContaining(
        "its guardrails, targets, endpoints, masks, observers or overrides of other decisions",
      ) as string,
    });
  });

  it("a dry run refuses the same, and writes nothing", async () => {
    const project = await ApprovedProject.make();
    const ask = ["dry-run", "quality", "--input", '{"score": 0.9}', "--format", "target"];
    const before = readdirSync(project.home);
    expect(await project.run(...ask)).toMatchObject({ exitCode: 0, stdout: "deploy\n" });
    expect(readdirSync(project.home)).toEqual(before);
    const old = readFileSync(project.lock);
    await project.run("retire", "other", "--key", project.key);
    await project.evaluate();
    writeFileSync(project.lock, old);
    expect(await project.run(...ask)).toMatchObject({
      exitCode: 3,
      stdout: "",
      stderr: expect.stringContaining("was rolled back from serial 6 to 5") as string,
    });
  });

  it.each([
    {
      name: "a policy is missing",
      spoil: ({ decisions }: ApprovedProject) => rmSync(join(decisions, "files.yaml")),
      why: "`files` was approved with serial",
    },
    {
      name: "a policy changed",
      spoil: (project: ApprovedProject) => project.write("files.yaml", files("/none")),
      why: "`files` changed since",
    },
    {
      name: "a policy is about other tools",
      spoil: (project: ApprovedProject) =>
        project.write("files.yaml", files("/etc/shadow").replace("write_*", "nothing")),
      why: "`files` changed since",
    },
    {
      name: "a policy became something else",
      spoil: (project: ApprovedProject) =>
        project.write("files.yaml", other.replace("id: other", "id: files")),
      why: "`files` changed since",
    },
    {
      name: "a policy is new",
      spoil: (project: ApprovedProject) =>
        project.write("more.yaml", files("/x").replace("id: files", "id: more")),
      why: "`more` is not approved: it is not in the lock",
    },
    {
      name: "a policy is in a folder that is hidden",
      spoil: ({ decisions }: ApprovedProject) => {
        mkdirSync(join(decisions, ".hidden"));
        renameSync(join(decisions, "files.yaml"), join(decisions, ".hidden/files.yaml"));
      },
      why: "`files` was approved with serial",
    },
  ])("no call is allowed while $name", async ({ spoil, why }) => {
    const project = await ApprovedProject.make();
    spoil(project);
    for (const tool of ["write_file", "read_file"]) {
      const { exitCode, stdout, stderr } = await project.run(
        "check",
        tool,
        "--params",
        "{}",
        "--session-id",
        "s",
      );
      expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
      expect(stderr).toContain(why);
    }
    expect(project.recorded()).toBe(0);
  });

  it.each([
    {
      name: "is missing",
      spoil: ({ decisions }: ApprovedProject) => rmSync(join(decisions, "wire-2.yaml")),
      why: "`wire-2` was approved with serial",
    },
    {
      name: "changed",
      spoil: (project: ApprovedProject) => project.write("wire-2.yaml", wire(2, "GREEN")),
      why: "`wire-2` changed since",
    },
    {
      name: "is about another action",
      spoil: (project: ApprovedProject) =>
        project.write("wire-2.yaml", wire(2, "YELLOW").replace("name: wire,", "name: other,")),
      why: "`wire-2` changed since",
    },
    {
      name: "is new and would answer",
      spoil: (project: ApprovedProject) => project.write("wire-3.yaml", wire(3, "GREEN")),
      why: "`wire-3` is not approved",
    },
  ])("an older gate does not answer for one that $name", async ({ spoil, why }) => {
    const project = await ApprovedProject.make();
    spoil(project);
    const { exitCode, stdout, stderr } = await project.run("gate", "acme/pay/wire", "--input", "{}");
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
    expect(stderr).toContain(why);
  });

  it("a cached definition that was tampered with is not used", async () => {
    const project = await ApprovedProject.make();
    await new Promise((settled) => setTimeout(settled, 80));
    await project.evaluate();
    const cache = join(project.root, "cache/definitions");
    const tampered = execFileSync("grep", ["-rl", "input >= 0.8", cache], { encoding: "utf8" })
      .trim()
      .split("\n");
    expect(tampered.length).toBeGreaterThan(0);
    for (const file of tampered) {
      writeFileSync(file, readFileSync(file, "utf8").replaceAll("input >= 0.8", "input >= 0.1"));
    }
    const words = ["evaluate", "quality", "--input", '{"score": 0.5}', "--format", "target"];
    const { exitCode, stdout } = await project.run(...words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "rework\n" });
  });

  it("a project can switch it on, but neither off nor say whom to trust", async () => {
    const project = await ApprovedProject.make();
    project.write("quality.yaml", lax);
    const settings = join(project.root, "agent-33.json");
    writeFileSync(settings, JSON.stringify({ require_approval: false, trusted_keys: "stranger.pem" }));
    const refused = await project.evaluate();
    expect(refused.exitCode).toBe(3);
    expect(refused.stderr).toContain("`require_approval` in");
    expect(refused.stderr).toContain("`trusted_keys` in");
    await project.run("config", "unset", "require_approval");
    expect((await project.evaluate("--quiet")).exitCode).toBe(0);
    writeFileSync(settings, JSON.stringify({ require_approval: true }));
    expect((await project.evaluate()).exitCode).toBe(3);
  });

  it("and no key is trusted, nothing is decided", async () => {
    const project = await ApprovedProject.make();
    await project.run("config", "unset", "trusted_keys");
    const { exitCode, stderr } = await project.evaluate();
    expect(exitCode).toBe(3);
    expect(stderr).toContain("no trusted key is configured");
    expect(stderr).toContain("hint: trust a key with `agent-33 decision config set trusted_keys");
  });

  it("a copy of the directory with its lock is as good as the first", async () => {
    const project = await ApprovedProject.make();
    cpSync(project.decisions, join(project.root, "copy"), { recursive: true });
    expect(await project.evaluate("--decisions", "copy")).toMatchObject({ exitCode: 0, stdout: "deploy\n" });
  });
});

describe("an older state of a lock", () => {
  /** A copy of the directory as it was, after the definition was made stricter and decided by. */
  async function withOlderCopy(): Promise<ApprovedProject> {
    const project = await ApprovedProject.make();
    cpSync(project.decisions, join(project.root, "older"), { recursive: true });
    project.write("quality.yaml", quality("0.95"));
    await project.approve("quality");
    expect((await project.evaluate()).stdout).toBe("rework\n");
    return project;
  }
  const refusal = {
    exitCode: 3,
    stdout: "",
    stderr: expect.stringContaining("was rolled back from serial 6 to 5") as string,
  };

  it.each([
    { name: "a copy", words: ["--decisions", "older"], prepare: () => undefined },
    {
      name: "a link to it",
      words: ["--decisions", "link"],
      prepare: ({ root }: ApprovedProject) => symlinkSync("older", join(root, "link")),
    },
    {
      name: "a directory that the project names",
      words: [],
      prepare: ({ root }: ApprovedProject) =>
        writeFileSync(join(root, "agent-33.json"), '{"decisions": "older"}'),
    },
    {
      name: "a directory that the project names, with a store that it names",
      words: [],
      prepare: ({ root }: ApprovedProject) =>
        writeFileSync(join(root, "agent-33.json"), '{"decisions": "older", "store": "elsewhere"}'),
    },
  ])("is refused in $name", async ({ words, prepare }) => {
    const project = await withOlderCopy();
    prepare(project);
    expect(await project.evaluate(...words)).toMatchObject(refusal);
  });

  it("is refused though the project had chosen another store when the newer was seen", async () => {
    const project = await ApprovedProject.make();
    const old = readFileSync(project.lock);
    const settings = join(project.root, "agent-33.json");
    writeFileSync(settings, '{"store": "elsewhere"}');
    await project.run("retire", "other", "--key", project.key);
    expect(await project.evaluate()).toMatchObject({ exitCode: 0, stderr: "" });
    expect(readdirSync(join(project.root, "elsewhere"))).toContain("log");
    expect(readdirSync(join(project.root, "elsewhere"))).not.toContain("approvals");
    expect(project.recorded()).toBe(0);
    rmSync(settings);
    writeFileSync(project.lock, old);
    expect(await project.evaluate()).toMatchObject(refusal);
  });
});

describe("without it", () => {
  it("nothing looks at a lock, however broken", async () => {
    const project = await ApprovedProject.make({ approved: false });
    await project.run("config", "unset", "require_approval");
    project.writeLock("oops");
    expect(await project.evaluate()).toEqual({ exitCode: 0, stdout: "deploy\n", stderr: "" });
    const asked = await project.evaluate("--require-approval");
    expect(asked).toMatchObject({ exitCode: 3, stdout: "" });
  });
});

it("approvals do not wait for a process that was killed", async () => {
  const project = await ApprovedProject.make({ approved: false });
  await project.approve("quality");
  const held = join(project.decisions, ".agent-33/approving");
  const [free = ""] = readdirSync(held);
  renameSync(join(held, free), join(held, `9.${deadOwner()}`));
  expect((await project.approve("other")).exitCode).toBe(0);
});

/** Who held the lock and has ended since. */
function deadOwner(): string {
  const { pid, pidScope: realm } = { ...thisOwner(), pid: spawnSync(process.execPath, ["-e", "0"]).pid };
  return `${pid}-1-${realm}`;
}

describe("keys", () => {
  it("are made for their owner alone, and never overwritten", async () => {
    const project = await ApprovedProject.make({ approved: false });
    const { key } = project;
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const pem = readFileSync(key, "utf8");
    const again = await project.run("keygen", "--out", key);
    expect(again).toMatchObject({ exitCode: 2, stdout: "" });
    expect(again.stderr).toContain("already exists");
    expect(readFileSync(key, "utf8")).toBe(pem);
    rmSync(key);
    expect((await project.run("keygen", "--out", key)).exitCode).toBe(2);
    expect(statSync(key, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("are shown by their public half only", async () => {
    const project = await ApprovedProject.make({ approved: false });
    const secret = join(project.root, "secret.pem");
    await project.run("config", "unset", "trusted_keys");
    const said: string[] = [];
    const note = ({ stdout, stderr }: { stdout: string; stderr: string }): number =>
      said.push(stdout, stderr);
    for (const format of ["json", "table", "plain", "yaml"]) {
      rmSync(secret, { force: true });
      rmSync(`${secret}.pub`, { force: true });
      note(await project.run("keygen", "--out", secret, "--format", format));
      note(await project.run("approve", "--all", "--key", secret, "--format", format));
      rmSync(project.lock);
      note(await project.run("config", "set", "trusted_keys", secret));
      note(await project.run("config", "set", "trusted_keys", readFileSync(secret, "utf8")));
      note(await project.run("approve", "quality", "--key", readFileSync(secret, "utf8")));
      const bytes = readFileSync(secret, "utf8").split("\n")[1] ?? "";
      expect(bytes.length).toBeGreaterThan(40);
      expect(said.join("\n")).not.toContain(bytes.slice(20));
    }
  });
});

it("the name of a key is the hash of its public half", async () => {
  const project = await ApprovedProject.make({ approved: false });
  const { stdout } = await project.run("keygen", "--out", join(project.root, "k.pem"));
  const { key } = JSON.parse(stdout) as { key: string };
  expect(key).toBe(sha256Hex(readFileSync(join(project.root, "k.pem.pub"), "utf8")));
});
