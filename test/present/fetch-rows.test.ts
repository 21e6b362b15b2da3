import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import { fetchCell, fetchRows } from "../../src/present/result-rows.js";
import { logTable } from "../../src/present/log-writer.js";

const at = "2026-11-17T18:00:31.123456Z";
const came = (from: string): JsonObject => ({ endpoint: "bureau", ok: true, from, fetched_at: at });

interface Case {
  readonly name: string;
  readonly fact: JsonObject;
  readonly text: string;
  readonly cell: string;
}

const cases: readonly Case[] = [
  {
    name: "fetched now",
    fact: { ...came("endpoint"), into: "credit" },
    text: "credit from bureau, fetched 2026-11-17 18:00:31 UTC",
    cell: "bureau fetched",
  },
  {
    name: "from the cache",
    fact: { ...came("cache"), into: "credit" },
    text: "credit from bureau, cached 2026-11-17 18:00:31 UTC",
    cell: "bureau cached",
  },
  {
    name: "stale in the cache",
    fact: { ...came("stale_cache"), into: "credit" },
    text: "credit from bureau, stale, cached 2026-11-17 18:00:31 UTC, because its circuit is open",
    cell: "bureau stale",
  },
  {
    name: "without a path in the context",
    fact: came("endpoint"),
    text: "data from bureau, fetched 2026-11-17 18:00:31 UTC",
    cell: "bureau fetched",
  },
  {
    name: "that failed",
    fact: {
      endpoint: "bureau",
      into: "credit",
      ok: false,
      error: { code: "request_failed", message: "HTTP status 503" },
    },
    text: "no credit from bureau: HTTP status 503",
    cell: "bureau failed",
  },
  {
    name: "that a dry run skipped",
    fact: { endpoint: "bureau", ok: false, left_out: true },
    text: "no data from bureau: skipped in a dry run",
    cell: "bureau skipped",
  },
];

describe("a fetch of a record", () => {
  it.each(cases)("is described in a line: data $name", ({ fact, text, cell }) => {
    expect(fetchRows({ "bureau:1": fact })).toEqual([{ name: "fetched", text }]);
    expect(fetchCell({ "bureau:1": fact })).toBe(cell);
  });

  it.each([
    undefined,
    null,
    [],
    "x",
    { a: null },
    { a: { ok: true } },
    { a: { endpoint: "bureau", ok: true, from: "nowhere", fetched_at: at } },
    { a: { endpoint: "bureau", ok: true, from: "cache" } },
    { a: { endpoint: "bureau", ok: false, error: "no mapping" } },
    { a: { endpoint: "bureau", ok: false, error: { message: 1 } } },
  ])("is omitted where a record is damaged: %j", (fetched) => {
    expect(fetchRows(fetched)).toEqual([]);
    expect(fetchCell(fetched)).toBe("");
  });
});

describe("the log on a terminal", () => {
  const record = (facts: JsonObject): DecisionRecord =>
    ({
      kind: "decision",
      seq: 1,
      timestamp: at,
      decision_id: "credit",
      type: "switch",
      selected_targets: ["stage-payout"],
      selected_labels: ["Good"],
      because: ["input >= 700"],
      facts,
    }) as unknown as DecisionRecord;
  const style = { columns: 100, paint: (_colour: string, text: string): string => text };

  it("has a column for fetches where there are any", () => {
    const fetching = record({ fetched: { "bureau:1": came("cache") } });
    const { heading, line } = logTable([record({}), fetching], style, { more: false });
    expect(heading).toMatch(/BECAUSE +FETCHED$/);
    expect(line(fetching)).toMatch(/input >= 700 +bureau cached$/);
    expect(line(record({}))).toMatch(/input >= 700$/);
  });

  it.each([false, true])("has none where there are none, even if more records follow: %s", (more) => {
    const { heading } = logTable([record({})], { ...style, columns: 200 }, { more });
    expect(heading).not.toContain("FETCHED");
  });
});
