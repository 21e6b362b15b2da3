import { describe, expect, it } from "vitest";
import type { Downstream, LineageOrigin } from "../../src/lineage/trace.js";
import { findDownstream } from "../../src/lineage/trace.js";
import type { Ledger, RecordKey, RelatedRange } from "../../src/model/store.js";
import { child, idOf, logOf, using } from "./records.js";

const record = (number: number): LineageOrigin => ({ record_id: idOf(number) });

/** `1 child 2`: 2 is a child of 1; `a child 2` where it began with an artifact. */
const told = ({ steps }: Downstream): readonly string[] =>
  steps.map(({ from, relation, record: { seq } }) => {
    const start = "artifact" in from ? from.artifact : String(Number(from.record_id.slice(-12)));
    return `${start} ${relation} ${seq}`;
  });

interface Case {
  readonly name: string;
  readonly log: () => Promise<Ledger>;
  readonly from: LineageOrigin;
  readonly steps: readonly string[];
}

const cases: readonly Case[] = [
  { name: "nothing of a record that nobody names", log: () => logOf({}, {}), from: record(1), steps: [] },
  {
    name: "children and their children, oldest first",
    log: () => logOf({}, child(1), child(2), child(1), child(3)),
    from: record(1),
    steps: ["1 child 2", "1 child 4", "2 child 3", "3 child 5"],
  },
  {
    name: "how calls went, from each of the decisions that allowed them",
    log: () => logOf({}, child(1), child(1), [2, 3]),
    from: record(1),
    steps: ["1 child 2", "1 child 3", "2 result 4", "3 result 4"],
  },
  {
    name: "answers that were taken from the cache",
    log: () => logOf({}, { cached: true, cached_from: idOf(1) }, child(2)),
    from: record(1),
    steps: ["1 cached_answer 2", "2 child 3"],
  },
  {
    name: "decisions that had a record as an artifact",
    log: () => logOf({}, using("x", idOf(1)), using(idOf(2))),
    from: record(1),
    steps: ["1 input_of 2", "2 input_of 3"],
  },
  {
    name: "what came of an artifact",
    log: () => logOf(using("a"), using("b", "a"), child(2), using("b"), using(idOf(3))),
    from: { artifact: "a" },
    steps: ["a input_of 1", "a input_of 2", "2 child 3", "3 input_of 5"],
  },
  {
    name: "no artifact that is called like a target",
    log: () => logOf({ ...using("a"), selected_targets: ["stage"] }, using("stage")),
    from: { artifact: "a" },
    steps: ["a input_of 1"],
  },
  {
    name: "each record of a circle once",
    log: () => logOf(child(2), child(3), child(1)),
    from: record(1),
    steps: ["1 child 3", "3 child 2", "2 child 1"],
  },
  {
    name: "a record that calls itself its parent",
    log: () => logOf(child(1)),
    from: record(1),
    steps: ["1 child 1"],
  },
];

describe("the records downstream", () => {
  it.each(cases)("include $name", async ({ log, from, steps }) => {
    const found = await findDownstream(from, await log(), 100);
    expect(told(found)).toEqual(steps);
    expect(found).toMatchObject({ complete: true, damaged: false });
  });

  it("are limited, and the result says so", async () => {
    const log = await logOf({}, child(1), child(1), child(2), child(3));
    const cut = await findDownstream(record(1), log, 3);
    expect([told(cut), cut.complete]).toEqual([["1 child 2", "1 child 3", "2 child 4"], false]);
    expect((await findDownstream(record(1), log, 4)).complete).toBe(true);
  });

  it("are the newest where there are too many", async () => {
    const log = await logOf(using("a"), using("a"), using("a"));
    const { complete, ...found } = await findDownstream({ artifact: "a" }, log, 2);
    expect([told({ complete, ...found }), complete]).toEqual([["a input_of 2", "a input_of 3"], false]);
  });

  it("include a child, however often the cached answer was used since", async () => {
    const hits = Array.from({ length: 300 }, () => ({ cached: true, cached_from: idOf(1) }));
    const found = await findDownstream(record(1), await logOf({}, child(1), ...hits), 2);
    expect([told(found), found.complete]).toEqual([["1 child 2", "1 cached_answer 302"], false]);
  });

  it("are found with a bounded number of lines read", async () => {
    const asked: (number | undefined)[] = [];
    const log = await logOf({});
    const hit = await log.find({ seq: 1 });
    const endless = {
      ...log,
      // eslint-disable-next-line @typescript-eslint/require-await -- a log is asked in a while
      async *related(_key: RecordKey, { limit = Infinity }: RelatedRange = {}) {
        asked.push(limit);
        for (let line = 0; line < limit; line++) if ("record" in hit) yield hit;
      },
    };
    const found = await findDownstream(record(2), endless, 5);
    expect(found.complete).toBe(false);
    expect(asked.reduce<number>((sum, limit) => sum + (limit ?? Infinity), 0)).toBeLessThanOrEqual(1050);
  });

  it("do not include damaged ones, and the result says so", async () => {
    const log = await logOf({}, child(1));
    await log.append({ body: `"kind":"decision","record_id":7,"parent_record_id":"${idOf(1)}"` });
    await log.append({ body: `"kind":"tool_result","decision_records":["${idOf(1)}"],"ok":"perhaps"` });
    const found = await findDownstream(record(1), log, 100);
    expect([told(found), found.damaged]).toEqual([["1 child 2"], true]);
  });
});
