import { generateKeyPairSync, createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeIo } from "./fake-io.js";
import type { ExitCode } from "../../src/cli/exit-codes.js";
import { main } from "../../src/cli/main.js";
import type { LogRecord } from "../../src/model/record.js";
import type { Verification } from "../../src/store/drivers/jsonl/verify-store.js";
import type { Manifest } from "../../src/store/export-manifest.js";

const home = mkdtempSync(join(tmpdir(), "agent-33-export-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let made = 0;
const fresh = (): string => join(home, `d${++made}`);

interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

interface Options {
  readonly terminal?: boolean;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function decision(store: string, words: readonly string[], options: Options = {}): Promise<Ran> {
  const env = { AGENT33_STORE: store, AGENT33_DURABILITY: "fast", NO_COLOR: "1", ...options.env };
  const io = fakeIo({ stdin: "", ...options, env });
  const code = await main(["decision", ...words], io);
  return { code, ...io.written };
}

const gate = (score: number): string => `{"artifact":{"quality_score":${score}}}`;

/** Four records: the gate twice, a variant on behalf of a workflow, the gate again. */
async function filledStore(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const store = fresh();
  const ids = ["--workflow-id", "nightly", "--correlation-id", "c-1"];
  const variant = ["evaluate", "decision-ab-prompt-variant", ...ids, "--input"];
  await decision(store, ["evaluate", "decision-quality-gate", "--input", gate(0.9)], { env });
  await decision(store, ["evaluate", "decision-quality-gate", "--input", gate(0.1)], { env });
  await decision(store, [...variant, '{"request":{"id":"req-1"}}'], { env });
  await decision(store, ["evaluate", "decision-quality-gate", "--input", gate(0.9)], { env });
  return store;
}

const linesOf = (text: string): readonly string[] => text.split("\n").slice(0, -1);
const recordsIn = (text: string): readonly LogRecord[] =>
  linesOf(text).map((line) => JSON.parse(line) as LogRecord);
const seqsIn = (text: string): readonly number[] => recordsIn(text).map(({ seq }) => seq);
const logOf = (store: string): string => readFileSync(join(store, "log/000000000001.jsonl"), "utf8");
const manifestIn = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")) as Manifest;
const verified = ({ out }: Ran): Verification => JSON.parse(out) as Verification;

let store: string;
beforeAll(async () => {
  store = await filledStore();
});

describe("an export to standard output", () => {
  it("is the log, byte for byte", async () => {
    const { out, err, code } = await decision(store, ["export"]);
    expect(out).toBe(logOf(store));
    expect({ err, code }).toEqual({ err: "", code: 0 });
  });

  it("can be CSV", async () => {
    const { out } = await decision(store, ["export", "--format", "csv"]);
    const lines = out.split("\r\n");
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(/^seq,record_id,timestamp,kind,decision_id,/);
    expect(lines[3]).toMatch(/^3,.*,decision-ab-prompt-variant,/);
  });

  it.each([
    { name: "a decision", flags: ["--decision-id", "decision-quality-gate"], seqs: [1, 2, 4] },
    { name: "a workflow", flags: ["--workflow-id", "nightly"], seqs: [3] },
    { name: "a correlation id", flags: ["--correlation-id", "c-1"], seqs: [3] },
    { name: "a type", flags: ["--type", "weighted"], seqs: [3] },
    { name: "a label", flags: ["--label", "Pass"], seqs: [1, 4] },
    { name: "a target", flags: ["--target", "stage-deploy"], seqs: [1, 4] },
    { name: "a time", flags: ["--since", "1h"], seqs: [1, 2, 3, 4] },
    { name: "a time long gone", flags: ["--until", "2020-01-01"], seqs: [] },
    { name: "a kind", flags: ["--kind", "note"], seqs: [] },
    { name: "a stage and a session", flags: ["--stage-id", "s", "--session-id", "t"], seqs: [] },
  ])("can be narrowed to $name", async ({ flags, seqs }) => {
    const { out, code } = await decision(store, ["export", ...flags]);
    expect(seqsIn(out)).toEqual(seqs);
    expect(code).toBe(0);
  });

  it("is only a header of CSV where nothing fits", async () => {
    const { out } = await decision(store, ["export", "--format", "csv", "--label", "nobody"]);
    expect(linesOf(out)).toHaveLength(1);
  });

  it.each([
    { flags: ["--format", "table"], hint: "; `agent-33 decision log` shows records in other formats" },
    { flags: ["--format", "xlsx"], hint: "; `agent-33 decision log` shows records in other formats" },
    {
      flags: ["--format", "table", "--out", "x"],
      hint: " for the records; the summary is a table on a terminal, else JSON",
    },
    { flags: ["--format", "json"], hint: "; --json needs --out and formats its summary" },
    { flags: ["--json"], hint: "; --json needs --out and formats its summary" },
  ])("comes in no other format: $flags", async ({ flags, hint }) => {
    const { out, err, code } = await decision(store, ["export", ...flags]);
    expect({ out, code }).toEqual({ out: "", code: 2 });
    expect(err).toContain(`use jsonl or csv${hint}`);
  });

  it("has exactly the flags of log that the page about audits lists", async () => {
    const page = readFileSync(new URL("../../docs/audit.md", import.meta.url), "utf8");
    const [, listed = "", others = ""] =
      /^Without `--out`.* select records here.*?: (.*?); (.*?),/m.exec(page) ?? [];
    const flagsIn = (text: string): readonly string[] => text.match(/--[a-z-]+/g) ?? [];
    const [ofExport, ofLog] = await Promise.all(
      ["export", "log"].map(async (name) => flagsIn((await decision(store, [name, "--help"])).out)),
    );
    expect(flagsIn(listed).length).toBeGreaterThan(10);
    expect(ofExport).toEqual(expect.arrayContaining([...flagsIn(listed)]));
    expect(ofLog).toEqual(expect.arrayContaining([...flagsIn(listed), ...flagsIn(others)]));
    expect(ofExport).not.toEqual(expect.arrayContaining([...flagsIn(others)]));
  });

  it.each([
    { flags: ["--kind", "notes"], hint: "did you mean `note`?" },
    { flags: ["--type", "binery"], hint: "did you mean `binary`?" },
    { flags: ["--since", "2026-11-15T10:30:00"], hint: "add a time zone" },
  ])("lists the valid values of a filter: $flags", async ({ flags, hint }) => {
    const { err, code } = await decision(store, ["export", ...flags]);
    expect(err).toContain(hint);
    expect(code).toBe(2);
  });
});

describe("an export to a directory", () => {
  it("has the log, what its records name, the checkpoints and a manifest of it all", async () => {
    const pinned = await filledStore({ AGENT33_CHECKPOINT_EVERY: "2" });
    const out = fresh();
    const ran = await decision(pinned, ["export", "--out", out]);
    expect(ran.code).toBe(0);
    expect(readdirSync(out).sort()).toEqual([
      "checkpoints.jsonl",
      "definitions.jsonl",
      "manifest.json",
      "records.jsonl",
    ]);
    expect(readFileSync(join(out, "records.jsonl"), "utf8")).toBe(logOf(pinned));
    expect(readFileSync(join(out, "checkpoints.jsonl"), "utf8")).toBe(
      readFileSync(join(pinned, "log/checkpoints.jsonl"), "utf8"),
    );
    const kept = linesOf(readFileSync(join(out, "definitions.jsonl"), "utf8")).map(
      (line) => JSON.parse(line) as { hash: string; kind: string; document: { id?: string } },
    );
    expect(kept.map(({ kind, document }) => document.id ?? kind)).toEqual([
      "decision-quality-gate",
      "decision-ab-prompt-variant",
      "environment",
    ]);
    const { files, ...rest } = manifestIn(out);
    expect(rest).toMatchObject({
      format: 1,
      filters: {},
      complete: true,
      records: 4,
      first_seq: 1,
      last_seq: 4,
    });
    expect(rest.log).toEqual({ size: 4, head: recordsIn(logOf(pinned)).at(-1)?.hash });
    for (const { name, bytes, sha256 } of files) {
      const content = readFileSync(join(out, name));
      expect({ bytes, sha256 }).toEqual({
        bytes: content.length,
        sha256: createHash("sha256").update(content).digest("hex"),
      });
    }
  });

  it("keeps only what the exported records name", async () => {
    const out = fresh();
    await decision(store, ["export", "--out", out, "--workflow-id", "nightly"]);
    expect(linesOf(readFileSync(join(out, "definitions.jsonl"), "utf8"))).toHaveLength(2);
    expect(manifestIn(out)).toMatchObject({
      filters: { workflow_id: "nightly" },
      complete: false,
      records: 1,
      first_seq: 3,
      last_seq: 3,
    });
  });

  it("stores the absolute times of a relative time range", async () => {
    const out = fresh();
    await decision(store, ["export", "--out", out, "--since", "7d", "--until", "2100-01-01"]);
    const { filters, complete } = manifestIn(out);
    expect(filters["since"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(filters["until"]).toBe("2100-01-01T00:00:00.000000Z");
    expect(complete).toBe(true);
  });

  it.each(["jsonl", "csv"])("is intact as %s", async (format) => {
    const out = fresh();
    await decision(store, ["export", "--out", out, "--format", format]);
    for (const path of [out, join(out, "manifest.json")]) {
      const ran = await decision(fresh(), ["verify", path]);
      expect(verified(ran)).toMatchObject({ ok: true, size: 4, records: 4, problems: [] });
      expect(ran.code).toBe(0);
    }
  });

  it("is readable by its owner only", async () => {
    const out = fresh();
    await decision(store, ["export", "--out", out]);
    expect(statSync(out).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(out)) expect(statSync(join(out, name)).mode & 0o777).toBe(0o600);
  });

  it("prints the manifest in a pipe and a summary on a terminal", async () => {
    const [piped, typed, asked] = [fresh(), fresh(), fresh()];
    const { out } = await decision(store, ["export", "--out", piped]);
    expect(JSON.parse(out)).toEqual({ ...manifestIn(piped), where: piped });
    const { out: table } = await decision(store, ["export", "--out", typed], { terminal: true });
    expect(table).toContain("4 records exported, the whole log\n");
    expect(table).toContain(typed);
    const bytes = readFileSync(join(typed, "manifest.json"));
    expect(table).toContain(createHash("sha256").update(bytes).digest("hex"));
    const json = await decision(store, ["export", "--out", asked, "--json"], { terminal: true });
    expect(JSON.parse(json.out)).toMatchObject({ where: asked });
  });

  it("takes an empty directory, and a log that was never written", async () => {
    const [nothing, out] = [fresh(), fresh()];
    mkdirSync(out);
    expect((await decision(nothing, ["export", "--out", out])).code).toBe(0);
    expect(manifestIn(out)).toMatchObject({ complete: true, records: 0, first_seq: null, last_seq: null });
    expect((await decision(nothing, ["verify", out])).code).toBe(0);
    expect(existsSync(nothing)).toBe(false);
  });

  it("does not overwrite existing files", async () => {
    const [full, file] = [fresh(), fresh()];
    mkdirSync(full);
    writeFileSync(join(full, "mine"), "x");
    writeFileSync(file, "y");
    for (const where of [full, file]) {
      const { code, err, out } = await decision(store, ["export", "--out", where]);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toContain("already exists");
    }
    expect(readdirSync(full)).toEqual(["mine"]);
    expect(readFileSync(file, "utf8")).toBe("y");
  });

  it("does not start with a key that cannot sign", async () => {
    const [key, out] = [fresh(), fresh()];
    writeFileSync(key, "no key");
    const { code, err } = await decision(store, ["export", "--out", out], {
      env: { AGENT33_SIGNING_KEY: key },
    });
    expect(code).toBe(2);
    expect(err).toContain("cannot use the key");
    expect(existsSync(out)).toBe(false);
  });

  it("leaves no files behind if it cannot be written", async () => {
    const { code, err } = await decision(store, ["export", "--out", "/proc/nowhere/export"]);
    expect(code).toBe(1);
    expect(err).toContain("error: cannot write the export: ");
  });

  it.each([
    ["where a record cannot be read", (text: string) => text.replace('{"seq":2,"kind":', '{"seq":2,kind:')],
    [
      "where a record was changed",
      (text: string) => text.replace('"quality_score":0.1', '"quality_score":0.2'),
    ],
    ["where its end was cut off", (text: string) => text.slice(0, text.lastIndexOf('{"seq":4'))],
  ])("is rejected %s: it would look valid to its reader", async (_where, damage) => {
    const damaged = await filledStore();
    writeFileSync(join(damaged, "log/000000000001.jsonl"), damage(logOf(damaged)));
    const out = fresh();
    const { code, err } = await decision(damaged, ["export", "--out", out]);
    expect(code).toBe(1);
    expect(err).toContain("the log is damaged, nothing exported");
    expect(existsSync(out)).toBe(false);
    const printed = await decision(damaged, ["export"]);
    expect(printed).toMatchObject({ code: 0 });
    expect(printed.err).toContain("is damaged");
  });

  it("is refused where a definition is lost that a record names", async () => {
    const lossy = await filledStore();
    rmSync(join(lossy, "definitions"), { recursive: true });
    const { code, err } = await decision(lossy, ["export", "--out", fresh()]);
    expect(code).toBe(1);
    expect(err).toContain("is missing");
  });

  it("leaves out half a record at the end of the log", async () => {
    const torn = await filledStore();
    const whole = logOf(torn);
    appendFileSync(join(torn, "log/000000000001.jsonl"), '{"seq":5,"ki');
    const out = fresh();
    await decision(torn, ["export", "--out", out]);
    expect(readFileSync(join(out, "records.jsonl"), "utf8")).toBe(whole);
    expect((await decision(torn, ["verify", out])).code).toBe(0);
  });

  it("is complete and intact after a prune, whose note is part of it", async () => {
    const env = { AGENT33_SEGMENT_SIZE: "1024" };
    const pruned = await filledStore(env);
    await decision(pruned, ["prune", "--keep", "2", "--yes"], { env });
    const out = fresh();
    await decision(pruned, ["export", "--out", out], { env });
    expect(manifestIn(out)).toMatchObject({ complete: true, records: 3, first_seq: 3, last_seq: 5 });
    const ran = await decision(pruned, ["verify", out]);
    expect(verified(ran)).toMatchObject({ ok: true, pruned: 2, records: 3, size: 5 });
    const decisions = fresh();
    await decision(pruned, ["export", "--out", decisions, "--kind", "decision"], { env });
    expect(manifestIn(decisions)).toMatchObject({
      complete: false,
      records: 2,
      filters: { kind: "decision" },
    });
  });
});

describe("verify with an export", () => {
  const key = fresh();
  const publicKey = fresh();
  let signed: string;
  beforeAll(async () => {
    const pair = generateKeyPairSync("ed25519");
    writeFileSync(key, pair.privateKey.export({ type: "pkcs8", format: "pem" }));
    writeFileSync(publicKey, pair.publicKey.export({ type: "spki", format: "pem" }));
    signed = fresh();
    await decision(store, ["export", "--out", signed], { env: { AGENT33_SIGNING_KEY: key } });
  });

  it("finds the signature of its key, and misses any other", async () => {
    expect((await decision(store, ["verify", signed, "--key", publicKey])).code).toBe(0);
    const other = fresh();
    writeFileSync(other, generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }));
    const ran = await decision(store, ["verify", signed, "--key", other]);
    expect(ran.code).toBe(6);
    expect(verified(ran).problems[0]).toMatchObject({ kind: "signature", file: "manifest.json" });
  });

  it("takes no export without a signature where a key is given", async () => {
    const unsigned = fresh();
    await decision(store, ["export", "--out", unsigned]);
    const ran = await decision(store, ["verify", unsigned, "--key", publicKey]);
    expect(ran.code).toBe(6);
    expect(verified(ran).problems).toEqual([
      { kind: "signature", file: "manifest.json", message: "the manifest is not signed" },
    ]);
  });

  it("compares what was expected with what the log was", async () => {
    const { log } = manifestIn(signed);
    const second = recordsIn(logOf(store))[1]?.hash ?? "";
    const expecting = (what: string): Promise<Ran> => decision(store, ["verify", signed, "--expect", what]);
    expect((await expecting(`4:${log.head}`)).code).toBe(0);
    expect((await expecting(`2:${second}`)).code).toBe(0);
    for (const [what, message] of [
      [`4:${second}`, "record 4 does not have the expected hash"],
      [`2:${log.head}`, "record 2 does not have the expected hash"],
      [`9:${log.head}`, "the log was cut: 9 records were expected, there are 4"],
    ] as const) {
      const ran = await expecting(what);
      expect(ran.code).toBe(6);
      expect(verified(ran).problems[0]?.message).toContain(message);
    }
  });

  it("reports what it cannot compare", async () => {
    const one = fresh();
    await decision(store, ["export", "--out", one, "--workflow-id", "nightly"]);
    const ran = await decision(store, ["verify", one, "--expect", `2:${"0".repeat(64)}`]);
    expect(verified(ran).problems[0]?.message).toContain("record 2 is not in the export");
  });

  it("shows how much of the log there is", async () => {
    const one = fresh();
    await decision(store, ["export", "--out", one, "--workflow-id", "nightly"]);
    const { out } = await decision(store, ["verify", one], { terminal: true });
    expect(out).toContain(`✓ intact  1 of 4 records in ${one}\n`);
    const { out: plain } = await decision(store, ["verify", one, "--format", "plain"]);
    expect(plain).toMatch(/^export\tok\t4:[0-9a-f]{64}\n$/);
  });

  it.each([
    { name: "nothing", path: () => join(home, "nothing") },
    { name: "a file that is no manifest", path: () => join(signed, "records.jsonl") },
    { name: "a directory of something else", path: () => home },
    { name: "something below a file", path: () => join(signed, "records.jsonl", "x") },
  ])("refuses $name", async ({ path }) => {
    const { code, err, out } = await decision(store, ["verify", path()]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("there is no export in");
  });

  it("distinguishes a store from an export", async () => {
    const { code, err } = await decision(store, ["verify", store]);
    expect(code).toBe(2);
    expect(err).toContain(`hint: this is a store; run \`agent-33 decision verify --store ${store}\``);
  });

  it("reports a directory without a manifest as interrupted", async () => {
    const broken = join(home, "without-manifest");
    cpSync(signed, broken, { recursive: true });
    rmSync(join(broken, "manifest.json"));
    const ran = await decision(store, ["verify", broken]);
    expect(ran.code).toBe(6);
    expect(verified(ran).problems[0]?.message).toContain("`manifest.json` is missing");
  });
});
