import { describe, expect, it } from "vitest";
import type { RoutingRecord, LogRecord, NoteRecord } from "../../src/model/record.js";
import { csvColumns, csvHeader, csvLine } from "../../src/record/csv.js";

const hash = "0".repeat(64);

const record: RoutingRecord = {
  seq: 7,
  kind: "decision",
  record_id: "01a1e2e8-c6e2-7e9b-af69-d8f33bf329cb",
  timestamp: "2026-11-15T10:30:45.123456Z",
  decision_id: "gate",
  decision_name: "Gate",
  decision_version: "1.0.0",
  definition_hash: hash,
  environment_hash: hash,
  deterministic_hash: hash,
  type: "binary",
  selected_labels: ["Pass"],
  selected_targets: ["deploy"],
  input_value: 0.9,
  evaluation_details: {},
  because: ["input >= 0.8"],
  failed_conditions: [],
  warnings: [],
  guardrails: [],
  blocked: false,
  escalated: false,
  cached: true,
  dry_run: false,
  context: {},
  facts: {},
  workflow_id: "nightly",
  prev_hash: hash,
  hash,
};

const note: NoteRecord = {
  seq: 8,
  kind: "note",
  record_id: "01a1e2e8-c6e2-7e9b-af69-d8f33bf329cc",
  timestamp: "2026-11-15T10:30:46.000000Z",
  note: "pruned",
  details: { through: 3 },
  prev_hash: hash,
  hash,
};

/** The text of one cell of an otherwise plain line. */
function cellOf(column: (typeof csvColumns)[number], changed: Partial<RoutingRecord>): string {
  const plain = { ...record, selected_labels: [], because: [], input_value: 0 };
  const others = csvLine(plain).split(",");
  const at = csvColumns.indexOf(column);
  const before = others.slice(0, at).join(",").length + 1;
  const after = others.slice(at + 1).join(",").length + 1;
  return csvLine({ ...plain, ...changed }).slice(before, -after);
}

describe("a line of CSV", () => {
  it("has a cell for each column of the header, in its order", () => {
    expect(csvHeader).toBe(
      "seq,record_id,timestamp,kind,decision_id,decision_name,decision_version,type,selected_labels," +
        "selected_targets,input_value,because,warnings,cached,blocked,escalated,workflow_id,stage_id," +
        "session_id,correlation_id,definition_hash,deterministic_hash,hash,caller,outputs\r\n",
    );
    expect(csvLine(record)).toBe(
      `7,${record.record_id},2026-11-15T10:30:45.123456Z,decision,gate,Gate,1.0.0,binary,Pass,deploy,0.9,` +
        `input >= 0.8,,true,false,false,nightly,,,,${hash},${hash},${hash},,\r\n`,
    );
  });

  it("has the caller and those who act for it", () => {
    const authenticated_caller = { subject: "alice", actors: [{ subject: "=agent-7" }, { subject: 5 }] };
    expect(csvLine({ ...record, facts: { authenticated_caller } })).toMatch(/,"alice, by =agent-7",\r\n$/);
  });

  it("ends with the outputs as JSON, which no spreadsheet takes for a formula", () => {
    const outputs = ["=1+1", { fee: 2 }, null];
    expect(csvLine({ ...record, outputs })).toMatch(/,"\[""=1\+1"",\{""fee"":2\},null\]"\r\n$/);
  });

  it("has empty cells for fields that a note lacks", () => {
    const cells = csvLine(note).trimEnd().split(",");
    expect(cells).toHaveLength(csvColumns.length);
    expect(cells.filter((cell) => cell !== "")).toEqual(["8", note.record_id, note.timestamp, "note", hash]);
  });

  it.each([
    { name: "a comma", text: "a,b", cell: '"a,b"' },
    { name: "a quote", text: 'say "hi"', cell: '"say ""hi"""' },
    { name: "a line break", text: "a\nb", cell: '"a\nb"' },
    { name: "a carriage return", text: "a\rb", cell: '"a\rb"' },
    { name: "a semicolon, which some spreadsheets split at", text: "a; b", cell: '"a; b"' },
    { name: "nothing of the kind", text: "plain = text", cell: "plain = text" },
  ])("is quoted where necessary: $name", ({ text, cell }) => {
    expect(cellOf("decision_name", { decision_name: text })).toBe(cell);
  });

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\n=1+1", "＝1+1", "＋1", "－1", "＠SUM(A1)"])(
    "has no formula that would run: %j",
    (text) => {
      expect(cellOf("decision_name", { decision_name: text }).replaceAll('"', "")).toBe(`'${text}`);
      expect(cellOf("selected_labels", { selected_labels: [text, "b"] })).toBe(`"'${text}; b"`);
    },
  );

  it("joins several labels with a semicolon", () => {
    expect(cellOf("selected_labels", { selected_labels: ["Low", "Express"] })).toBe('"Low; Express"');
  });

  it.each([
    { name: "a negative number stays a number", value: -5, cell: "-5" },
    { name: "a text is quoted as JSON quotes it, so it is no formula", value: "=1+1", cell: '"""=1+1"""' },
    { name: "nothing", value: null, cell: "null" },
    { name: "a document", value: { a: [1, "x"] }, cell: '"{""a"":[1,""x""]}"' },
  ])("has the input as JSON: $name", ({ value, cell }) => {
    expect(cellOf("input_value", { input_value: value })).toBe(cell);
  });

  it("is empty where inputs are not recorded", () => {
    const without = { ...record, input_value: undefined };
    expect(csvLine(without as unknown as LogRecord).split(",")[csvColumns.indexOf("input_value")]).toBe("");
  });

  it("is written for a damaged record too", () => {
    const damaged = { ...record, selected_labels: "Pass", because: { a: 1 }, warnings: [1, null] };
    expect(csvLine(damaged as unknown as LogRecord)).toContain(',Pass,deploy,0.9,"{""a"":1}","1; null",');
  });
});
