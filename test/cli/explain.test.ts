import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExitCode } from "../../src/cli/exit-codes.js";
import { main } from "../../src/cli/main.js";
import { findRecord } from "../../src/record/find-records.js";
import type { DecisionError } from "../../src/errors.js";
import type { Found, Ledger, Reference } from "../../src/model/store.js";
import { openJsonlStore } from "../../src/store/drivers/jsonl/store.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { decided, newId, noted, TestClock } from "../store/entries.js";
import { fakeIo } from "./fake-io.js";

const root = mkdtempSync(join(tmpdir(), "agent-33-explain-"));
const elsewhere = join(root, "elsewhere");
const store = join(root, "store");
const file = join(root, "decisions/gate.yaml");
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Seen {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** Runs a command; away from the definitions unless told otherwise. */
async function run(
  words: readonly string[],
  { cwd = elsewhere, terminal = false, directory = store } = {},
): Promise<Seen> {
  const io = fakeIo({ cwd, terminal, env: { AGENT33_STORE: directory, NO_COLOR: "1" } });
  const code = await main(["decision", ...words], io);
  return { code, ...io.written };
}

const gate = (threshold: number): string => `decision:
  id: gate
  name: Quality Gate
  version: 1.${threshold * 10}.0
  type: binary
  input: "{{ artifact.score }}"
  cases:
    - { condition: "input >= ${threshold}", target: stage-deploy, label: Pass }
    - { condition: "input < ${threshold}", target: stage-rework, label: Fail }
  default: { target: stage-rework }
`;

interface Evaluated {
  readonly record_id: string;
  readonly definition_hash: string;
}

async function evaluate(score: number): Promise<Evaluated> {
  const input = JSON.stringify({ artifact: { score } });
  const words = ["evaluate", "gate", "--input", input, "--workflow-id", "nightly"];
  const decisions = ["--decisions", join(root, "decisions")];
  return JSON.parse((await run([...words, ...decisions])).out) as Evaluated;
}

const made: Evaluated[] = [];

beforeAll(async () => {
  mkdirSync(elsewhere);
  mkdirSync(join(root, "decisions"));
  writeFileSync(file, gate(0.8));
  made.push(await evaluate(0.3), await evaluate(0.9));
  writeFileSync(file, gate(0.5));
  made.push(await evaluate(0.6));
  rmSync(file);
});

describe("explain", () => {
  it("leads with the answer, and needs neither the definition's file nor its directory", async () => {
    const { code, out, err } = await run(["explain", "1"], { terminal: true });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.split("\n");
    expect(lines[0]).toBe("stage-rework  Fail");
    expect(lines).toContain("  decision      gate (Quality Gate) 1.8.0");
    expect(lines).toContain("  workflow      nightly");
    expect(lines).toContain("  failed        Pass: input >= 0.8");
    expect(lines).toContain("                  artifact.score = 0.3");
    expect(lines).toContain(`  definition    1.8.0, ${made[0]?.definition_hash.slice(0, 12) ?? ""}`);
  });

  it("is the record with an explanation in a pipe", async () => {
    const { out } = await run(["explain", "1"]);
    expect(JSON.parse(out)).toMatchObject({
      seq: 1,
      record_id: made[0]?.record_id,
      explanation: {
        answer: "stage-rework",
        because: ["input < 0.8"],
        failed: [{ label: "Pass", condition: "input >= 0.8", values: { "artifact.score": 0.3 } }],
        definition: { version: "1.8.0", hash: made[0]?.definition_hash, available: true },
        intact: true,
      },
    });
  });

  it("shows everything with --verbose", async () => {
    const { out, err } = await run(["explain", "2", "--verbose"], { terminal: true });
    expect(err).toBe(`store: ${store} (from AGENT33_STORE)\n`);
    expect(out).toContain('context       {"artifact":{"score":0.9}}');
    expect(out).toContain("line          intact");
    expect(out).toMatch(
      /^→ Pass +✓ matched +input >= 0\.8 +artifact\.score = 0\.9\n {2}Fail +– not evaluated/m,
    );
    const { explanation } = JSON.parse((await run(["explain", "2", "-v"])).out) as {
      explanation: { conditions: readonly unknown[]; not_asked: readonly unknown[] };
    };
    expect([explanation.conditions.length, explanation.not_asked.length]).toEqual([1, 1]);
  });

  it.each(["jsonl", "yaml", "plain"])("can be written as %s", async (format) => {
    const { out } = await run(["explain", "1", "--format", format]);
    expect(out).toContain("artifact.score");
  });

  it("finds a record by its id, the beginning of it, and the word for the last", async () => {
    const seqOf = async (reference: string): Promise<unknown> =>
      (JSON.parse((await run(["explain", reference])).out) as { seq: unknown }).seq;
    const id = made[1]?.record_id ?? "";
    expect(await seqOf(id)).toBe(2);
    expect(await seqOf(id.toUpperCase())).toBe(2);
    expect(await seqOf(id.slice(0, 28))).toBe(2);
    expect(await seqOf("latest")).toBe(3);
    expect(await seqOf("0000003")).toBe(3);
  });

  it.each([
    ["4", "record `4` not found", "the last record has number 3"],
    ["0", "record `0` not found", "the first record has number 1"],
    ["latst", "record `latst` not found", "did you mean `latest`?"],
    ["ffff-none", "record `ffff-none` not found", "agent-33 decision log"],
    ["ab", "record `ab` not found", "at least 4 characters"],
    ["", "record `` not found", "agent-33 decision log"],
    ["12345678901234567890", "record `12345678901234567890` not found", "agent-33 decision log"],
  ])("prints a hint if there is no such record: %j", async (reference, message, hint) => {
    const { code, out, err } = await run(["explain", reference]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(err).toContain(hint);
  });

  it("prints a hint if there are no records", async () => {
    const { code, err } = await run(["explain", "latest"], { directory: join(root, "none") });
    expect(code).toBe(2);
    expect(err).toContain("hint: no records yet");
  });

  it("lists the records that match an ambiguous prefix", async () => {
    const { code, err } = await run(["explain", made[0]?.record_id.slice(0, 4) ?? "", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(err)).toMatchObject({
      error: {
        code: "record_not_found",
        details: { candidates: made.map(({ record_id }) => record_id).reverse() },
      },
    });
  });

  it("warns about a modified record", async () => {
    const directory = join(root, "changed");
    const changed = await withLog(directory, [decided(), decided()]);
    const text = readFileSync(changed, "utf8");
    writeFileSync(changed, text.replace('"to-Pass"', '"to-Evil"'));
    const { out, err } = await run(["explain", "1"], { directory, terminal: true });
    expect(out).toContain("number 1, changed since it was written");
    expect(err).toContain(
      "warning: record 1 was modified after it was written; run `agent-33 decision verify`\n",
    );
    const other = await run(["explain", "2"], { directory, terminal: true });
    expect(other.out).not.toContain("changed");
    expect(other.err).toMatch(/^warning: the log in `.*` is damaged;\s+run `agent-33 decision verify`\n$/);
  });

  it("refuses a record that is damaged", async () => {
    const directory = join(root, "damaged");
    const damaged = await withLog(directory, [decided()]);
    writeFileSync(damaged, `{"seq":1,"kind":"decision","record_id":"x","more":"${"x".repeat(100)}"}\n`);
    const { code, err } = await run(["explain", "1"], { directory });
    expect(code).toBe(1);
    expect(err).toContain("error: record `1` is damaged");
  });

  it("does without a definition that is not kept", async () => {
    const directory = join(root, "forgotten");
    await withLog(directory, [decided()]);
    const { out } = await run(["explain", "1"], { directory, terminal: true });
    expect(out).toContain("(no longer stored)");
  });

  it("lets a note explain itself", async () => {
    const directory = join(root, "noted");
    await withLog(directory, [noted({ records: 3, through: 3, before: "2026-01-01" })]);
    const { out } = await run(["explain", "1"], { directory, terminal: true });
    expect(out.split("\n")[0]).toBe(
      "the oldest 3 records were removed, up to number 3 (prune --before 2026-01-01)",
    );
  });
});

describe("explain --why-not", () => {
  it("leads with the reason, and shows the smallest change that chooses the label", async () => {
    const { code, out, err } = await run(["explain", "1", "--why-not", "Pass"], { terminal: true });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.replace(/^ {2}(?:when|record) .*\n/gm, "")).toBe(
      [
        "Pass was not chosen because `input >= 0.8` is false",
        "",
        "  decision      gate (Quality Gate) 1.8.0",
        "  selected      Fail",
        "  condition     ✗ Pass: input >= 0.8",
        "                  artifact.score = 0.3",
        "  change        artifact.score: 0.3 → 0.8",
        "  result        Pass",
        '  input         {"artifact":{"score":0.8}}',
        "",
      ].join("\n"),
    );
  });

  it("is a document in a pipe", async () => {
    const { out } = await run(["explain", "1", "--why-not", "default"]);
    expect(JSON.parse(out)).toEqual({
      record_id: made[0]?.record_id,
      decision_id: "gate",
      label: "default",
      selected: ["Fail"],
      chosen: false,
      summary: "default was not chosen because `Fail` matches",
      conditions: [],
      overruled_by: [{ type: "match", name: "Fail", message: "`Fail` matches" }],
      change: {
        paths: [{ path: "artifact.score", from: 0.3 }],
        input: { artifact: {} },
        result: { selected_labels: ["default"], selected_targets: ["stage-rework"] },
        smallest: true,
        assumes: [],
      },
      reason: null,
    });
  });

  it("is one line for each part in plain text", async () => {
    const { out } = await run(["explain", "1", "--why-not", "default", "--format", "plain"]);
    expect(out.split("\n")).toEqual(
      expect.arrayContaining([
        "answer\tdefault was not chosen because `Fail` matches",
        "overruled\t`Fail` matches",
        "change\tartifact.score: 0.3 → removed",
      ]),
    );
  });

  it("says that the label was chosen", async () => {
    const { code, out } = await run(["explain", "2", "--why-not", "Pass"], { terminal: true });
    expect({ code, first: out.split("\n")[0] }).toEqual({ code: 0, first: "Pass was chosen" });
  });

  it("warns about a modified record", async () => {
    const directory = join(root, "modified");
    mkdirSync(join(root, "definitions"));
    writeFileSync(join(root, "definitions/gate.yaml"), gate(0.8));
    const input = JSON.stringify({ artifact: { score: 0.3 } });
    await run(["evaluate", "gate", "--input", input, "--decisions", join(root, "definitions")], {
      directory,
    });
    const log = join(directory, "log/000000000001.jsonl");
    writeFileSync(log, readFileSync(log, "utf8").replace('"score":0.3', '"score":0.4'));
    const { out, err } = await run(["explain", "1", "--why-not", "Pass"], { directory, terminal: true });
    expect(out).toContain("number 1, changed since it was written");
    expect(out).toContain("artifact.score: 0.4 → 0.8");
    expect(err).toContain("warning: record 1 was modified after it was written");
  });

  it.each([
    [["1", "--why-not", "pass"], 2, "`gate` has no label `pass`", "did you mean `Pass`?"],
    [["--why-not", "Pass"], 2, "specify a record to explain", "latest"],
    [["--session-id", "s", "--why-not", "Pass"], 2, "--why-not and --session-id cannot", "one record"],
    [
      ["1", "--why-not", "Pass", "--format", "methodology"],
      2,
      "--why-not and --format methodology",
      "one record",
    ],
  ])("refuses %j", async (words, code, message, hint) => {
    const ran = await run(["explain", ...words]);
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toContain(`error: ${message}`);
    expect(ran.err).toContain(hint);
  });

  it("refuses records that are no decisions, or whose definition is not kept", async () => {
    const directory = join(root, "other-records");
    await withLog(directory, [decided(), noted({ records: 3, through: 3, before: "2026-01-01" })]);
    const lost = await run(["explain", "1", "--why-not", "Pass"], { directory });
    expect(lost.code).toBe(1);
    expect(lost.err).toContain(
      "error: record 1 cannot be evaluated again: its definition is no longer stored",
    );
    const note = await run(["explain", "2", "--why-not", "Pass"], { directory });
    expect(note.code).toBe(2);
    expect(note.err).toContain("error: record `2` is not a decision");
  });
});

/** The file of a log with these entries. */
async function withLog(directory: string, bodies: readonly string[]): Promise<string> {
  const opened = openJsonlStore({ directory, clock: new TestClock().read, newId, durability: "fast" });
  for (const body of bodies) await opened.log.append({ body });
  await opened.close();
  return join(directory, "log/000000000001.jsonl");
}

describe("a reference that is a number", () => {
  async function lookUp(
    text: string,
    isKnown: (reference: Reference) => boolean,
  ): Promise<readonly Reference[]> {
    const asked: Reference[] = [];
    const memory = openMemoryStore().log;
    await memory.append({ body: decided() });
    const log: Ledger = {
      ...memory,
      find: (reference): Promise<Found> => {
        asked.push(reference);
        return isKnown(reference) ? memory.find({ seq: 1 }) : Promise.resolve({ candidates: [] });
      },
    };
    await findRecord(text, { log }).catch((error: unknown) => (error as DecisionError).code);
    return asked;
  }

  it.each([
    { text: "12", found: () => true, asked: [{ seq: 12 }] },
    { text: "1234567", found: () => false, asked: [{ seq: 1234567 }, { beginning: "1234567" }] },
    { text: "123", found: () => false, asked: [{ seq: 123 }] },
    { text: "0199", found: () => true, asked: [{ beginning: "0199" }] },
    { text: "12345678", found: () => true, asked: [{ seq: 12345678 }] },
    { text: "12345678", found: () => false, asked: [{ seq: 12345678 }, { beginning: "12345678" }] },
    { text: "01990123", found: () => true, asked: [{ beginning: "01990123" }] },
    { text: "01990123", found: () => false, asked: [{ beginning: "01990123" }, { seq: 1990123 }] },
  ])("is looked up as $asked", async ({ text, found, asked }) => {
    expect(await lookUp(text, found)).toEqual(asked);
  });
});

describe("a definition that decisions were made with", () => {
  const hash = (): string => made[0]?.definition_hash ?? "";

  it("is shown by its hash when its file is gone", async () => {
    const whole = await run(["show", "gate", "--hash", hash()], { terminal: true });
    expect({ code: whole.code, err: whole.err }).toEqual({ code: 0, err: "" });
    expect(whole.out).toContain("version     1.8.0");
    expect(whole.out).toMatch(/^LABEL {4}input {3}TARGET\nPass {5}>= 0.8 {2}stage-deploy$/m);
    expect(whole.out).not.toContain("file ");
    const beginning = await run(["show", "gate", "--hash", hash().slice(0, 8).toUpperCase()], {
      terminal: true,
    });
    expect(beginning).toEqual(whole);
  });

  it("is the document itself for programs", async () => {
    const shown = JSON.parse((await run(["show", "gate", "--hash", hash()])).out) as Record<string, unknown>;
    expect(shown).toMatchObject({ id: "gate", version: "1.8.0", definition_hash: hash() });
    expect(Object.keys(shown)).not.toContain("file");
    expect((await run(["show", "gate", "--hash", hash(), "--format", "plain"])).out).toBe(
      "Pass\tinput >= 0.8\tstage-deploy\nFail\tinput < 0.8\tstage-rework\n",
    );
  });

  it.each([
    ["gate", "ffffffff", "no stored definition of `gate` has the hash `ffffffff`", "stored: "],
    [
      "other",
      "ffffffff",
      "no stored definition of `other` has the hash",
      "agent-33 decision log --decision-id other",
    ],
    ["gate", "abc", "`abc` is not a hash or a prefix of one", "at least 4 of its 64 hex digits"],
    ["gate", "wxyz", "`wxyz` is not a hash or a prefix of one", "hex digits"],
  ])("must be there: %s %s", async (id, text, message, hint) => {
    const { code, out, err } = await run(["show", id, "--hash", text]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(err).toContain(hint);
  });

  it("must belong to the requested decision", async () => {
    const { code, err } = await run(["show", "other", "--hash", hash().slice(0, 12)]);
    expect(code).toBe(2);
    expect(err).toContain("hint: it is the hash of a definition of `gate`");
  });
});
