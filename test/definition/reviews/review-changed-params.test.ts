import { describe, expect, it } from "vitest";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewChangedParams } from "../../../src/definition/reviews/review-changed-params.js";

function reviewed(...documents: readonly string[]): readonly string[] {
  const located: LocatedDefinition[] = [];
  const { summary } = readDefinitions("f.yaml", Buffer.from(documents.join("---\n")), (each) =>
    located.push(each),
  );
  expect(summary.diagnostics).toEqual([]);
  return reviewChangedParams(located).map(
    ({ line, severity, message }) => `${String(line)} ${severity}: ${message}`,
  );
}

const decision = (id: string, tool: string, policies: readonly string[], more = ""): string =>
  `decision:\n  id: ${id}\n  type: policy\n  tool: ${tool}\n${more}  policies:\n` +
  policies.map((each) => `    - ${each}\n`).join("");

const tests = (name: string, expression: string): string =>
  `{ name: ${name}, conditions: [{ name: c, expression: "${expression}" }] }`;

const given = tests("given", "exists(params.filter)");
const widen =
  "{ name: widen, overrides: [given], action: modify_params, params: { limit: 500, wide: true } }";

describe("an override that sets a param", () => {
  it("is reported with the policies of its decision that test the param", () => {
    expect(reviewed(decision("d", "t", [given, tests("cap", "params.limit < 9"), widen]))).toEqual([
      "8 warning: `widen` sets `limit`, which `cap` tests",
    ]);
  });

  it.each([
    ["the whole params", "length(params) < 3", "`limit`, which `p` tests", 2],
    ["a part of the param", "params.limit.upper < 9", "`limit`, which `p` tests", 1],
    ["the param within the context", "context.params.wide", "`wide`, which `p` tests", 1],
    ["the param within the input", "input.params.limit < 9", "`limit`, which `p` tests", 1],
  ])("is reported where a policy tests %s", (_what, expression, message, count) => {
    const found = reviewed(decision("d", "t", [given, tests("p", expression), widen]));
    expect(found).toHaveLength(count);
    expect(found[0]).toContain(message);
  });

  it("is reported where the input is made of the param, or a path is", () => {
    const byInput = decision(
      "d",
      "t",
      [given, tests("p", "input < 9"), widen],
      '  input: "{{ params.limit }}"\n',
    );
    expect(reviewed(byInput)).toEqual(["9 warning: `widen` sets `limit`, which `p` tests"]);
    const byPath =
      "{ name: p, read_before_write: { read_tools: [r], write_tools: [t], path: params.limit } }";
    expect(reviewed(decision("d", "t", [given, byPath, widen]))).toHaveLength(1);
  });

  it("is reported with the policies of other decisions on a tool that both may be about", () => {
    const setting = decision("d", '"write_*"', [given, widen]);
    const caps = ["a", "b", "c", "d"].map((name) => tests(name, "params.limit < 9"));
    expect(reviewed(setting, decision("e", '"*_file"', caps.slice(0, 2)))).toEqual([
      "7 warning: `widen` sets `limit`, which `a` of `e`, `b` of `e` test",
    ]);
    expect(reviewed(setting, decision("e", "[read_file, write_file]", caps))).toEqual([
      "7 warning: `widen` sets `limit`, which `a` of `e`, `b` of `e`, `c` of `e` and 1 more test",
    ]);
    expect(reviewed(setting, decision("e", '"read_*"', caps))).toEqual([]);
  });

  it("is reported with the other overrides whose condition tests the param", () => {
    const high = "{ name: high, overrides: [cap], when: 'params.limit < 90' }";
    const always = "{ name: always, overrides: [cap] }";
    const policies = [given, tests("cap", "session.ok"), widen, high, always];
    expect(reviewed(decision("d", "t", policies))).toEqual([
      "8 warning: `widen` sets `limit`, which `high` tests",
    ]);
    const own =
      "{ name: own, overrides: [given], when: 'not params.w', action: modify_params, params: { w: 1 } }";
    expect(reviewed(decision("d", "t", [given, own]))).toEqual([]);
  });

  it.each([
    ["it overrides the policy", [tests("given", "params.limit < 9"), widen]],
    ["no policy tests the param", [given, tests("p", "session.limit < 9"), widen]],
    ["it sets nothing", [given, tests("p", "params.limit < 9"), "{ name: o, overrides: [given] }"]],
  ])("is fine where %s", (_why, policies) => {
    expect(reviewed(decision("d", "t", policies))).toEqual([]);
  });
});
