import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { ReplayReport } from "../../src/replay/replay-log.js";
import { logLines } from "../replay/changed-line.js";
import { chained, forgeLog } from "../store/forging.js";
import { filesIn } from "./files-in.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

let place: Workplace;
beforeEach(() => {
  place = workplace();
});

const loan = { credit: { score: 720, defaults: 0 }, income: { monthly: 3000 }, loan: { rate: 500 } };

/** Two scores, a loan, a call and how it went: records 1 to 5. */
async function decide(): Promise<void> {
  const gate = [0.9, 0.5].map((quality_score) => JSON.stringify({ artifact: { quality_score } }));
  await place.run(["evaluate", "decision-quality-gate", "--inputs", "-"], { stdin: gate.join("\n") });
  await place.run(["evaluate", "decision-loan-approval", "--input", JSON.stringify(loan)]);
  await place.run(["check", "read_source", "--params", '{"source":"finance"}', "--session-id", "s"]);
  await place.run(["result", "read_source", "--session-id", "s", "--ok"]);
}

const replay = (...words: readonly string[]): Promise<Ran> => place.run(["replay", ...words]);

async function reported(
  ...words: readonly string[]
): Promise<{ code: number; report: ReplayReport; err: string }> {
  const { code, out, err } = await replay(...words, "--json");
  return { code, report: JSON.parse(out) as ReplayReport, err };
}

/** Does what somebody does who has made the log anew, so that every line fits its hash. */
function forge(change: (line: string, index: number) => string): void {
  forgeLog(place.store, chained(logLines(place.store).map(change)));
}

const forged = (line: string): string =>
  line.replaceAll('"selected_labels":["Fail"]', '"selected_labels":["Pass"]');

const idOf = (seq: number): string =>
  (JSON.parse(logLines(place.store)[seq - 1] ?? "{}") as { record_id: string }).record_id;

