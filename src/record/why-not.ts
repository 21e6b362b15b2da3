import type { LabelCondition } from "./label-conditions.js";
import { labelConditions } from "./label-conditions.js";
import type { DecidedAnswer, Overruling } from "./overrulings.js";
import { guardrailOverrulings, overrulings } from "./overrulings.js";
import { recordedSystem } from "./recorded-values.js";
import { sanitizeRecord } from "./sanitize-record.js";
import { analyzeDefinition } from "../analysis/analyze.js";
import type { PathChange } from "../analysis/context-edit.js";
import type { NoChange } from "../analysis/nearest-change.js";
import { findNearestChange } from "../analysis/nearest-change.js";
import { casesOf, labelsOf, possibleOutcomes } from "../definition/branches.js";
import { destinationsOf } from "../definition/fetches.js";
import { foreignOverridesOf } from "../definition/loaded-definition.js";
import { matchesGlob, toolsOf } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import { compileDocument } from "../expression/document-template.js";
import { pathsOverlap } from "../expression/path.js";
import type { Guarded } from "../guard/guard.js";
import { contextPaths } from "../lineage/build-lineage.js";
import type { Definition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Scope } from "../model/scope.js";
import type { LogLine } from "../model/store.js";
import { evaluateScope, reevaluate } from "../replay/reevaluate.js";
import { areEqualLists } from "../replay/replay-record.js";
import type { ReplayableDefinition, UnavailableDefinition } from "../replay/replayable-definitions.js";
import { didYouMean } from "../text.js";

/** Why a decision did not choose a label, and what would have made it choose it. */
export interface WhyNot {
  readonly record_id: string;
  readonly decision_id: string;
  readonly label: string;
  /** What was chosen. */
  readonly selected: readonly string[];
  readonly chosen: boolean;
  /** The answer in one sentence. */
  readonly summary: string;
  readonly conditions: readonly LabelCondition[];
  readonly overruled_by: readonly Overruling[];
  readonly change: ProvenChange | null;
  /** Why there is no change; null if there is one, or if the label was chosen. */
  readonly reason: NoChangeReason | null;
}

/** A change of the context that selects the label: it was evaluated, with the recorded facts and time. */
export interface ProvenChange {
  readonly paths: readonly ChangedPath[];
  /** The changed context. */
  readonly input: JsonObject;
  readonly result: {
    readonly selected_labels: readonly string[];
    readonly selected_targets: readonly string[];
  };
  /** Whether no change of fewer paths selects the label; false where parts of conditions are not analysed. */
  readonly smallest: boolean;
  /** What was taken as recorded, although the changed values could change it. */
  readonly assumes: readonly string[];
}

interface ChangedPath extends PathChange {
  /** The value was fetched from an endpoint, so a caller cannot supply it. */
  readonly fetched?: true;
}

export interface NoChangeReason {
  readonly code: "unreachable" | "guardrail" | "not_analysed" | "limit" | "facts" | "masked_values";
  readonly message: string;
}

/**
 * Explains why a recorded decision did not choose a label, with the definition that the record was made with. Throws if
 * the decision cannot be evaluated again.
 */
export function explainWhyNot(
  line: Pick<LogLine, "text"> & { readonly record: DecisionRecord },
  definition: ReplayableDefinition | UnavailableDefinition,
  label: string,
): WhyNot {
  const record = sanitizeRecord(line.record);
  if ("unavailable" in definition) throw notReplayable(record, definition.unavailable);
  const extended = withForeignOverrides(definition);
  assertLabel(label, extended, record);
  if (record.context === undefined)
    throw notReplayable(record, "its inputs were not recorded (`logging.include_inputs: false`)");
  const { answer, scope, isMasked } = answerAgain(line, definition);
  const { prepared } = definition;
  const details = answer.evaluation_details;
  const conditions = labelConditions(label, { record, prepared, definition: extended, scope, details });
  const chosen = isChosen(label, answer);
  const overruled_by = chosen ? [] : overrulings(extended, label, answer);
  const impossible = chosen ? undefined : impossibleReason(label, { extended, conditions, isMasked });
  const found: Pick<WhyNot, "change" | "reason"> =
    chosen || impossible !== undefined
      ? { change: null, reason: impossible ?? null }
      : findChange(label, { record, definition, extended, scope });
  return {
    record_id: record.record_id,
    decision_id: record.decision_id,
    label,
    selected: answer.selected_labels,
    chosen,
    summary: summaryOf({ definition: extended, label, chosen, conditions, overruled_by, answer }),
    conditions,
    overruled_by,
    ...found,
  };
}

