import { stopwatch } from "../clock.js";
import type { Command } from "commander";
import type { Composed } from "../compose.js";
import type { Request } from "../decide/decide.js";
import { casesOf } from "../definition/expressions.js";
import { labelsOf } from "../definition/labels.js";
import { DecisionError } from "../errors.js";
import { present } from "../present/format.js";
import { resultView, targetLine } from "../present/result-view.js";
import type { BatchFormat } from "./batch.js";
import type { ExitCode } from "./exit-codes.js";
import type { StoreFlags } from "./flags.js";
import { addCommonFlags, addDurabilityFlag, addStoreFlags, formatFor, styleFor } from "./flags.js";
import { readContext } from "./input.js";
import type { Io } from "./io.js";
import { note, openWorld, warn, warnOfProblems } from "./world.js";

interface EvaluateFlags extends StoreFlags {
  readonly workflowId?: string;
  readonly stageId?: string;
  readonly sessionId?: string;
  readonly correlationId?: string;
  readonly cache: boolean;
  readonly input?: string;
  readonly inputs?: string;
  readonly explain?: boolean;
  readonly strict?: boolean;
}

/** Beyond these the rest are only counted. */
const shownWarnings = 5;

export type Done = (code: ExitCode) => void;

/** A command that makes decisions, and either records them or not. */
export function addDecideCommand(
  parent: Command,
  io: Io,
  done: Done,
  { name, dryRun }: { readonly name: string; readonly dryRun: boolean },
): Command {
  const command = parent
    .command(name)
    .argument("<id>", "the decision's id")
    .option("--input <json>", "the context: JSON, @file, or - for standard input")
    .option(
      "--inputs <file>",
      "many contexts as JSON lines, from a file or - for standard input; one answer a line",
    )
    .option("--explain", "show what came of every condition")
    .option("--strict", "a condition that cannot be evaluated is an error")
    .option("--workflow-id <id>", "the workflow that asks; recorded")
    .option("--stage-id <id>", "the stage that asks; recorded")
    .option("--session-id <id>", "the session that asks; recorded")
    .option("--correlation-id <id>", "what ties this to other systems' logs; recorded")
    .option("--no-cache", "evaluate even if the answer is cached");
  addDurabilityFlag(addStoreFlags(command));
  return addCommonFlags(command, ["target"])
    .addHelpText("after", examplesFor(name))
    .action(async (id: string, flags: EvaluateFlags) => {
      const ask = flags.inputs === undefined ? decideOne : decideMany;
      done(await ask(id, flags, io, dryRun));
    });
}

function examplesFor(name: string): string {
  return `
Examples:
  $ agent-33 decision ${name} decision-quality-gate --input '{"artifact": {"quality_score": 0.9}}'
  $ agent-33 decision ${name} decision-quality-gate --input @context.json --explain
  $ next=$(agent-33 decision ${name} decision-quality-gate --input - --format target < context.json)
  $ agent-33 decision ${name} decision-ab-prompt-variant --inputs requests.jsonl > answers.jsonl`;
}

async function decideOne(id: string, flags: EvaluateFlags, io: Io, dryRun: boolean): Promise<ExitCode> {
  if (flags.input === undefined) {
    throw new DecisionError("usage", "the context is missing", {
      hint: "give it with --input JSON, --input @file or --input -; many at once with --inputs FILE",
    });
  }
  const format = formatFor(flags, io, { answer: "one", more: ["target"] });
  const context = readContext(flags.input, io);
  const world = await openWorld(flags, io);
  const startedAt = stopwatch();
  const result = await world.decide({ ...requestFor(id, flags, dryRun), context });
  if (flags.verbose) note(io, `decided in ${(stopwatch() - startedAt).toFixed(1)} ms`);
  if (format === "target") io.out.write(`${targetLine(result)}\n`);
  else {
    const view = resultView(result, { explain: flags.explain ?? false, cases: await casesFor(id, world) });
    io.out.write(await present(view, format, await styleFor(flags, io)));
  }
  for (const warning of result.warnings.slice(0, shownWarnings)) warn(flags, io, warning);
  const more = result.warnings.length - shownWarnings;
  if (more > 0) {
    const which = flags.explain ? "" : "; --explain shows them all";
    warn(flags, io, `${more} more condition${more === 1 ? "" : "s"} could not be evaluated${which}`);
  }
  warnOfProblems(flags, io, world.definitions.problems);
  return 0;
}

function requestFor(id: string, flags: EvaluateFlags, dryRun: boolean): Omit<Request, "context"> {
  const { workflowId, stageId, sessionId, correlationId, strict = false, cache } = flags;
  return {
    decision_id: id,
    dry_run: dryRun,
    strict,
    no_cache: !cache,
    ...(workflowId !== undefined && { workflow_id: workflowId }),
    ...(stageId !== undefined && { stage_id: stageId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
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

async function decideMany(id: string, flags: EvaluateFlags, io: Io, dryRun: boolean): Promise<ExitCode> {
  if (flags.input !== undefined) {
    throw new DecisionError("usage", "--input and --inputs exclude each other", {
      hint: "one context goes with --input, a file of them, one a line, with --inputs",
    });
  }
  const format = batchFormat(flags, io);
  const world = await openWorld(flags, io);
  await world.definitions.find(id);
  warnOfProblems(flags, io, world.definitions.problems);
  const { answerLines } = await import("./batch.js");
  const bad = await answerLines(
    {
      request: requestFor(id, flags, dryRun),
      file: flags.inputs ?? "-",
      format,
      quiet: flags.quiet ?? false,
    },
    world,
    io,
  );
  return bad > 0 ? 1 : 0;
}

/** JSON lines on a terminal too: a table would have to know all lines before it could show one. */
function batchFormat(flags: EvaluateFlags, io: Io): BatchFormat {
  const format = formatFor(flags, io, { answer: "many", more: ["target"] });
  if (format === "target" || format === "plain" || format === "jsonl") return format;
  if (format === "json" || flags.format === undefined) return "jsonl";
  throw new DecisionError("usage", `--inputs cannot be answered as \`${format}\``, {
    hint: "choose jsonl, plain or target",
  });
}
