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
  const beside = writtenReads({ computed, rules });
  const asked = beside.filter((path) => !derived.has(rootOf(path)));
  const whole = checksContext || input === undefined ? ["context"] : [];
  return [...new Set([...whole, ...(input?.reads ?? []), ...asked])];
}

const rootOf = (path: string): string => path.replace(/\..*/s, "");

/** The paths as the expressions of the gate name them. */
export function writtenReads({ computed, rules }: Pick<Readers, "computed" | "rules">): readonly string[] {
  return [
    ...computed.flatMap(({ expression }) => expression.reads),
    ...rules.flatMap(({ conditions: { appliesWhen, when } }) => [
      ...(appliesWhen?.reads ?? []),
      ...when.reads,
    ]),
  ];
}