const notReplayable = ({ seq }: DecisionRecord, reason: string): DecisionError =>
  new DecisionError("not_replayable", `record ${seq} cannot be evaluated again: ${reason}`, {
    hint: `\`agent-33 decision explain ${seq} --verbose\` shows what was recorded`,
  });

/** Overrides of other decisions may decide, too. */
function withForeignOverrides({ loaded }: ReplayableDefinition): Definition {
  const { definition } = loaded;
  const foreign = foreignOverridesOf(loaded);
  if (definition.type !== "policy" || foreign.length === 0) return definition;
  const overrides = foreign.map(({ override, policies }) => ({ ...override, overrides: policies }));
  return { ...definition, policies: [...(definition.policies ?? []), ...overrides] };
}

const maxListedLabels = 20;

function assertLabel(label: string, definition: Definition, record: DecisionRecord): void {
  const labels = askableLabels(definition, record);
  if (labels.includes(label)) return;
  const listed = labels.slice(0, maxListedLabels).map((each) => `\`${each}\``);
  const more = labels.length > listed.length ? ` and ${labels.length - listed.length} more` : "";
  const suggestion = didYouMean(label, labels);
  throw new DecisionError("usage", `\`${definition.id}\` has no label \`${label}\``, {
    hint: `${suggestion === undefined ? "" : `${suggestion} `}its labels are ${listed.join(", ")}${more}`,
    details: { labels },
  });
}

/** Returns the labels of the definition; of a gate also its rules, of a scored decision also what was voted for. */
function askableLabels(definition: Definition, record: DecisionRecord): readonly string[] {
  const voted = record.type === "scored" ? record.evaluations.map(({ decision }) => decision) : [];
  const rules = definition.type === "gate" ? definition.rules.map(({ id }) => id) : [];
  return [...new Set([...possibleOutcomes(definition).map((each) => each.label), ...rules, ...voted])];
}

interface AnsweredAgain {
  readonly answer: DecidedAnswer;
  readonly scope: Scope;
  readonly isMasked: boolean;
}

/** Evaluates the record again; where it read masked values, returns what was recorded. */
function answerAgain(
  line: Pick<LogLine, "text"> & { readonly record: DecisionRecord },
  definition: ReplayableDefinition,
): AnsweredAgain {
  const record = sanitizeRecord(line.record);
  const { context = {}, facts } = record;
  const again = evaluateAgain(line, definition);
  if ("notReplayable" in again) {
    const scope: Scope = { context, facts, system: recordedSystem(record), input: undefined };
    return { answer: recordedAnswer(record), scope, isMasked: true };
  }
  const { guarded, scope } = again;
  if (!areEqualLists(guarded.evaluated.selected_labels, record.selected_labels)) {
    const answers = [guarded.evaluated.selected_labels, record.selected_labels].map((each) =>
      each.join(", "),
    );
    throw notReplayable(record, `the answer is \`${answers[0] ?? ""}\` now, and was \`${answers[1] ?? ""}\``);
  }
  return { answer: toAnswer(guarded), scope, isMasked: false };
}

function evaluateAgain(
  line: Pick<LogLine, "text"> & { readonly record: DecisionRecord },
  definition: ReplayableDefinition,
): ReturnType<typeof reevaluate> {
  try {
    return reevaluate(line, definition);
  } catch (error) {
    if (error instanceof DecisionError) throw notReplayable(line.record, error.message);
    throw error;
  }
}

const toAnswer = ({ evaluated, checks, proposed }: Guarded): DecidedAnswer => ({
  selected_labels: evaluated.selected_labels,
  warnings: evaluated.warnings,
  evaluation_details: evaluated.evaluation_details,
  checks,
  proposed,
  outcome: evaluated.outcome,
});

function recordedAnswer(record: DecisionRecord): DecidedAnswer {
  const { selected_labels, warnings, evaluation_details, guardrails: checks, blocked, escalated } = record;
  const proposed = blocked || escalated ? record : undefined;
  const common = { selected_labels, warnings, evaluation_details, checks, proposed };
  switch (record.type) {
    case "scored":
    case "gate":
    case "policy":
      return { ...common, outcome: record as unknown as NonNullable<DecidedAnswer["outcome"]> };
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return { ...common, outcome: undefined };
  }
}

/** A rule of a gate is chosen if it decides, and no guardrail changes the answer. */
function isChosen(label: string, { selected_labels, outcome, proposed }: DecidedAnswer): boolean {
  if (selected_labels.includes(label)) return true;
  if (outcome?.type !== "gate" || proposed !== undefined) return false;
  return outcome.decision_metadata.aggregation.deciding_rules.includes(label);
}

