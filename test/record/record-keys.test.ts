import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogRecord } from "../../src/model/record.js";
import type { RecordKey } from "../../src/model/store.js";
import { entitiesOf, matchesKey, isInRelatedRange, toolOf, traitsOf } from "../../src/record/record-keys.js";

const keys: readonly RecordKey[] = [
  { entity: { type: "customer", id: "c-1" } },
  { artifact: "a-1" },
  { policy: "p" },
  { session_id: "s-1" },
  { refers_to: "0199" },
];

/** What may be left of a record on a disk that went bad. */
const damaged = fc.record({
  kind: fc.constantFrom("decision", "tool_result", "note", "else"),
  timestamp: fc.jsonValue(),
  selected_labels: fc.jsonValue(),
  decision_records: fc.jsonValue(),
  type: fc.constantFrom("policy", "binary", null),
  tool: fc.jsonValue(),
  params: fc.jsonValue(),
  context: fc.constantFrom({ params: { a: 1 } }, { params: [] }, {}),
  lineage: fc.oneof(
    fc.jsonValue(),
    fc.record({
      entities: fc.jsonValue(),
      artifacts: fc.jsonValue(),
      policies: fc.jsonValue(),
      inputs: fc.jsonValue(),
      param_names: fc.jsonValue(),
    }),
  ),
});

describe("the keys of a damaged record", () => {
  it("can be looked up", () => {
    fc.assert(
      fc.property(damaged, fc.constantFrom(...keys), (value, key) => {
        const record = value as unknown as LogRecord;
        expect(matchesKey(record, key)).toBe(false);
        isInRelatedRange(record, { since: 1, label: "Pass" });
        entitiesOf(record);
        toolOf(record);
        traitsOf(record);
      }),
    );
  });
});
