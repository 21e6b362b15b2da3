import { matchesTool } from "../../definition/tool-match.js";
import type { BasePolicy } from "../../model/definition.js";
import type { NamedCondition } from "../../model/result.js";
import type { PolicyFacts } from "./policy-facts.js";

/** A condition that no expression could ask, with what to say where it does not hold. */
export interface BuiltIn extends NamedCondition {
  readonly denial: string;
}

export const hasBuiltIns = ({ requires, read_before_write, max_calls }: BasePolicy): boolean =>
  requires !== undefined || read_before_write !== undefined || max_calls !== undefined;

/** What the policy asks of the session so far. */
export function judgeBuiltIns(policy: BasePolicy, tool: string, facts: PolicyFacts): readonly BuiltIn[] {
  return [...requirements(policy, facts), ...readBefore(policy, tool, facts), ...callsLeft(policy, facts)];
}

const noSession = "no session is known, or none is recorded, so it cannot be told what happened in it";

function requirements({ requires = [] }: BasePolicy, { succeeded }: PolicyFacts): readonly BuiltIn[] {
  return requires.map((tool) => {
    const common = { name: "requires", expression: `\`${tool}\` has succeeded in the session` };
    if (succeeded === undefined) return unknown(common);
    const result = (succeeded[tool] ?? 0) > 0;
    return { ...common, result, denial: `\`${tool}\` must succeed in the session first` };
  });
}

function readBefore(
  { name, read_before_write: rule }: BasePolicy,
  tool: string,
  { read }: PolicyFacts,
): readonly BuiltIn[] {
  if (rule?.write_tools.some((each) => matchesTool(each, tool)) !== true) return [];
  const common = { name: "read_before_write", expression: `\`${rule.path}\` was read in the session` };
  const known = read?.[name];
  if (known === undefined) return [unknown(common)];
  if ("error" in known) return [unknown(common, known.error)];
  const readers = rule.read_tools.map((each) => `\`${each}\``).join(" or ");
  return [{ ...common, result: known.read, denial: `\`${known.path}\` must be read with ${readers} first` }];
}

function callsLeft({ name, max_calls: most }: BasePolicy, { calls }: PolicyFacts): readonly BuiltIn[] {
  if (most === undefined) return [];
  const span = most.per === "session" ? "session" : `last ${most.per} of the session`;
  const expression = `fewer than ${most.count} calls in the ${span}`;
  const common = { name: "max_calls", expression };
  const made = calls?.[name];
  if (made === undefined) return [unknown(common)];
  const denial = `${made} of ${most.count} calls were made in the ${span}`;
  return [{ ...common, result: made < most.count, denial }];
}

/** Fails closed: what cannot be known does not hold. */
const unknown = (common: Pick<NamedCondition, "name" | "expression">, error = noSession): BuiltIn => ({
  ...common,
  result: false,
  error,
  denial: error,
});
