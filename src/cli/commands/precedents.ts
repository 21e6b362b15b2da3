import type { Command } from "commander";
import { compareWithPrecedents } from "../../decide/compare.js";
import { DecisionError } from "../../errors.js";
import { assessConsistency, hasOutcomeDeviation } from "../../lineage/deviations.js";
import type { PrecedentOptions, PrecedentComparison } from "../../lineage/precedents.js";
import { defaultMinSimilarity, defaultPrecedentLimit, compareRecord } from "../../lineage/precedents.js";
import type { Definition } from "../../model/definition.js";
import type { DecisionRecord } from "../../model/record.js";
import type { RecordKey, RelatedRange, LogLine, Query, Store } from "../../model/store.js";
import { comparisonView, assessmentView } from "../../present/precedent-views.js";
import type { Format } from "../../present/format.js";
import { present } from "../../present/format.js";
import { parseLimit, parseChoice } from "../../record/record-query.js";
import { findStoredDefinition, latestStoredDefinition } from "../../record/stored-definition.js";
import { entitiesOf } from "../../record/record-keys.js";
import { findRecord } from "../../record/find-records.js";
import type { Records } from "../../record/records.js";
import { isWellFormedRecord } from "../../record/well-formed.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags, TimeRangeFlags } from "../flags.js";
import {
  addCommonFlags,
  addStoreFlags,
  addTimeRangeFlags,
  failUnlessAllowed,
  parseEntity,
  timeRange,
  formatFor,
  styleFor,
} from "../flags.js";
import { readDocument } from "../input.js";
import type { Io } from "../io.js";
import { openPrinter, warnAboutDamage } from "../output.js";
import type { DamageWatch } from "../world.js";
import {
  note,
  openRecords,
  openWorld,
  warn,
  warnIfStoreMissing,
  warnAboutDefinitions,
  openReadableWorld,
} from "../world.js";

export function addPrecedentsCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("precedents")
    .argument("[id]", "id of the decision (default: all decisions; required with --input)")
    .option("--input <json>", "show the precedents of this context: JSON, @file or -")
    .option("--record <record>", "show the precedents of a record: id or unique prefix, number, or latest")
    .option("--entity <type:id>", "list the decisions about an entity, newest first")
    .option(
      "--policy <name>",
      "list the decisions of a policy or an override, newest first; with --input or --record, keep only precedents that it took part in",
    )
    .option("--deviations", "show where the newest decisions deviate from their precedents")
    .option(
      "--limit <n>",
      `maximum number (default ${defaultPrecedentLimit}; with --entity or --policy ${defaultLimits.related})`,
    )
    .option("--min-similarity <share>", `minimum similarity from 0 to 1 (default ${defaultMinSimilarity})`)
    .option("--outcome <outcome>", `with --policy: filter by outcome: ${outcomes.join(", ")}`)
    .option(
      "--last <n>",
      `with --deviations: number of newest decisions to check (default ${defaultLimits.deviations})`,
    )
    .option("--check", "with --deviations: exit with code 6 if an outcome deviates")
    .option("--allow-empty", "with --check: succeed if there is nothing to check")
    .option("--session-id <id>", "with --input: session of the caller")
    .option("--workflow-id <id>", "with --input: workflow of the caller");
  addCommonFlags(addStoreFlags(addTimeRangeFlags(command)))
    .summary("compare decisions with similar earlier ones")
    .description(
      "Show precedents: earlier records of the same decision with a common entity (declared as `entities` in the " +
        "definition); of tool calls, those of the same tool. Similarity is the share of common entities, common parts " +
        "of the context and common names of params. Precedents are advisory; they never change a decision. Only " +
        "--input needs the definition. Nothing is recorded.",
    )
    .addHelpText("after", precedentsHelp)
    .action(async (id: string | undefined, flags: PrecedentsFlags) => done(await run(id, flags, io)));
}

const precedentsHelp = `
JSON:
  --input, --record   {decision_id, record_id, type, tool, outcome, entities,
                      sources, param_names, precedents: [{record_id,
                      similarity, match_reason, outcome_matched, outcome,
                      because, seq, timestamp, decision_version}]}
  --entity, --policy  the records, as \`log\` prints them
  --deviations        {observer, summary, severity: caution | info, suggestions,
                      decisions, deviations: [{record_id, precedent_id,
                      decision_id, explanation, deviation_type:
                      outcome_differs | rationale_differs}]}

Examples:
  $ agent-33 decision precedents expense-approval --input @expense.json
  $ agent-33 decision precedents --record latest --min-similarity 0.5
  $ agent-33 decision precedents --record latest --policy customer_inclusion
  $ agent-33 decision precedents --entity segment:enterprise --since 7d
  $ agent-33 decision precedents --policy customer_inclusion --outcome denied
  $ agent-33 decision precedents expense-approval \\
      --deviations --last 50 --check`;

