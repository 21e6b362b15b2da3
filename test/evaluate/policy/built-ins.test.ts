import { describe, expect, it } from "vitest";
import { prepareBuiltIns } from "../../../src/evaluate/policy/base-policy.js";
import type { PolicyFacts } from "../../../src/evaluate/policy/policy-facts.js";
import type { BasePolicy } from "../../../src/model/definition.js";

const unknown = "there is no recorded session";

const rule = { read_tools: ["read_*", "cat"], write_tools: ["write_*"], path: "params.path" };

interface Case {
  readonly name: string;
  readonly policy: Omit<BasePolicy, "name">;
  readonly tool?: string;
  readonly facts: PolicyFacts;
  readonly judged: readonly object[];
}

const required = { name: "requires", expression: "`login` has succeeded in the session" };
const readFirst = { name: "read_before_write", expression: "`params.path` was read in the session" };

const cases: readonly Case[] = [
  { name: "nothing, where nothing is asked for", policy: {}, facts: {}, judged: [] },
  {
    name: "that a tool has succeeded",
    policy: { requires: ["login"] },
    facts: { succeeded: { login: 1 } },
    judged: [{ ...required, result: true }],
  },
  {
    name: "that a tool has not succeeded",
    policy: { requires: ["login"] },
    facts: { succeeded: { login: 0 } },
    judged: [{ ...required, result: false, denial: "`login` must succeed in the session first" }],
  },
  {
    name: "that a tool of which nothing is known has not succeeded",
    policy: { requires: ["login"] },
    facts: { succeeded: {} },
    judged: [{ ...required, result: false }],
  },
  {
    name: "that it is not known whether a tool has succeeded",
    policy: { requires: ["login"] },
    facts: {},
    judged: [{ ...required, result: false, error: unknown, denial: unknown }],
  },
  {
    name: "that the path was read",
    policy: { read_before_write: rule },
    facts: { read: { p: { path: "a", read: true } } },
    judged: [{ ...readFirst, result: true }],
  },
  {
    name: "that the path was not read",
    policy: { read_before_write: rule },
    facts: { read: { p: { path: "a", read: false } } },
    judged: [{ ...readFirst, result: false, denial: "`a` must be read with `read_*` or `cat` first" }],
  },
  {
    name: "that there is no path",
    policy: { read_before_write: rule },
    facts: { read: { p: { error: "no path" } } },
    judged: [{ ...readFirst, result: false, error: "no path", denial: "no path" }],
  },
  {
    name: "that it is not known what was read",
    policy: { read_before_write: rule },
    facts: { read: { other: { path: "a", read: true } } },
    judged: [{ ...readFirst, result: false, error: unknown }],
  },
  {
    name: "nothing of a tool that does not write",
    policy: { read_before_write: rule },
    tool: "list_files",
    facts: {},
    judged: [],
  },
];

type Results = readonly NonNullable<ReturnType<ReturnType<typeof prepareBuiltIns>[number]["evaluate"]>>[];

const evaluate = (policy: BasePolicy, tool: string, facts: PolicyFacts): Results =>
  prepareBuiltIns(policy).flatMap((each) => each.evaluate(tool, facts) ?? []);

describe("the built-in conditions of a policy", () => {
  it.each(cases)("says $name", ({ policy, tool = "write_file", facts, judged }) => {
    const answers = evaluate({ name: "p", ...policy }, tool, facts);
    expect(answers).toHaveLength(judged.length);
    expect(answers).toMatchObject(judged);
  });

  it("are evaluated in order: requires, read_before_write", () => {
    const policy = { name: "p", read_before_write: rule, requires: ["a", "b"] };
    expect(evaluate(policy, "write_file", {}).map(({ name }) => name)).toEqual([
      "requires",
      "requires",
      "read_before_write",
    ]);
  });
});
