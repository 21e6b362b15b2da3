import type { Command } from "commander";
import type { BatchFormat } from "./batch.js";
import type { ExitCode } from "./exit-codes.js";
import { resultExitCode } from "./exit-codes.js";
import type { DecideFlags, ProvenanceFlags } from "./flags.js";
import {
  addApprovalFlag,
  addCommonFlags,
  addDurabilityFlag,
  addStoreFlags,
  formatFor,
  styleFor,
  addProvenanceFlags,
  provenanceOf,
} from "./flags.js";
import { readDocument, readEventMap } from "./input.js";
import type { Io } from "./io.js";
import { note, openWorld, warn, warnAboutDefinitions } from "./world.js";
import { stopwatch } from "../clock.js";
import type { Composed } from "../compose.js";
import type { DecisionRequest } from "../decide/decide.js";
import { labelsOf, casesOf } from "../definition/branches.js";
import type { Library } from "../definition/library.js";
import { DecisionError } from "../errors.js";
import { present } from "../present/format.js";
import { targetLine } from "../present/result-rows.js";
import { auditText, resultView } from "../present/result-view.js";

interface EvaluateFlags extends DecideFlags, ProvenanceFlags {
  readonly cache: boolean;
  readonly input?: string;
  readonly feedback?: string;
  readonly inputs?: string;
  readonly map?: string;
  readonly follow?: boolean;
  readonly explain?: boolean;
  readonly strict?: boolean;
}

/** Beyond these the rest are only counted. */
const maxWarnings = 5;

export type Done = (code: ExitCode) => void;

interface DecideCommand {
  readonly name: string;
  readonly dryRun: boolean;
  readonly argument?: readonly [name: string, description: string];
  /** The id of the decision that a word means; else it is the id itself. */
  readonly resolve?: (word: string, definitions: Library) => string;
  readonly examples?: readonly string[];
}

/** Formats that only answers of decisions have. */
const resultFormats = ["target", "audit"] as const;

/** A command that makes decisions, and either records them or not. */
export function addDecideCommand(parent: Command, io: Io, done: Done, deciding: DecideCommand): Command {
  const { name, argument = ["<id>", "the decision's id"] } = deciding;
  const command = parent
    .command(name)
    .argument(...argument)
    .option("--input <json>", "the context: JSON, @file, or - for standard input")
    .option(
      "--inputs <file>",
      "many contexts as JSON lines, from a file or - for standard input; one answer a line",
    )
    .option(
      "--map <json>",
      "makes the context of what is given, an event: an object with {{ … }} in its texts, JSON or @file (see `agent-33 help events`)",
    )
    .option(
      "--follow",
      "where a target is a decision, make that one too, and so on; the answer is the last one's",
    )
    .option("--explain", "show what came of every condition")
    .option("--strict", "a condition that cannot be evaluated is an error")
    .option("--feedback <json>", "recorded beside the decision, without a part in it: JSON or @file")
    .option("--no-cache", "evaluate even if the answer is cached, and fetch even what is kept");
  addApprovalFlag(addDurabilityFlag(addStoreFlags(addProvenanceFlags(command))));
  return addCommonFlags(command, resultFormats)
    .addHelpText("after", examplesFor(deciding))
    .action(async (word: string, flags: EvaluateFlags) => {
      const ask = flags.inputs === undefined ? decideOne : decideMany;
      done(await ask({ word, flags, deciding }, io));
    });
}

function examplesFor({ name, examples }: DecideCommand): string {
  const usual = [
    `agent-33 decision ${name} decision-quality-gate --input '{"artifact": {"quality_score": 0.9}}'`,
    `agent-33 decision ${name} decision-quality-gate --input @context.json --explain`,
    `next=$(agent-33 decision ${name} decision-quality-gate --input - --format target < context.json)`,
    `agent-33 decision ${name} decision-ab-prompt-variant --inputs requests.jsonl > answers.jsonl`,
    `agent-33 decision ${name} decision-artifact-type-router --input '{"kind": "prompt"}' --map '{"artifact": {"type": "{{ kind }}"}}'`,
  ];
  return `\nExamples:\n${(examples ?? usual).map((each) => `  $ ${each}`).join("\n")}`;
}

interface Invocation {
  readonly word: string;
  readonly flags: EvaluateFlags;
  readonly deciding: DecideCommand;
}

/** The decision that is meant; one that cannot be printed as wanted is not made. */
async function resolveDecision(
  { word, flags, deciding }: Invocation,
  { definitions }: Composed,
): Promise<string> {
  const id = deciding.resolve?.(word, definitions) ?? word;
  const { definition } = await definitions.find(id);
  if (flags.format !== "audit" || definition.type === "scored") return id;
  throw new DecisionError(
    "usage",
    `\`${id}\` has no audit payload: it is a \`${definition.type}\` decision`,
    {
      hint: "only `scored` decisions have one",
    },
  );
}