async function run(id: string | undefined, flags: PrecedentsFlags, io: Io): Promise<ExitCode> {
  const question = parseQuestion(id, flags);
  switch (question.about) {
    case "input":
      return showInputPrecedents(question, flags, io);
    case "record":
      return showRecordPrecedents({ ...question, id }, flags, io);
    case "related":
      return showRelated({ ...question, id }, flags, io);
    case "deviations":
      return showDeviations({ ...question, id }, flags, io);
  }
}

interface QuestionFlags extends TimeRangeFlags {
  readonly input?: string;
  readonly record?: string;
  readonly entity?: string;
  readonly policy?: string;
  readonly deviations?: boolean;
  readonly limit?: string;
  readonly minSimilarity?: string;
  readonly outcome?: string;
  readonly last?: string;
  readonly check?: boolean;
  readonly allowEmpty?: boolean;
  readonly workflowId?: string;
  readonly sessionId?: string;
}

interface PrecedentsFlags extends StoreFlags, QuestionFlags {}

type Question =
  | {
      readonly about: "input";
      readonly id: string;
      readonly input: string;
      readonly options: PrecedentOptions;
    }
  | { readonly about: "record"; readonly record: string; readonly options: PrecedentOptions }
  | { readonly about: "related"; readonly key: RecordKey; readonly range: LimitedRange }
  | { readonly about: "deviations"; readonly last: number };

type QuestionOf<Kind extends Question["about"]> = Extract<Question, { readonly about: Kind }>;

interface DecisionFilter {
  /** Undefined: all decisions. */
  readonly id: string | undefined;
}

type LimitedRange = RelatedRange & { readonly limit: number };

const selectors = ["input", "record", "entity", "policy", "deviations"] as const;
type Selector = (typeof selectors)[number];

type ExtraFlag = Exclude<keyof QuestionFlags, Selector>;

/** The selectors that each of the other flags can be combined with. */
const selectorsByFlag: Readonly<Record<ExtraFlag, readonly Selector[]>> = {
  limit: ["input", "record", "entity", "policy"],
  minSimilarity: ["input", "record"],
  since: ["entity", "policy"],
  until: ["entity", "policy"],
  outcome: ["policy"],
  last: ["deviations"],
  check: ["deviations"],
  allowEmpty: ["deviations"],
  workflowId: ["input"],
  sessionId: ["input"],
};

const outcomes = ["allowed", "denied", "allowed_by_exception"] as const;
const defaultLimits = { related: 100, deviations: 10 };

function parseQuestion(id: string | undefined, flags: QuestionFlags): Question {
  switch (selectorOf(flags)) {
    case "input":
      return {
        about: "input",
        id: requireId(id),
        input: flags.input ?? "",
        options: precedentOptions(flags),
      };
    case "record":
      return { about: "record", record: flags.record ?? "", options: precedentOptions(flags) };
    case "entity":
      return { about: "related", key: { entity: parseEntity(flags.entity ?? "") }, range: parseRange(flags) };
    case "policy":
      return {
        about: "related",
        key: { policy: requirePolicy(flags.policy ?? "") },
        range: parseRange(flags),
      };
    case "deviations":
      return {
        about: "deviations",
        last: parseLimit(flags.last ?? String(defaultLimits.deviations), "--last"),
      };
  }
}

