import type { DefinitionSummary, FileSummary } from "./definition-file.js";
import { escalationTarget } from "./branches.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { Environment, Target, Guardrail, Definition } from "../model/definition.js";
import type { Endpoints } from "../model/endpoint.js";
import type { Json } from "../model/json.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { didYouMean } from "../text.js";

/** What a guardrail would have kept back must not pass because it cannot be read. */
export function assertGuardrailsReadable(problems: readonly Diagnostic[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new DecisionError(
    "definition_invalid",
    `\`${first.file}\`, which may contain guardrails for every decision, is not valid`,
    {
      hint: "no decision is made without them; run `agent-33 decision validate` to see all problems",
      details: { problems },
    },
  );
}

/** What stands beside the definitions. */
export interface SharedDeclarations {
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
  { targets, guardrails, endpoints }: SharedDeclarations,
): Environment {
  const leadsTo = new Set([
    ...reached.map(({ target }) => target),
    ...guardrails.flatMap((guardrail) => escalationTarget(guardrail) ?? []),
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
export function checkSharedGuardrails(
  { file, guardrails = [] }: FileSummary,
  known: ReadonlySet<string> | undefined,
): readonly Diagnostic[] {
  if (known === undefined) return [];
  return guardrails.flatMap(({ guardrail, line, column }) => {
    const target = guardrail.on_fail === "escalate" ? escalationTarget(guardrail) : undefined;
    if (target === undefined || known.has(target)) return [];
    const message = `the target \`${target}\` is not declared under \`targets\``;
    const hint = didYouMean(target, known) ?? "add it under `targets:`";
    return [{ file, line, column, severity: "error", message, hint }];
  });
}

/** SHA-256 of the `decision` mapping in canonical JSON: stands for exactly this definition. */
export function definitionHash(definition: Definition): string {
  return sha256Hex(canonicalJson(definition as unknown as Json));
}