async function decideOne(asked: Invocation, io: Io): Promise<ExitCode> {
  const { flags } = asked;
  if (flags.input === undefined) {
    throw new DecisionError("usage", "the context is missing", {
      hint: "give it with --input JSON, --input @file or --input -; many at once with --inputs FILE",
    });
  }
  const format = formatFor(flags, io, { answer: "one", more: resultFormats });
  const toContext = await readEventMap(flags.map, io);
  const context = toContext(readDocument(flags.input, io));
  const feedback = readFeedback(flags, io);
  const world = await openWorld(flags, io);
  const id = await resolveDecision(asked, world);
  const startedAt = stopwatch();
  const decide = flags.follow ? world.follow : world.decide;
  const result = await decide({ ...requestFor(id, asked), ...feedback, context });
  if (flags.verbose) note(io, `decided in ${(stopwatch() - startedAt).toFixed(1)} ms`);
  if (format === "target") {
    io.out.write(`${targetLine(result)}\n`);
    const why = result.guardrails.find(({ on_fail }) => on_fail === "block");
    if (result.blocked && why !== undefined) warn(flags, io, `blocked: ${why.message}`);
  } else if (format === "audit") io.out.write(auditText(result, 2));
  else {
    const { explain = false, verbose = false } = flags;
    const view = resultView(result, { explain, verbose, cases: await casesFor(result.decision_id, world) });
    io.out.write(await present(view, format, await styleFor(flags, io)));
  }
  for (const warning of result.warnings.slice(0, maxWarnings)) warn(flags, io, warning);
  const more = result.warnings.length - maxWarnings;
  if (more > 0) {
    const which = flags.explain ? "" : "; --explain shows what came of each condition";
    warn(flags, io, `there ${more === 1 ? "is 1 more warning" : `are ${more} more warnings`}${which}`);
  }
  warnAboutDefinitions(flags, io, world.definitions.diagnostics);
  return resultExitCode(result);
}

function readFeedback({ feedback }: EvaluateFlags, io: Io): { readonly feedback?: unknown } {
  return feedback === undefined ? {} : { feedback: readDocument(feedback, io, "--feedback") };
}

function requestFor(id: string, { flags, deciding }: Invocation): Omit<DecisionRequest, "context"> {
  const { strict = false, cache } = flags;
  return {
    decision_id: id,
    dry_run: deciding.dryRun,
    strict,
    no_cache: !cache,
    ...provenanceOf(flags),
  };
}

async function casesFor(
  id: string,
  world: Composed,
): Promise<readonly { label: string; condition: string }[]> {
  const { definition } = await world.definitions.find(id);
  const cases = casesOf(definition).map(({ each }) => each);
  return labelsOf(cases).map((label, index) => ({ label, condition: cases[index]?.condition ?? "" }));
}

async function decideMany(asked: Invocation, io: Io): Promise<ExitCode> {
  const { flags } = asked;
  if (flags.input !== undefined) {
    throw new DecisionError("usage", "--input and --inputs exclude each other", {
      hint: "one context goes with --input, a file of them, one a line, with --inputs",
    });
  }
  const format = batchFormat(flags, io);
  const toContext = await readEventMap(flags.map, io);
  const feedback = readFeedback(flags, io);
  const world = await openWorld(flags, io);
  const id = await resolveDecision(asked, world);
  warnAboutDefinitions(flags, io, world.definitions.diagnostics);
  const { runBatch: answerLines } = await import("./batch.js");
  const bad = await answerLines(
    {
      request: { ...requestFor(id, asked), ...feedback },
      file: flags.inputs ?? "-",
      toContext,
      follow: flags.follow ?? false,
      format,
      quiet: flags.quiet ?? false,
    },
    world,
    io,
  );
  if (bad === "interrupted") return 130;
  return bad > 0 ? 1 : 0;
}

/** JSON lines on a terminal too: a table would have to know all lines before it could show one. */
function batchFormat(flags: EvaluateFlags, io: Io): BatchFormat {
  const format = formatFor(flags, io, { answer: "many", more: resultFormats });
  if (format === "target" || format === "audit" || format === "plain" || format === "jsonl") return format;
  if (format === "json" || flags.format === undefined) return "jsonl";
  throw new DecisionError("usage", `--inputs cannot be answered as \`${format}\``, {
    hint: "choose jsonl, plain, target or audit",
  });
}
