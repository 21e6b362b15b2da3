import type { Template } from "../../expression/template.js";
import type { ComputedValue } from "./computed.js";
import type { PreparedRule } from "./rule.js";

interface Readers {
  readonly input: Template | undefined;
  readonly computed: readonly ComputedValue[];
  readonly rules: readonly PreparedRule[];
  /** Whether there is a schema: it looks at the whole of the context. */
  readonly checksContext: boolean;
}

/** What a gate depends on. `input` and the computed values stand for what their own expressions read. */
export function readsOfGate({ input, computed, rules, checksContext }: Readers): readonly string[] {
  const derived = new Set(["input", ...computed.map(({ name }) => name)]);
  const beside = [
    ...computed.flatMap(({ expression }) => expression.reads),
    ...rules.flatMap(({ conditions: { appliesWhen, when } }) => [
      ...(appliesWhen?.reads ?? []),
      ...when.reads,
    ]),
  ];
  const asked = beside.filter((path) => !derived.has(path.split(".")[0] ?? ""));
  const whole = checksContext || input === undefined ? ["context"] : [];
  return [...new Set([...whole, ...(input?.reads ?? []), ...asked])];
}