function selectorOf(flags: QuestionFlags): Selector {
  const given = selectors.filter((each) => flags[each] !== undefined);
  // With one of these, `--policy` is a filter.
  const isFilter = given.some((each) => each === "input" || each === "record");
  const [selector, other] = isFilter ? given.filter((each) => each !== "policy") : given;
  if (selector === undefined) {
    throw new DecisionError("usage", "specify which precedents to show", {
      hint: "use ID --input JSON, --record RECORD, --entity TYPE:ID, --policy NAME or --deviations",
    });
  }
  if (other !== undefined) {
    throw new DecisionError("usage", `--${selector} and --${other} cannot be combined`, {
      hint: "remove one of them",
    });
  }
  const unsupported = (Object.keys(selectorsByFlag) as ExtraFlag[]).find(
    (each) => flags[each] !== undefined && !selectorsByFlag[each].includes(selector),
  );
  if (unsupported === undefined) return selector;
  throw new DecisionError("usage", `${flagOf(unsupported)} cannot be combined with --${selector}`, {
    hint: `use it with ${selectorsByFlag[unsupported].map(flagOf).join(" or ")}`,
  });
}

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function requireId(id: string | undefined): string {
  if (id !== undefined && id !== "") return id;
  throw new DecisionError("usage", "specify a decision", {
    hint: "for example `agent-33 decision precedents ID --input JSON`",
  });
}

function precedentOptions({ limit, minSimilarity, policy }: QuestionFlags): PrecedentOptions {
  return {
    ...(policy !== undefined && { policy: requirePolicy(policy) }),
    limit: limit === undefined ? defaultPrecedentLimit : parseLimit(limit, "--limit"),
    minSimilarity: minSimilarity === undefined ? defaultMinSimilarity : parseSimilarity(minSimilarity),
  };
}

function parseSimilarity(text: string): number {
  const share = /^\d*\.?\d+$/.test(text) ? Number(text) : NaN;
  if (share >= 0 && share <= 1) return share;
  throw new DecisionError("usage", `--min-similarity must be a number from 0 to 1 (got \`${text}\`)`, {
    hint: "such as --min-similarity 0.5",
  });
}

function requirePolicy(name: string): string {
  if (name !== "") return name;
  throw new DecisionError("usage", "--policy must not be empty", {
    hint: "specify a policy, such as --policy customer_inclusion",
  });
}

function parseRange(flags: QuestionFlags): LimitedRange {
  return {
    ...timeRange(flags),
    limit: parseLimit(flags.limit ?? String(defaultLimits.related), "--limit"),
    ...(flags.outcome !== undefined && { label: parseChoice("outcome", flags.outcome, outcomes) }),
  };
}

