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
import { note, openWorld, scopeValuesOf, warn, warnAboutDefinitions } from "./world.js";
import { stopwatch } from "../clock.js";
import type { Composed } from "../compose.js";
import type { DecisionRequest } from "../decide/decide.js";
import type { OnScope } from "../decide/request.js";
import { labelsOf, casesOf } from "../definition/branches.js";
import { assertNoGateKey } from "../definition/gate-key.js";
import { answersWithList, assertOutputs } from "../definition/outputs.js";
import type { Library } from "../definition/library.js";
import { DecisionError } from "../errors.js";
import type { Result } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { auditText, outputLine, targetLine } from "../present/answer-line.js";
import { present } from "../present/format.js";
import { resultView } from "../present/result-view.js";
import { namesFor, withSimilarNames } from "../present/similar-names.js";

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

/** Number of warnings that are printed; further ones are counted. */
const maxWarnings = 5;

export type Done = (code: ExitCode) => void;

interface DecideCommand {
  readonly name: string;
  readonly dryRun: boolean;
  readonly argument?: readonly [name: string, description: string];
  /** Finds the id of the decision; without it the argument is the id. */
  readonly resolve?: (argument: string, definitions: Library) => string;
  readonly examples?: readonly string[];
}

/** Additional formats of results. */
const resultFormats = ["target", "output", "audit"] as const;

/** Adds a command that makes decisions: evaluate, dry-run or gate. */
export function addDecideCommand(parent: Command, io: Io, done: Done, options: DecideCommand): Command {
  const { name, dryRun, argument = ["<id>", "id of the decision"] } = options;
  const command = parent
    .command(name)
    .argument(...argument)
    .option("--input <json>", "context: JSON, @file, or - for standard input")
    .option(
      "--inputs <file>",
      "contexts as JSON Lines, from a file or - for standard input; prints one result per line",
    )
    .option(
      "--map <json>",
      "template that builds the context from an event: an object with {{ … }} expressions, JSON or @file (see `agent-33 help events`)",
    )
    .option("--follow", "if a target is a decision, make that decision too, and so on; print the last result")
    .option("--explain", "show the result of every condition")
    .option("--strict", "fail if a condition cannot be evaluated")
    .option("--feedback <json>", dryRun ? dryRunFeedbackHelp : feedbackHelp)
    .option("--no-cache", "ignore cached results and cached responses of endpoints");
  addApprovalFlag(addDurabilityFlag(addStoreFlags(addProvenanceFlags(command, { dryRun }))));
  return addCommonFlags(command, resultFormats)
    .addHelpText("after", examplesFor(options))
    .action(async (argument: string, flags: EvaluateFlags) => {
      const decide = flags.inputs === undefined ? decideOne : decideMany;
      done(await decide({ argument, flags, command: options }, io));
    });
}

const feedbackHelp = "data to record with the decision, not used to decide: JSON or @file";
const dryRunFeedbackHelp = "data for the record of `evaluate`: JSON or @file; not recorded";

function examplesFor({ name, examples }: DecideCommand): string {
  const defaultExamples = [
    `agent-33 decision ${name} expense-approval \\\n      --input '{"expense": {"amount": 40}}'`,
    `agent-33 decision ${name} expense-approval --input @expense.json --explain`,
    `next=$(agent-33 decision ${name} expense-approval \\\n      --input - --format target < expense.json)`,
    `agent-33 decision ${name} expense-approval \\\n      --inputs expenses.jsonl > answers.jsonl`,
    `agent-33 decision ${name} expense-approval \\\n      --input '{"total": 40}' --map '{"expense": {"amount": "{{ total }}"}}'`,
  ];
  return `\nExamples:\n${(examples ?? defaultExamples).map((each) => `  $ ${each}`).join("\n")}`;
}

interface Invocation {
  readonly argument: string;
  readonly flags: EvaluateFlags;
  readonly command: DecideCommand;
}

/** Finds the decision, and throws if its result cannot be printed in the format. */
async function resolveDecision(
  { argument, flags, command }: Invocation,
  { definitions }: Composed,
): Promise<string> {
  if (command.resolve === undefined) assertNoGateKey(argument, definitions.gates);
  const id = command.resolve?.(argument, definitions) ?? argument;
  const { definition } = await definitions.find(id);
  if (flags.format === "output" && flags.follow !== true) assertOutputs(definition);
  if (flags.format !== "audit" || definition.type === "scored") return id;
  throw new DecisionError(
    "usage",
    `\`${id}\` has no audit payload: it is a \`${definition.type}\` decision`,
    {
      hint: "--format audit is for `scored` decisions",
    },
  );
}

