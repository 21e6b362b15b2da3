import { DecisionError } from "../errors.js";
import type { Environment, Target } from "../model/definition.js";
import type { Guardrail } from "../model/guardrail.js";
import type { Problem } from "../model/problem.js";
import { didYouMean } from "../nearest.js";
import type { FileSummary } from "./definition-file.js";
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
}

/** Of what stands beside the definition, that which bears on it: all guardrails, and the targets it may lead to. */
export function environmentOf(
  leadsTo: readonly { readonly target: string }[],
  { targets, guardrails }: Declared,
): Environment {
  const reached = new Set([
    ...leadsTo.map(({ target }) => target),
    ...guardrails.flatMap((guardrail) => escalationOf(guardrail) ?? []),
  ]);
  return {
    targets: targets.filter((target) => reached.has(target.id)),
    ...(guardrails.length > 0 && { guardrails }),
  };
}

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
