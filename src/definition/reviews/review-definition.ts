import { compileInput, compileTemplate } from "../../expression/template.js";
import { compileRule } from "../../expression/rule/compile-rule.js";
import type { Definition } from "../../model/definition.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { possibleOutcomes } from "../branches.js";
import { stripContextPrefix } from "../checks/check-fetches.js";
import { isRouting } from "../decision-types.js";
import {
  definitionReads,
  inputTemplate,
  maskedPathTest,
  maskMarker,
  uncacheableReason,
} from "../definition-reads.js";
import type { Finding } from "../diagnostics.js";
import { locateFinding } from "../diagnostics.js";
import { expressionsIn, textsAt } from "../expressions.js";
import type { DeclaredFetch } from "../fetches.js";
import { PathMap, uniqueFetches } from "../fetches.js";
import { outputsOf } from "../outputs.js";
import type { LocatedDefinition } from "../read-definitions.js";
import type { Path } from "../yaml-source.js";
import { nearest } from "../../text.js";
import { reviewCases, reviewWeights } from "./review-routing.js";
import { reviewGate, reviewPolicies, reviewScored } from "./review-rules.js";
import { reviewSpelling } from "./review-spelling.js";
import { reviewTextOrder } from "./review-text-order.js";
import { reviewTypes } from "./review-types.js";

/** Returns the warnings and notes about one valid definition. */
export function reviewDefinition(located: LocatedDefinition): readonly Diagnostic[] {
  const { file, definition, source, testedFields } = located;
  const place = { file, within: ["decision"], decision_id: definition.id };
  const mistakes = [...reviewTextOrder(definition), ...reviewSpelling(definition, testedFields)];
  const findings = [
    ...reviewByType(definition),
    ...reviewTypes(definition, mistakes),
    ...mistakes,
    ...reviewInput(definition),
    ...reviewCache(definition),
    ...reviewFetches(definition),
    ...reviewMaskedOutputs(definition),
    ...reviewGuardrails(definition),
  ];
  return findings.map((finding) => locateFinding(finding, source, place));
}

function reviewByType(definition: Definition): readonly Finding[] {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "rule_table":
      return reviewCases(definition);
    case "weighted":
      return reviewWeights(definition);
    case "scored":
      return reviewScored(definition);
    case "policy":
      return reviewPolicies(definition);
    case "gate":
      return reviewGate(definition);
  }
}

/** Finds an `input` that nothing reads. The answers of weighted decisions depend on it without conditions. */
function reviewInput(definition: Definition): readonly Finding[] {
  if (definition.input === undefined || definition.type === "weighted" || !isRouting(definition)) return [];
  const reads = expressionsIn(definition).flatMap(({ path, text, compile }) =>
    path[0] === "input" ? [] : compile(text).reads,
  );
  if (reads.some((read) => read.split(".")[0] === "input")) return [];
  const intended = reads.map((read) => [read, asInput(read, definition.input)] as const);
  const [read, corrected] = intended.find(([, each]) => each !== undefined) ?? [];
  const hint =
    corrected === undefined
      ? "read it as `input` in conditions, or remove it"
      : `write \`${corrected}\` instead of \`${read}\`, or remove \`input\``;
  const message = "`input` is declared, but no condition reads it";
  return [{ path: ["input"], severity: "warning", message, hint }];
}

/** Returns a path that was probably meant to read the input: misspelt, or the path of the input or its last name. */
function asInput(read: string, input = ""): string | undefined {
  const steps = read.split(".");
  const { tree } = compileInput(input);
  const path = tree?.kind === "path" ? tree.segments : [];
  const isSame = (start: readonly string[]): boolean =>
    start.length > 0 && start.every((step, index) => steps[index] === step);
  if (isSame(path)) return ["input", ...steps.slice(path.length)].join(".");
  if (isSame(path.slice(-1)) || nearest(steps[0] ?? "", ["input"]) !== undefined)
    return ["input", ...steps.slice(1)].join(".");
  return undefined;
}

function reviewCache(definition: Definition): readonly Finding[] {
  if (definition.cache?.enabled !== true) return [];
  const masks = definition.logging?.mask ?? [];
  const reason = uncacheableReason(definition, definitionReads(definition, masks), masks);
  if (reason === undefined) return [];
  return [{ path: ["cache"], severity: "warning", message: `answers are never cached: ${reason}` }];
}

/** Finds outputs that read masked values: answers never show them. */
function reviewMaskedOutputs(definition: Definition): readonly Finding[] {
  const isMasked = maskedPathTest(inputTemplate(definition), definition.logging?.mask ?? []);
  return outputsOf(definition).flatMap(({ output, path: at }) =>
    textsAt(output, ["**"], at).flatMap(({ path, text }) => {
      const read = compileTemplate(text).reads.find(isMasked);
      if (read === undefined) return [];
      const message = `it reads \`${read}\`, which is masked, so answers show \`${maskMarker}\` instead`;
      return [{ path, severity: "warning" as const, message }];
    }),
  );
}

/** Finds guardrails that check targets, in a decision whose branches have only outputs. */
function reviewGuardrails(definition: Definition): readonly Finding[] {
  if (!isRouting(definition) || possibleOutcomes(definition).some(({ target }) => target !== null)) return [];
  return (definition.guardrails ?? []).flatMap(({ type }, index) => {
    if (type !== "requires_approval" && type !== "no_disabled_targets") return [];
    const message = `\`${type}\` checks nothing: no branch has a target`;
    return [{ path: ["guardrails", index], severity: "warning" as const, message }];
  });
}

/** Finds fetched data that nothing reads. A required fetch has a use without it: the decision depends on it. */
function reviewFetches(definition: Definition): readonly Finding[] {
  const fetches = uniqueFetches(definition).filter(({ required = false }) => !required);
  if (fetches.length === 0) return [];
  const reads = allReads(definition);
  if (reads.includes("context")) return [];
  const read = new PathMap<undefined>();
  for (const path of reads) read.add(path, undefined);
  return fetches
    .flatMap(fetchDestinations)
    .filter(({ destination }) => read.overlapping(destination) === undefined)
    .map(({ destination, path }) => ({
      path,
      severity: "warning",
      message: `\`${destination}\` is fetched but never read`,
    }));
}

interface Destination {
  /** The path in the context. */
  readonly destination: string;
  /** Where the definition names it. */
  readonly path: Path;
}

function fetchDestinations({ into, mapping, path }: DeclaredFetch): readonly Destination[] {
  if (mapping === undefined)
    return into === undefined ? [] : [{ destination: into, path: [...path, "into"] }];
  const parent = into === undefined ? "" : `${into}.`;
  return Object.entries(mapping).map(([from, to]) => ({
    destination: parent + to,
    path: [...path, "mapping", from],
  }));
}

/** The paths of the context that a definition reads; `context` stands for the whole context. */
function allReads(definition: Definition): readonly string[] {
  const texts = expressionsIn(definition).flatMap(({ text, compile }) => compile(text).reads);
  const rules =
    definition.type === "scored"
      ? definition.evaluators.flatMap((each) => ("rules" in each ? each.rules : []))
      : [];
  const fields = rules.flatMap((rule) => (rule.if === undefined ? [] : compileRule(rule.if).reads));
  const reads = [...texts, ...fields].map(stripContextPrefix);
  if (definition.input !== undefined) return reads;
  // Without `input`, the input is the whole context.
  const whole = definition.type === "weighted" ? ["context"] : [];
  return [...whole, ...reads.map((read) => (read === "input" ? "context" : read.replace(/^input\./, "")))];
}