async function showInputPrecedents(
  question: QuestionOf<"input">,
  flags: PrecedentsFlags,
  io: Io,
): Promise<ExitCode> {
  const { id, options } = question;
  const { workflowId, sessionId } = flags;
  const format = formatFor(flags, io, { answer: "one" });
  const context = readDocument(question.input, io);
  warnIfStoreMissing(flags, io);
  const world = await openWorld(flags, io);
  const request = {
    decision_id: id,
    context,
    ...(workflowId !== undefined && { workflow_id: workflowId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
  };
  const comparison = await compareWithPrecedents(request, world, options);
  await showComparison(comparison, format, { flags, io });
  if (comparison.entities.length === 0) {
    const { definition } = await world.definitions.find(id);
    warn(flags, io, missingEntities(definition) ?? `the input contains none of the entities of \`${id}\``);
  }
  warnAboutDefinitions(flags, io, world.definitions.diagnostics);
  return 0;
}

async function showComparison(
  comparison: PrecedentComparison,
  format: Format,
  { flags, io }: { readonly flags: PrecedentsFlags; readonly io: Io },
): Promise<void> {
  io.out.write(await present(comparisonView(comparison), format, await styleFor(flags, io)));
  const isEmpty = comparison.precedents.length === 0 && comparison.entities.length > 0;
  if (isEmpty && !flags.quiet && io.err.isTerminal) note(io, "no similar earlier decisions");
}

async function showRecordPrecedents(
  { id, record: reference, options }: QuestionOf<"record"> & DecisionFilter,
  flags: PrecedentsFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const records = await openRecords(flags, io);
  const { record } = await findRecord(reference, records);
  if (record.kind !== "decision") {
    throw new DecisionError("usage", `record ${record.seq} is not a decision, so it has no precedents`);
  }
  if (id !== undefined && id !== record.decision_id) {
    throw new DecisionError(
      "usage",
      `record ${record.seq} is a record of \`${record.decision_id}\`, not of \`${id}\``,
      {
        hint: "remove the id: the record has one",
      },
    );
  }
  const comparison = await compareRecord(record, records.log, options);
  await showComparison(comparison, format, { flags, io });
  if (comparison.entities.length === 0)
    warn(flags, io, await whyRecordHasNoPrecedents(record, records.store));
  return 0;
}

async function showDeviations(
  { id, last }: QuestionOf<"deviations"> & DecisionFilter,
  flags: PrecedentsFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const damage: DamageWatch | undefined = flags.check ? { isDamaged: false } : undefined;
  const records = await openRecords(flags, io, damage);
  await assertDecisionKnown(id, records, { flags, io });
  const counts = { damaged: 0, entities: 0 };
  const newest = readDecisions(records.log.select(newestDecisions(id, last)), counts);
  const assessment = await assessConsistency(newest, records.log);
  io.out.write(await present(assessmentView(assessment), format, await styleFor(flags, io)));
  if (assessment.decisions > 0 && counts.entities === 0) {
    const reason = id === undefined ? undefined : await whyDecisionHasNoPrecedents(id, records.store);
    warn(flags, io, reason ?? "none of these decisions has entities, so none has precedents");
  }
  warnAboutDamage(counts, flags, io);
  if (flags.check && assessment.decisions === 0) failUnlessAllowed(flags, "there are no matching records");
  const hasFailed = hasOutcomeDeviation(assessment) || damage?.isDamaged === true;
  return flags.check && hasFailed ? 6 : 0;
}

const newestDecisions = (id: string | undefined, limit: number): Query => ({
  kind: "decision",
  ...(id !== undefined && { decision_id: id }),
  limit,
  reverse: true,
});

async function* readDecisions(
  lines: AsyncIterable<LogLine>,
  counts: { damaged: number; entities: number },
): AsyncGenerator<DecisionRecord> {
  for await (const { record } of lines) {
    if (record.kind !== "decision") continue;
    if (!isWellFormedRecord(record)) {
      counts.damaged++;
      continue;
    }
    counts.entities += entitiesOf(record).length;
    yield record;
  }
}

async function showRelated(
  { id, key, range }: QuestionOf<"related"> & DecisionFilter,
  flags: PrecedentsFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "many" });
  const records = await openRecords(flags, io);
  await assertDecisionKnown(id, records, { flags, io });
  const printer = await openPrinter(flags, io, format);
  const { limit, ...times } = range;
  let hasMore = false;
  for await (const line of records.log.related(key, times)) {
    if (id !== undefined && (line.record.kind !== "decision" || line.record.decision_id !== id)) continue;
    hasMore = printer.printed >= limit;
    if (hasMore) break;
    printer.print(line);
  }
  printer.end();
  if (!flags.quiet && io.err.isTerminal) {
    if (hasMore) note(io, `showing the newest ${limit} records; use --limit N for more`);
    if (printer.printed === 0) note(io, "no matching records");
  }
  if (printer.printed === 0 && id !== undefined && "entity" in key) {
    const reason = await whyDecisionHasNoPrecedents(id, records.store);
    if (reason !== undefined) warn(flags, io, reason);
  }
  warnAboutDamage(printer, flags, io);
  return 0;
}

const entitiesHint = 'declare them, for example entities: [{ type: customer, id: "{{ customer.id }}" }]';

/** Returns a message if the definition declares no entities. */
function missingEntities({ id, entities = [] }: Definition): string | undefined {
  return entities.length > 0
    ? undefined
    : `\`${id}\` has no precedents because it declares no entities; ${entitiesHint}`;
}

/** Explains why a record without entities has none, from the definition that it was made with. */
async function whyRecordHasNoPrecedents(record: DecisionRecord, store: Store): Promise<string> {
  const definition = await findStoredDefinition(record.definition_hash, store);
  const reason = definition && missingEntities(definition);
  return reason ?? `record ${record.seq} has no precedents because its context contains none of its entities`;
}

/** Explains why a decision has no precedents, from its last recorded definition. */
async function whyDecisionHasNoPrecedents(id: string, store: Store): Promise<string | undefined> {
  const last = await latestStoredDefinition(id, store);
  return typeof last === "object" ? missingEntities(last.definition) : undefined;
}

/** Throws if the id is neither recorded nor defined. */
async function assertDecisionKnown(
  id: string | undefined,
  { log }: Records,
  { flags, io }: { readonly flags: StoreFlags; readonly io: Io },
): Promise<void> {
  if (id === undefined) return;
  const { total } = await log.tally(id, {});
  if (total > 0) return;
  const { definitions } = await openReadableWorld(flags, io);
  if (!definitions.broken.includes(id)) await definitions.find(id);
}