describe("replay of records", () => {
  beforeEach(decide);

  const same = { total: 1, matched: 1, mismatched: 0, not_replayable: 0, reasons: [], mismatches: [] };

  it("replays the latest decision, also where something else was recorded since", async () => {
    expect(await reported("latest")).toEqual({ code: 0, report: same, err: "" });
  });

  it("replays records by number, by id and by the beginning of one", async () => {
    const { code, report } = await reported("1", idOf(2), idOf(3).slice(0, 23), "latest");
    expect({ code, report }).toEqual({ code: 0, report: { ...same, total: 4, matched: 4 } });
  });

  it("needs no definitions", async () => {
    const { code, out } = await place.run(["replay", "--all", "--json"], {
      env: { AGENT33_DECISIONS: join(place.root, "nowhere") },
    });
    expect({ code, report: JSON.parse(out) as unknown }).toEqual({
      code: 0,
      report: { ...same, total: 4, matched: 4 },
    });
  });

  it.each([
    { name: "nothing", words: [], message: "specify a record to replay" },
    { name: "a record and --all", words: ["1", "--all"], message: "cannot be combined" },
    { name: "a record and a payload", words: ["1", "--payload", "{}"], message: "cannot be combined" },
    { name: "--since without --all", words: ["1", "--since", "1d"], message: "require --all" },
    { name: "--until without --all", words: ["--payload", "{}", "--until", "1d"], message: "require --all" },
    { name: "--decision-id without --all", words: ["1", "--decision-id", "x"], message: "require --all" },
    { name: "a number that is none", words: ["99"], message: "record `99` not found" },
    { name: "one of several that is none", words: ["1", "99"], message: "record `99` not found" },
    { name: "what is no decision", words: ["1", "5"], message: "record 5 is not a decision" },
    { name: "a time that is none", words: ["--all", "--since", "soon"], message: "soon" },
  ])("refuses $name", async ({ words, message }) => {
    const { code, out, err } = await replay(...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });

  it("writes only derived files", async () => {
    const before = filesIn(place.root);
    await replay("--all");
    await replay("latest");
    const after = filesIn(place.root).filter(([path]) => !path.startsWith("store/log/index/"));
    expect(after).toEqual(before.filter(([path]) => !path.startsWith("store/log/index/")));
  });
});

describe("replay --all", () => {
  it("has nothing to replay where nothing is recorded, and makes no store", async () => {
    const { code, report, err } = await reported("--all");
    expect({ code, total: report.total, err }).toEqual({
      code: 0,
      total: 0,
      err: "no matching records\n",
    });
    expect(filesIn(place.root).some(([path]) => path.startsWith("store"))).toBe(false);
    expect((await replay("--all", "--quiet")).err).toBe("");
    expect((await replay("latest")).code).toBe(2);
  });

  it("rejects a decision without records", async () => {
    await decide();
    const { code, err } = await replay("--all", "--decision-id", "nobody-knows");
    expect(code).toBe(2);
    expect(err).toContain("no records of `nobody-knows`");
  });

  it("does not take a store that is not there for an empty one", async () => {
    const { code, err } = await replay("--all", "--store", "nowhere");
    expect(code).toBe(2);
    expect(err).toMatch(/no store found in `.*nowhere`/);
  });

  it.each([
    { words: ["--decision-id", "decision-quality-gate"], total: 2 },
    { words: ["--since", "1h"], total: 4 },
    { words: ["--until", "1h"], total: 0 },
    { words: ["--since", "1h", "--decision-id", "decision-loan-approval"], total: 1 },
    { words: [], total: 4 },
  ])("with $words replays $total", async ({ words, total }) => {
    await decide();
    const { code, report } = await reported("--all", ...words);
    expect({ code, total: report.total, matched: report.matched }).toEqual({
      code: 0,
      total,
      matched: total,
    });
  });
});

describe("a record that comes to something else", () => {
  beforeEach(async () => {
    await decide();
    forge(forged);
  });

  const differences = ["labels mismatch (expected: Pass, got: Fail)"];

  it("is an error in words", async () => {
    const { code, err } = await replay("2");
    expect(code).toBe(6);
    expect(err).toBe(`error: Replay mismatch detected: ${differences.join("; ")}\n`);
  });

  it("is an error in JSON, after the report", async () => {
    const { code, report, err } = await reported("2");
    expect(code).toBe(6);
    const { error } = JSON.parse(err) as { error: Record<string, unknown> };
    expect(error).toMatchObject({
      code: "replay_mismatch",
      message: `Replay mismatch detected: ${differences.join("; ")}`,
      details: {
        expected: { labels: ["Pass"], targets: ["stage-rework"], blocked: false, escalated: false },
        actual: { labels: ["Fail"], targets: ["stage-rework"], blocked: false, escalated: false },
        differences,
      },
    });
    expect(report).toMatchObject({ total: 1, matched: 0, mismatched: 1 });
    expect(report.mismatches[0]).toMatchObject({
      record_id: idOf(2),
      seq: 2,
      decision_id: "decision-quality-gate",
      differences: [{ what: "labels", expected: ["Pass"], actual: ["Fail"] }],
    });
  });

  it("is printed in the wording of the specification with --no-strict", async () => {
    const { code, err } = await replay("--all", "--no-strict");
    expect({ code, err }).toEqual({
      code: 0,
      err: "[DecisionAgent::Replay] Non-strict mode differences detected:\n  - Labels changed: Pass -> Fail\n",
    });
  });

  it("is named where there are several", async () => {
    forge((line, index) => (index === 0 ? line.replace('"blocked":false', '"blocked":true') : line));
    const { code, err } = await replay("--all");
    expect({ code, err }).toEqual({
      code: 6,
      err: "error: Replay mismatch detected: blocked mismatch (expected: true, got: false); and 1 more record\n",
    });
    const lenient = await replay("--all", "--no-strict");
    expect({ code: lenient.code, err: lenient.err }).toEqual({
      code: 0,
      err:
        `[DecisionAgent::Replay] Non-strict mode differences detected in ${idOf(1)}:\n  - Blocked changed: true -> false\n` +
        `[DecisionAgent::Replay] Non-strict mode differences detected in ${idOf(2)}:\n  - Labels changed: Pass -> Fail\n`,
    });
  });

  it("differs by its hash where something was read that another was read for", async () => {
    forge((line) => line.replace('"quality_score":0.5', '"quality_score":0.6'));
    const { report } = await reported("2");
    expect(report.mismatches[0]?.differences.map(({ what }) => what)).toEqual([
      "labels",
      "deterministic_hash",
    ]);
  });

  it("shows in every format what differs", async () => {
    const plain = await replay("--all", "--format", "plain");
    expect(plain.out).toBe(`replayed\t4\t3\t1\t0\nmismatch\t${idOf(2)}\tlabels\tPass\tFail\n`);
    const table = await place.run(["replay", "--all"], { terminal: true });
    expect(table.out).toContain("✗ 1 not reproduced  4 records, 3 reproduced");
    expect(table.out).toMatch(new RegExp(`${idOf(2)} +decision-quality-gate +labels +Pass +Fail`));
    expect((await replay("--all", "--format", "yaml")).out).toContain("mismatched: 1\n");
    const jsonl = (await replay("--all", "--format", "jsonl")).out;
    expect(
      jsonl
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as ReplayReport).mismatched),
    ).toEqual([1]);
  });
});

describe("a record that cannot be replayed", () => {
  beforeEach(async () => {
    const decision = {
      id: "secretive",
      type: "binary",
      input: "{{ n }}",
      cases: [{ condition: "input > 1", target: "many" }],
      default: { target: "few" },
      logging: { include_inputs: false },
    };
    writeFileSync(join(place.decisions, "secretive.json"), JSON.stringify({ decision }));
    await place.run(["evaluate", "secretive", "--input", '{"n": 2}']);
    await decide();
  });

  const why = "its inputs were not logged";

  it("fails with the reason if the record was named", async () => {
    const { code, report, err } = await reported("1");
    expect({ code, err }).toEqual({ code: 1, err: `warning: 1 record could not be replayed: ${why} (1)\n` });
    expect(report).toMatchObject({ matched: 0, not_replayable: 1 });
    expect(report.reasons).toEqual([{ reason: why, count: 1, examples: [idOf(1)] }]);
  });

  it("does not fail where all were", async () => {
    const { code, report } = await reported("--all");
    expect({ code, not_replayable: report.not_replayable, matched: report.matched }).toEqual({
      code: 0,
      not_replayable: 1,
      matched: 4,
    });
  });

  it("gives way to one that differs", async () => {
    forge(forged);
    expect((await replay("1", "3")).code).toBe(6);
  });

  it("shows in every format", async () => {
    expect((await replay("1", "--format", "plain")).out).toBe(
      `replayed\t1\t0\t0\t1\nnot replayable\t1\t${why}\n`,
    );
    const table = await place.run(["replay", "1"], { terminal: true });
    expect(table.out).toContain("! nothing could be replayed  1 record, 0 reproduced");
    expect(table.out).toMatch(new RegExp(`1 +${why} +${idOf(1)}`));
    expect((await replay("1", "--quiet")).err).toBe("");
  });
});
