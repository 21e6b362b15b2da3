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
import { createLogWriter } from "../../present/log-writer.js";
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
  timeRange,
  formatFor,
  styleFor,
} from "../flags.js";
import { readDocument } from "../input.js";
import type { Io } from "../io.js";
import { warnAboutDamage, RecordPrinter } from "../output.js";
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
    .argument("[id]", "the decision's id; without it all decisions are meant (--input needs one)")
    .option("--input <json>", "what a decision on this context would be compared with: JSON, @file or -")
    .option(
      "--record <record>",
      "what came before a record: its id or the beginning of it, number, or latest",
    )
    .option("--entity <type:id>", "all decisions about something, such as customer:c-1, newest first")
    .option("--policy <name>", "all decisions that a policy or an override had a part in, newest first")
    .option("--deviations", "how the newest decisions deviate from their precedents")
    .option(
      "--limit <n>",
      `so many (else ${defaultPrecedentLimit}; with --entity and --policy ${defaultLimits.related})`,
    )
    .option(
      "--min-similarity <share>",
      `only those as similar as this, 0 to 1 (else ${defaultMinSimilarity})`,
    )
    .option("--outcome <outcome>", `with --policy: only ${outcomes.join(", ")}`)
    .option(
      "--last <n>",
      `with --deviations: of so many of the newest decisions (else ${defaultLimits.deviations})`,
    )
    .option("--check", "with --deviations: exit with 6 where an outcome deviates")
    .option("--session-id <id>", "with --input: the session that would ask")
    .option("--workflow-id <id>", "with --input: the workflow that would ask");
  addCommonFlags(addStoreFlags(addTimeRangeFlags(command)))
    .summary("compare decisions with earlier ones like them")
    .description(
      "Precedents are earlier records of the same decision that share an entity with it (its definition declares " +
        "`entities`): similar is what shares most of its entities and of the parts of the context that it reads. They " +
        "inform; they never decide. Only --input needs the definition, and it records nothing.",
    )
    .addHelpText("after", precedentsHelp)
    .action(async (id: string | undefined, flags: PrecedentsFlags) => done(await answer(id, flags, io)));
}

const precedentsHelp = `
JSON:
  --input, --record   {decision_id, record_id, type, outcome, entities, sources, precedents: [{record_id, similarity,
                      match_reason, outcome_matched, outcome, because, seq, timestamp, decision_version}]}
  --entity, --policy  the records, as \`log\` prints them
  --deviations        {observer, summary, severity: caution | info, suggestions, decisions, deviations: [{record_id,
                      precedent_id, decision_id, deviation_type: outcome_differs | rationale_differs, explanation}]}

Examples:
  $ agent-33 decision precedents policy-filter-customers --input @call.json
  $ agent-33 decision precedents --record latest --min-similarity 0.5
  $ agent-33 decision precedents --entity segment:enterprise --since 7d
  $ agent-33 decision precedents --policy customer_inclusion --outcome denied
  $ agent-33 decision precedents policy-filter-customers --deviations --last 50 --check`;