const noChange = (label: string, code: NoChangeReason["code"], why: string): NoChangeReason => ({
  code,
  message: `no change of the input was found that selects \`${label}\`: ${why}`,
});

interface ImpossibleParts {
  readonly extended: Definition;
  readonly conditions: readonly LabelCondition[];
  readonly isMasked: boolean;
}

/** Returns why a change of the input cannot be found, without a search. */
function impossibleReason(
  label: string,
  { extended, conditions, isMasked }: ImpossibleParts,
): NoChangeReason | undefined {
  if (isMasked)
    return noChange(label, "masked_values", "the decision read values that are masked in the record");
  const fixed = needsAll(label, extended, conditions)
    ? conditions.find((each) => each.result !== true && !dependsOnInput(each))
    : undefined;
  return fixed && noChange(label, "facts", `${conditionText(fixed)}, whatever the input is`);
}

/** Whether all conditions of a label must hold. */
function needsAll(label: string, { type }: Definition, conditions: readonly LabelCondition[]): boolean {
  switch (type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return true;
    case "policy":
      return label === "allowed";
    case "gate":
      return new Set(conditions.map((each) => each.label)).size === 1;
    case "scored":
      return false;
  }
}

/** Facts and the time are as recorded. */
const dependsOnInput = ({ values, missing = [] }: LabelCondition): boolean =>
  [...Object.keys(values), ...missing].some((path) => !/^(?:facts|system)\b/.test(path));

interface ChangeContext {
  readonly record: DecisionRecord;
  readonly definition: ReplayableDefinition;
  readonly extended: Definition;
  readonly scope: Scope;
}

function findChange(
  label: string,
  { record, definition, extended, scope }: ChangeContext,
): Pick<WhyNot, "change" | "reason"> {
  let guarding: readonly Overruling[] = [];
  const evaluate = (context: JsonObject): Guarded =>
    evaluateScope(definition, { ...scope, context }, record.workflow_id);
  const selects = (context: JsonObject): boolean => {
    if (!isAboutTool(extended, context, scope.context)) return false;
    try {
      const answer = toAnswer(evaluate(context));
      if (isChosen(label, answer)) return true;
      if (guarding.length === 0 && isProposed(label, answer)) guarding = guardrailOverrulings(answer.checks);
      return false;
    } catch (error) {
      if (error instanceof DecisionError) return false;
      throw error;
    }
  };
  // The recorded answer itself may be guarded.
  selects(scope.context);
  const found = findNearestChange({ definition: extended, context: scope.context, label, selects });
  if ("because" in found) return { change: null, reason: noChangeReason(label, extended, found, guarding) };
  const { selected_labels, selected_targets } = evaluate(found.context).evaluated;
  const change = {
    paths: found.paths.map((each) => markFetched(each, definition)),
    input: found.context,
    result: { selected_labels, selected_targets },
    smallest: found.isSmallest,
    assumes: assumptionsOf(found.paths, definition),
  };
  return { change, reason: null };
}

/** A call of another tool would not lead to the decision. */
function isAboutTool(definition: Definition, changed: JsonObject, recorded: JsonObject): boolean {
  const { tool = null } = changed;
  if (definition.type !== "policy" || tool === (recorded["tool"] ?? null)) return true;
  return typeof tool === "string" && toolsOf(definition).some((glob) => matchesGlob(glob, tool));
}

function isProposed(label: string, { proposed }: DecidedAnswer): boolean {
  const { proposed_labels = [], proposed_outcome, proposed_status } = proposed ?? {};
  return [...proposed_labels, proposed_outcome, proposed_status].includes(label);
}

function noChangeReason(
  label: string,
  definition: Definition,
  { because, notAnalysed }: NoChange,
  guarding: readonly Overruling[],
): NoChangeReason {
  const reason = (code: NoChangeReason["code"], why: string): NoChangeReason => noChange(label, code, why);
  if (because === "unreachable") return reason("unreachable", unreachableText(label, definition));
  const [guardrail] = guarding;
  if (guardrail !== undefined) return reason("guardrail", guardrail.message);
  if (because === "limit") return reason("limit", "the search ended before all changes were tried");
  if (notAnalysed.length === 0)
    return reason("facts", "it depends on the recorded facts or on the time, not on the input alone");
  const parts = notAnalysed.slice(0, 3).map((text) => `\`${text}\``);
  const more = notAnalysed.length > parts.length ? ` and ${notAnalysed.length - parts.length} more` : "";
  const verb = notAnalysed.length === 1 ? "is" : "are";
  return reason(
    "not_analysed",
    `${parts.join(", ")}${more} ${verb} not analysed, so only some values were tried`,
  );
}