async function decideOne(invocation: Invocation, io: Io): Promise<ExitCode> {
  const { flags } = invocation;
  if (flags.input === undefined) {
    throw new DecisionError("usage", "specify a context", {
      hint: "use --input JSON, --input @file or --input -; for many contexts, --inputs FILE",
    });
  }
  const format = formatFor(flags, io, { answer: "one", more: resultFormats });
  const toContext = await readEventMap(flags.map, io);
  const context = toContext(readDocument(flags.input, io));
  const feedback = readFeedback(flags, io);
  const scopes = new Map<string, Scope>();
  const onScope: OnScope = (id, scope) => scopes.set(id, scope);
  const world = await openWorld(flags, io, flags.explain ? { onScope } : {});
  const id = await resolveDecision(invocation, world);
  const startedAt = stopwatch();
  const decide = flags.follow ? world.follow : world.decide;
  const request = { ...requestFor(id, invocation), ...feedback, context };
  const result = await decide(request).catch((error: unknown) => {
    throw error instanceof DecisionError && error.code === "condition_errored"
      ? new DecisionError(error.code, withSimilarNames(error.message, namesFor(context)), error)
      : error;
  });
  if (flags.verbose) note(io, `decided in ${(stopwatch() - startedAt).toFixed(1)} ms`);
  if (format === "target") {
    io.out.write(`${targetLine(result)}\n`);
    warnIfBlocked(result, flags, io);
  } else if (format === "output") {
    const { definition } = await world.definitions.find(result.decision_id);
    assertOutputs(definition);
    io.out.write(`${outputLine(result, answersWithList(definition))}\n`);
    warnIfBlocked(result, flags, io);
  } else if (format === "audit") io.out.write(auditText(result, 2));
  else {
    const { explain = false, verbose = false } = flags;
    const view = resultView(result, {
      explain,
      verbose,
      cases: await casesFor(result.decision_id, world),
      ...(await scopeValuesOf(result, scopes, world)),
    });
    io.out.write(await present(view, format, await styleFor(flags, io)));
  }
  const names = namesFor(context, result.input_value);
  for (const warning of result.warnings.slice(0, maxWarnings))
    warn(flags, io, withSimilarNames(warning, names));
  const more = result.warnings.length - maxWarnings;
  if (more > 0) {
    const hint = flags.explain ? "" : "; --explain shows the result of every condition";
    warn(flags, io, `there ${more === 1 ? "is 1 more warning" : `are ${more} more warnings`}${hint}`);
  }
  warnAboutDefinitions(flags, io, world.definitions.diagnostics);
  return resultExitCode(result);
}

function warnIfBlocked(result: Result, flags: EvaluateFlags, io: Io): void {
  const blocking = result.guardrails.find(({ on_fail }) => on_fail === "block");
  if (result.blocked && blocking !== undefined) warn(flags, io, `blocked: ${blocking.message}`);
}

function readFeedback({ feedback }: EvaluateFlags, io: Io): { readonly feedback?: unknown } {
  return feedback === undefined ? {} : { feedback: readDocument(feedback, io, "--feedback") };
}

function requestFor(id: string, { flags, command }: Invocation): Omit<DecisionRequest, "context"> {
  const { strict = false, cache } = flags;
  return {
    decision_id: id,
    dry_run: command.dryRun,
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

async function decideMany(invocation: Invocation, io: Io): Promise<ExitCode> {
  const { flags } = invocation;
  if (flags.input !== undefined) {
    throw new DecisionError("usage", "--input and --inputs cannot be combined", {
      hint: "use --input for one context, --inputs for a file with one context per line",
    });
  }
  const format = batchFormat(flags, io);
  const toContext = await readEventMap(flags.map, io);
  const feedback = readFeedback(flags, io);
  const world = await openWorld(flags, io);
  const id = await resolveDecision(invocation, world);
  warnAboutDefinitions(flags, io, world.definitions.diagnostics);
  const { runBatch } = await import("./batch.js");
  const failed = await runBatch(
    {
      request: { ...requestFor(id, invocation), ...feedback },
      file: flags.inputs ?? "-",
      toContext,
      follow: flags.follow ?? false,
      format,
      quiet: flags.quiet ?? false,
      jsonErrors: flags.json === true || flags.format === "json" || flags.format === "jsonl",
    },
    world,
    io,
  );
  if (failed === "interrupted") return 130;
  return failed > 0 ? 1 : 0;
}

/** Returns JSON Lines on a terminal too: a table needs all rows before it can print one. */
function batchFormat(flags: EvaluateFlags, io: Io): BatchFormat {
  const format = formatFor(flags, io, { answer: "many", more: resultFormats });
  if (format === "target" || format === "output" || format === "audit") return format;
  if (format === "plain" || format === "jsonl") return format;
  if (format === "json" || flags.format === undefined) return "jsonl";
  throw new DecisionError("usage", `--inputs cannot be printed as \`${format}\``, {
    hint: "use jsonl, plain, target, output or audit",
  });
}
