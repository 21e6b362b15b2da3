import type { OutputConfiguration } from "commander";
import { Command } from "commander";
import { version } from "../version.js";
import { addApproveCommand } from "./commands/approve.js";
import { addBacktestCommand } from "./commands/backtest.js";
import { addCacheCommand } from "./commands/cache.js";
import { addCheckCommand } from "./commands/check.js";
import { addCompletionCommand } from "./commands/completion.js";
import { addConfigCommand } from "./commands/config.js";
import { addDiffCommand } from "./commands/diff.js";
import { addDistributionCommand } from "./commands/distribution.js";
import { addDryRunCommand } from "./commands/dry-run.js";
import { addEndpointsCommand } from "./commands/endpoints.js";
import { addEvaluateCommand } from "./commands/evaluate.js";
import { addExplainCommand } from "./commands/explain.js";
import { addExportCommand } from "./commands/export.js";
import { addGateCommand } from "./commands/gate.js";
import { addGraphCommand } from "./commands/graph.js";
import { addHelpCommand } from "./commands/help.js";
import { addKeygenCommand } from "./commands/keygen.js";
import { addLineageCommand } from "./commands/lineage.js";
import { addListCommand } from "./commands/list.js";
import { addLogCommand } from "./commands/log.js";
import { addMcpCommand } from "./commands/mcp.js";
import { addNewCommand } from "./commands/new.js";
import { addOverridesCommand } from "./commands/overrides.js";
import { addPrecedentsCommand } from "./commands/precedents.js";
import { addPruneCommand } from "./commands/prune.js";
import { addReplayCommand } from "./commands/replay.js";
import { addResultCommand } from "./commands/result.js";
import { addRetireCommand } from "./commands/retire.js";
import { addSchemaCommand } from "./commands/schema.js";
import { addServeCommand } from "./commands/serve.js";
import { addShowCommand } from "./commands/show.js";
import { addValidateCommand } from "./commands/validate.js";
import { addVerifyCommand } from "./commands/verify.js";
import type { ExitCode } from "./exit-codes.js";
import { programFlags } from "./flags.js";
import type { Io } from "./io.js";

/** commander would ask `process.stdout` for all of this, and that takes milliseconds to load. */
function outputOf(io: Io): OutputConfiguration {
  const width = (): number => Math.min(io.out.columns, 100);
  return {
    writeOut: (text) => io.out.write(text),
    writeErr: () => undefined,
    getOutHelpWidth: width,
    getErrHelpWidth: width,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  };
}

type AddCommand = (parent: Command, io: Io, done: (code: ExitCode) => void) => void;

const groups: readonly { readonly title: string; readonly commands: Readonly<Record<string, AddCommand>> }[] =
  [
    {
      title: "Decide:",
      commands: {
        evaluate: addEvaluateCommand,
        "dry-run": addDryRunCommand,
        check: addCheckCommand,
        result: addResultCommand,
        gate: addGateCommand,
      },
    },
    {
      title: "Define:",
      commands: {
        list: addListCommand,
        show: addShowCommand,
        validate: addValidateCommand,
        new: addNewCommand,
        schema: addSchemaCommand,
        graph: addGraphCommand,
        keygen: addKeygenCommand,
        approve: addApproveCommand,
        retire: addRetireCommand,
        diff: addDiffCommand,
      },
    },
    {
      title: "Audit:",
      commands: {
        log: addLogCommand,
        explain: addExplainCommand,
        distribution: addDistributionCommand,
        lineage: addLineageCommand,
        precedents: addPrecedentsCommand,
        replay: addReplayCommand,
        backtest: addBacktestCommand,
        verify: addVerifyCommand,
        overrides: addOverridesCommand,
        export: addExportCommand,
      },
    },
    { title: "Run:", commands: { serve: addServeCommand, mcp: addMcpCommand } },
    {
      title: "Keep:",
      commands: {
        cache: addCacheCommand,
        endpoints: addEndpointsCommand,
        prune: addPruneCommand,
        config: addConfigCommand,
      },
    },
  ];

/** The words that may follow `agent-33 decision`. */
export const commandNames: readonly string[] = groups.flatMap(({ commands }) => Object.keys(commands));

const programHelp = `
Examples:
  $ agent-33 decision list
  $ agent-33 decision evaluate decision-quality-gate --input '{"artifact": {"quality_score": 0.9}}'
  $ agent-33 decision explain latest

Help: agent-33 help TOPIC | TYPE | COMMAND. Topics: definitions, expressions, routing, experiments, scored,
  policies, gates, guardrails, enrichment, events, audit, approvals, http, mcp, operations, library,
  configuration, environment, formatting, operators, exit-codes`;

/** Whether only the program itself is asked about, and not what `decision` can do. */
const isProgramFlag = ([word = "", ...more]: readonly string[]): boolean =>
  more.length === 0 && programFlags.includes(word);

/** The command line; building it reads nothing and writes nothing. Where one command is meant, only that is built. */
export function buildProgram(io: Io, done: (code: ExitCode) => void, argv: readonly string[] = []): Command {
  const program = new Command("agent-33")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput(outputOf(io))
    .helpCommand(false);
  const decision = program
    .command("decision")
    .summary("make, define and audit decisions")
    .description("Makes, defines and audits decisions.")
    .helpCommand(false);
  const [group, verb = ""] = argv;
  const meant =
    group === "decision" ? groups.find(({ commands }) => Object.hasOwn(commands, verb)) : undefined;
  if (meant !== undefined) {
    meant.commands[verb]?.(decision, io, done);
    return program;
  }
  program.description("Decisions of unattended agents and workflows, as code.").version(version);
  program.addHelpText("after", programHelp);
  if (!isProgramFlag(argv)) {
    for (const { title, commands } of groups) {
      decision.commandsGroup(title);
      for (const add of Object.values(commands)) add(decision, io, done);
    }
  }
  addCompletionCommand(program, io);
  addHelpCommand(program, io);
  return program;
}
