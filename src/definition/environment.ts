import { DecisionError } from "../errors.js";
import type { Environment, Target } from "../model/definition.js";
import type { Endpoints } from "../model/endpoint.js";
import type { Guardrail } from "../model/guardrail.js";
import type { Problem } from "../model/problem.js";
import { didYouMean } from "../nearest.js";
import type { DefinitionSummary, FileSummary } from "./definition-file.js";
import { escalationOf } from "./guardrail-faults.js";

/** What a guardrail would have kept back must not pass because it cannot be read. */
export function refuseBrokenGuardrails(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new DecisionError(
    "definition_invalid",
    `\`${first.file}\`, which may hold guardrails for every decision, is not valid`,
    {
      hint: "nothing is decided without them; run `agent-33 decision validate` to see all problems",
      details: { problems },
    },
  );
}

/** What stands beside the definitions. */
export interface Declared {
  readonly targets: readonly Target[];
  readonly guardrails: readonly Guardrail[];
  readonly endpoints: Endpoints;
}

/**
 * Of what stands beside a definition, that which bears on it: all guardrails, the targets it may lead to, and
 * the endpoints it fetches from.
 */
export function environmentOf(
  { reached, fetches = [] }: Pick<DefinitionSummary, "reached" | "fetches">,
  { targets, guardrails, endpoints }: Declared,
): Environment {
  const leadsTo = new Set([
    ...reached.map(({ target }) => target),
    ...guardrails.flatMap((guardrail) => escalationOf(guardrail) ?? []),
  ]);
  const asked = fetches.map(({ endpoint }) => endpoint);
  return {
    targets: targets.filter((target) => leadsTo.has(target.id)),
    ...(guardrails.length > 0 && { guardrails }),
    ...(asked.length > 0 && { endpoints: pick(endpoints, asked) }),
  };
}

const pick = (endpoints: Endpoints, names: readonly string[]): Endpoints =>
  Object.fromEntries(Object.entries(endpoints).filter(([name]) => names.includes(name)));

/** Guardrails for every decision that would lead to what is not declared. */
export function misleadingGuardrails(
  { file, guardrails = [] }: FileSummary,
  known: ReadonlySet<string> | undefined,
): readonly Problem[] {
  if (known === undefined) return [];
  return guardrails.flatMap(({ guardrail, line, column }) => {
    const target = guardrail.on_fail === "escalate" ? escalationOf(guardrail) : undefined;
    if (target === undefined || known.has(target)) return [];
    const message = `the target \`${target}\` is not declared under \`targets\``;
    const hint = didYouMean(target, known) ?? "add it under `targets:`";
    return [{ file, line, column, severity: "error", message, hint }];
  });
}