async function answer(id: string | undefined, flags: PrecedentsFlags, io: Io): Promise<ExitCode> {
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

/** Flags that say which precedents are meant. */
export interface QuestionFlags extends TimeRangeFlags {
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
  readonly workflowId?: string;
  readonly sessionId?: string;
}

export interface PrecedentsFlags extends StoreFlags, QuestionFlags {}

/** What is asked. */
export type Question =
  | {
      readonly about: "input";
      readonly id: string;
      readonly input: string;
      readonly wanted: PrecedentOptions;
    }
  | { readonly about: "record"; readonly record: string; readonly wanted: PrecedentOptions }
  | { readonly about: "related"; readonly key: RecordKey; readonly range: LimitedRange }
  | { readonly about: "deviations"; readonly last: number };

/** One way of asking. */
export type QuestionOf<Kind extends Question["about"]> = Extract<Question, { readonly about: Kind }>;

/** Undefined: all decisions are meant. */
export interface DecisionFilter {
  readonly id: string | undefined;
}

export type LimitedRange = RelatedRange & { readonly limit: number };

const selectors = ["input", "record", "entity", "policy", "deviations"] as const;
type Selector = (typeof selectors)[number];

type ExtraFlag = Exclude<keyof QuestionFlags, Selector>;

/** Which of the ways each of the other flags goes with. */
const selectorsByFlag: Readonly<Record<ExtraFlag, readonly Selector[]>> = {
  limit: ["input", "record", "entity", "policy"],
  minSimilarity: ["input", "record"],
  since: ["entity", "policy"],
  until: ["entity", "policy"],
  outcome: ["policy"],
  last: ["deviations"],
  check: ["deviations"],
  workflowId: ["input"],
  sessionId: ["input"],
};

export const outcomes = ["allowed", "denied", "allowed_by_exception"] as const;
export const defaultLimits = { related: 100, deviations: 10 };

export function parseQuestion(id: string | undefined, flags: QuestionFlags): Question {
  switch (selectorOf(flags)) {
    case "input":
      return { about: "input", id: requireId(id), input: flags.input ?? "", wanted: precedentOptions(flags) };
    case "record":
      return { about: "record", record: flags.record ?? "", wanted: precedentOptions(flags) };
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
  const [way, other] = selectors.filter((each) => flags[each] !== undefined);
  if (way === undefined) {
    throw new DecisionError("usage", "it is not said which precedents are meant", {
      hint: "those of an input (ID --input JSON), of a record (--record R), or what is recorded on --entity TYPE:ID or --policy NAME; or ask for --deviations",
    });
  }
  if (other !== undefined) {
    throw new DecisionError("usage", `--${way} and --${other} exclude each other`, {
      hint: "ask for one after the other",
    });
  }
  const stray = (Object.keys(selectorsByFlag) as ExtraFlag[]).find(
    (each) => flags[each] !== undefined && !selectorsByFlag[each].includes(way),
  );
  if (stray === undefined) return way;
  throw new DecisionError("usage", `${flagOf(stray)} does not go with --${way}`, {
    hint: `it goes with ${selectorsByFlag[stray].map(flagOf).join(" or ")}`,
  });
}

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function requireId(id: string | undefined): string {
  if (id !== undefined && id !== "") return id;
  throw new DecisionError("usage", "the decision is missing", {
    hint: "name it, as in `agent-33 decision precedents ID --input JSON`",
  });
}

function precedentOptions({ limit, minSimilarity }: QuestionFlags): PrecedentOptions {
  return {
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

/** An id may hold colons, as many do. */
function parseEntity(text: string): { readonly type: string; readonly id: string } {
  const colon = text.indexOf(":");
  const [type, id] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon > 0 && id !== "") return { type, id };
  throw new DecisionError("usage", `--entity must be a type and an id (got \`${text}\`)`, {
    hint: "such as --entity customer:c-1; the type ends at the first colon",
  });
}

function requirePolicy(name: string): string {
  if (name !== "") return name;
  throw new DecisionError("usage", "the name of the policy is empty", {
    hint: "such as --policy customer_inclusion",
  });
}

function parseRange(flags: QuestionFlags): LimitedRange {
  return {
    ...timeRange(flags),
    limit: parseLimit(flags.limit ?? String(defaultLimits.related), "--limit"),
    ...(flags.outcome !== undefined && { label: parseChoice("outcome", flags.outcome, outcomes) }),
  };
}

export async function showInputPrecedents(
  question: QuestionOf<"input">,
  flags: PrecedentsFlags,
  io: Io,
): Promise<ExitCode> {
  const { id, wanted } = question;
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
  const compared = await compareWithPrecedents(request, world, wanted);
  await showComparison(compared, format, { flags, io });
  if (compared.entities.length === 0) {
    const { definition } = await world.definitions.find(id);
    warn(flags, io, missingEntities(definition) ?? `this input tells none of the entities of \`${id}\``);
  }
  warnAboutDefinitions(flags, io, world.definitions.diagnostics);
  return 0;
}

async function showComparison(
  compared: PrecedentComparison,
  format: Format,
  { flags, io }: { readonly flags: PrecedentsFlags; readonly io: Io },
): Promise<void> {
  io.out.write(await present(comparisonView(compared), format, await styleFor(flags, io)));
  const isNone = compared.precedents.length === 0 && compared.entities.length > 0;
  if (isNone && !flags.quiet && io.err.isTerminal) note(io, "no earlier decision is similar enough");
}

export async function showRecordPrecedents(
  { id, record: reference, wanted }: QuestionOf<"record"> & DecisionFilter,
  flags: PrecedentsFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const records = await openRecords(flags, io);
  const { record } = await findRecord(reference, records);
  if (record.kind !== "decision") {
    throw new DecisionError("usage", `record ${record.seq} is no decision, so it has no precedents`);
  }
  if (id !== undefined && id !== record.decision_id) {
    throw new DecisionError(
      "usage",
      `record ${record.seq} is one of \`${record.decision_id}\`, not of \`${id}\``,
      {
        hint: "leave out the decision's id: the record tells it",
      },
    );
  }
  const compared = await compareRecord(record, records.log, wanted);
  await showComparison(compared, format, { flags, io });
  if (compared.entities.length === 0) warn(flags, io, await whyRecordHasNoPrecedents(record, records.store));
  return 0;
}

export async function showDeviations(
  { id, last }: QuestionOf<"deviations"> & DecisionFilter,
  flags: PrecedentsFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const records = await openRecords(flags, io);
  await assertDecisionKnown(id, records, { flags, io });
  const seen = { damaged: 0, entities: 0 };
  const newest = readDecisions(records.log.select(newestDecisions(id, last)), seen);
  const assessment = await assessConsistency(newest, records.log);
  io.out.write(await present(assessmentView(assessment), format, await styleFor(flags, io)));
  if (assessment.decisions > 0 && seen.entities === 0) {
    const why = id === undefined ? undefined : await whyDecisionHasNoPrecedents(id, records.store);
    warn(flags, io, why ?? "none of these decisions is about an entity, so none has precedents");
  }
  warnAboutDamage(seen, flags, io);
  return flags.check && hasOutcomeDeviation(assessment) ? 6 : 0;
}

const newestDecisions = (id: string | undefined, limit: number): Query => ({
  kind: "decision",
  ...(id !== undefined && { decision_id: id }),
  limit,
  reverse: true,
});

async function* readDecisions(
  lines: AsyncIterable<LogLine>,
  seen: { damaged: number; entities: number },
): AsyncGenerator<DecisionRecord> {
  for await (const { record } of lines) {
    if (record.kind !== "decision") continue;
    if (!isWellFormedRecord(record)) {
      seen.damaged++;
      continue;
    }
    seen.entities += entitiesOf(record).length;
    yield record;
  }
}

export async function showRelated(
  { id, key, range }: QuestionOf<"related"> & DecisionFilter,
  flags: PrecedentsFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "many" });
  const records = await openRecords(flags, io);
  await assertDecisionKnown(id, records, { flags, io });
  const printer = new RecordPrinter(io, await createLogWriter(format, await styleFor(flags, io)));
  const { limit, ...when } = range;
  let isMore = false;
  for await (const line of records.log.related(key, when)) {
    if (id !== undefined && (line.record.kind !== "decision" || line.record.decision_id !== id)) continue;
    isMore = printer.printed >= limit;
    if (isMore) break;
    printer.print(line);
  }
  printer.end();
  if (!flags.quiet && io.err.isTerminal) {
    if (isMore) note(io, `the newest ${limit} of more; --limit N shows the newest N`);
    if (printer.printed === 0) note(io, "no record fits");
  }
  if (printer.printed === 0 && id !== undefined && "entity" in key) {
    const why = await whyDecisionHasNoPrecedents(id, records.store);
    if (why !== undefined) warn(flags, io, why);
  }
  warnAboutDamage(printer, flags, io);
  return 0;
}

const entitiesHint = 'say what it is about, as in entities: [{ type: customer, id: "{{ customer.id }}" }]';

/** Undefined where it does declare what it is about. */
export function missingEntities({ id, entities = [] }: Definition): string | undefined {
  return entities.length > 0
    ? undefined
    : `\`${id}\` has no precedents, as it declares no entities; ${entitiesHint}`;
}

/** Of a record that is about nothing, by the definition that it was made with. */
export async function whyRecordHasNoPrecedents(record: DecisionRecord, store: Store): Promise<string> {
  const definition = await findStoredDefinition(record.definition_hash, store);
  const why = definition && missingEntities(definition);
  return why ?? `record ${record.seq} has no precedents, as none of its entities could be told`;
}

/** Of a decision whose records may be gone, by the last definition that it was made with. */
export async function whyDecisionHasNoPrecedents(id: string, store: Store): Promise<string | undefined> {
  const last = await latestStoredDefinition(id, store);
  return typeof last === "object" ? missingEntities(last.definition) : undefined;
}

/** What was decided at some time is known, whatever has become of its definition. */
export async function assertDecisionKnown(
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