/** How many steps finding the reason may take. */
const reasonSteps = 1_000_000;

/** Says why no input selects a label. */
function unreachableText(label: string, definition: Definition): string {
  const cases = casesOf(definition).map(({ each }) => each);
  const { weight } = cases[labelsOf(cases).indexOf(label)] ?? {};
  if (definition.type === "weighted" && weight === 0) return "its weight is 0";
  const { unreachable, masked } = analyzeDefinition(definition, { steps: reasonSteps });
  const rules = rulesFor(label, definition);
  const texts = [
    ...unreachable.map(({ rule, reason }) => ({ rule, text: reason })),
    ...masked.map(({ rule, by }) => ({ rule, text: `it is masked by \`${by.join(", ")}\`` })),
  ].filter(({ rule }) => rules.includes(rule));
  const written = texts.map(({ rule, text }) => (rule === label ? text : `\`${rule}\`: ${text}`));
  return written.length === 0 ? "no input does" : written.slice(0, 3).join("; ");
}

function rulesFor(label: string, definition: Definition): readonly string[] {
  switch (definition.type) {
    case "scored":
      return definition.evaluators.flatMap((evaluator) =>
        "rules" in evaluator
          ? evaluator.rules
              .filter(({ then }) => then.decision === label)
              .flatMap(({ id }) => [id, `${evaluator.name}/${id}`])
          : [],
      );
    case "gate":
      return definition.rules
        .filter(({ id, status }) => id === label || status === label)
        .map(({ id }) => id);
    case "policy":
      return (definition.policies ?? [])
        .filter(({ overrides }) => (overrides === undefined) === (label === "allowed"))
        .map(({ name }) => name);
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return labelsOf(casesOf(definition).map(({ each }) => each)).filter((each) => each === label);
  }
}

function markFetched(change: PathChange, { fetches }: ReplayableDefinition): ChangedPath {
  const isFetched = fetches.flatMap(destinationsOf).some((path) => pathsOverlap(path, change.path));
  return isFetched ? { ...change, fetched: true } : change;
}

/** Names the facts that the changed values may have led to. */
function assumptionsOf(
  paths: readonly PathChange[],
  { fetches, prepared }: ReplayableDefinition,
): readonly string[] {
  const readsChanged = (reads: readonly string[]): boolean =>
    reads
      .flatMap((path) => contextPaths(path, prepared))
      .some((path) => path === "" || paths.some((changed) => pathsOverlap(path, changed.path)));
  const { customEvaluators = [], needs } = prepared;
  return [
    ...fetches
      .filter(({ params = {} }) => readsChanged(compileDocument(params).reads))
      .map(({ endpoint }) => `the data of \`${endpoint}\` is as recorded`),
    ...customEvaluators.map((name) => `the vote of \`${name}\` is as recorded`),
    ...(needs?.reads ?? [])
      .filter(({ path }) => readsChanged(path.reads))
      .map(({ policy }) => `what was read in the session, for \`${policy}\`, is as recorded`),
  ];
}

interface SummaryParts extends Pick<WhyNot, "label" | "chosen" | "conditions" | "overruled_by"> {
  readonly definition: Definition;
  readonly answer: DecidedAnswer;
}

const maxReasons = 3;

function summaryOf({ definition, label, chosen, conditions, overruled_by, answer }: SummaryParts): string {
  if (chosen) return `${label} was chosen`;
  const owners = new Set(conditions.map((each) => each.label));
  const failed = conditions
    .filter(({ result }) => result !== true)
    .map((each) => (owners.size > 1 ? `\`${each.label}\`: ${conditionText(each)}` : conditionText(each)));
  const overruled = overruled_by.map(({ message }) => message);
  // A denial needs a condition that does not hold.
  const unmet = label === "denied" && definition.type === "policy" ? [] : failed;
  const reasons = owners.size === 1 ? [...unmet, ...overruled] : [...overruled, ...unmet];
  const shown = reasons.slice(0, maxReasons);
  const more = reasons.length > shown.length ? `; and ${reasons.length - shown.length} more` : "";
  const because =
    shown.length === 0 ? `the answer is ${answer.selected_labels.join(", ")}` : shown.join("; ");
  return `${label} was not chosen because ${because}${more}`;
}

function conditionText({ text, result, error }: LabelCondition): string {
  // Conditions on earlier calls are sentences.
  const quoted = text.includes("`") ? text : `\`${text}\``;
  const why = error === undefined ? "" : `: ${error}`;
  return result === false ? `${quoted} is false${why}` : `${quoted} could not be evaluated${why}`;
}
