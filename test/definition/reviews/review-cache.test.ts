import { expect, it } from "vitest";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../../src/definition/reviews/review-definition.js";

function warningsOf(more: object): readonly string[] {
  const cases = [{ condition: "input >= 1", target: "a", label: "A" }];
  const decision = { id: "d", type: "switch", input: "score", cases, default: { target: "b" }, ...more };
  const located: LocatedDefinition[] = [];
  const text = Buffer.from(JSON.stringify({ decision }));
  expect(readDefinitions("f.yaml", text, (each) => located.push(each)).summary.diagnostics).toEqual([]);
  return located
    .flatMap(reviewDefinition)
    .filter(({ severity }) => severity === "warning")
    .map(({ message }) => message);
}

const logging = { log_decision: false };

it.each([
  { name: "of recorded decisions", more: { cache: { enabled: true } } },
  { name: "in memory", more: { cache: { enabled: true, adapter: "memory" }, logging } },
  { name: "that is off", more: { cache: { enabled: false }, logging } },
])("finds nothing wrong with a cache $name", ({ more }) => {
  expect(warningsOf(more)).toEqual([]);
});

it.each([
  {
    name: "decisions that are not recorded",
    more: { cache: { enabled: true }, logging },
    reason:
      "its decisions are not recorded, and only recorded answers are cached in the store (use `adapter: memory`)",
  },
  {
    name: "masked values",
    more: { cache: { enabled: true }, logging: { mask: ["/score"] } },
    reason: "it reads `score`, which is masked",
  },
])("warns of a cache for $name", ({ more, reason }) => {
  expect(warningsOf(more)).toEqual([`answers are never cached: ${reason}`]);
});
