import { describe, expect, it } from "vitest";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../../src/definition/reviews/review-definition.js";

function reviewed(expression: string, deny_reason: string): readonly string[] {
  const located: LocatedDefinition[] = [];
  const policies = [
    { name: "p", version: "1.0.0", conditions: [{ name: "given", expression }], deny_reason },
  ];
  const text = JSON.stringify({ decision: { id: "d", type: "policy", tool: "t", policies } });
  const { summary } = readDefinitions("f.yaml", Buffer.from(text), (each) => located.push(each));
  expect(summary.diagnostics).toEqual([]);
  return located.flatMap(reviewDefinition).map(({ message, hint }) => `${message} | ${hint ?? ""}`);
}

describe("a reason that shows a value which is missing when the policy denies", () => {
  const warning =
    "`params.filter` is missing when `given` denies, so the reason cannot show it | leave it out, or write {{ get(params, 'filter', 'none') }}";

  it.each([
    ["exists(params.filter)", "not {{ params.filter }}"],
    ["exists(params.filter)", "not {{ upper(params.filter) + '!' }}"],
    ["not empty(params.filter)", "not {{ params.filter }}"],
    ["params.n > 1 and exists(params.filter)", "not {{ params.filter }}"],
    ["exists(params)", "not {{ params.filter }}"],
  ])("is reported: %s, %s", (expression, reason) => {
    expect(reviewed(expression, reason)).toEqual([warning]);
  });

  it.each([
    ["exists(params.filter)", "no filter"],
    ["exists(params.filter)", "not {{ get(params, 'filter', 'none') }}"],
    ["exists(params.filter)", "not {{ if exists(params.filter) then params.filter else 'none' }}"],
    ["exists(params.filter)", "not {{ params.filters }}"],
    ["params.filter == 'a'", "not {{ params.filter }}"],
    ["not exists(params.filter)", "not {{ params.filter }}"],
    ["exists(params.filter) or params.all", "not {{ params.filter }}"],
  ])("is none where it can be filled in: %s, %s", (expression, reason) => {
    expect(reviewed(expression, reason)).toEqual([]);
  });
});
