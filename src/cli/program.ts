import type { OutputConfiguration } from "commander";
import { Command } from "commander";
import { oneLine } from "../text.js";
import { version } from "../version.js";
import type { ExitCode } from "./exit-codes.js";
import type { CommonFlags } from "./flags.js";
import { programFlags } from "./flags.js";
import type { Io } from "./io.js";
import { helpWidth } from "./io.js";

/** Output settings for commander, which would otherwise load `process.stdout`: that takes milliseconds. */
function outputOf(io: Io): OutputConfiguration {
  const width = (): number => Math.min(helpWidth(io), 100);
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

/** Loads a command when it is needed, so that a run initialises the modules of one command only. */
type LoadCommand = () => Promise<AddCommand>;

const groups: readonly {
  readonly title: string;
  readonly commands: Readonly<Record<string, LoadCommand>>;
}[] = [
  {
    title: "Decide:",
    commands: {
      evaluate: async () => (await import("./commands/evaluate.js")).addEvaluateCommand,
      "dry-run": async () => (await import("./commands/dry-run.js")).addDryRunCommand,
      check: async () => (await import("./commands/check.js")).addCheckCommand,
      result: async () => (await import("./commands/result.js")).addResultCommand,
      gate: async () => (await import("./commands/gate.js")).addGateCommand,
    },
  },
  {
    title: "Define:",
    commands: {
      list: async () => (await import("./commands/list.js")).addListCommand,
      show: async () => (await import("./commands/show.js")).addShowCommand,
      validate: async () => (await import("./commands/validate.js")).addValidateCommand,
      test: async () => (await import("./commands/test.js")).addTestCommand,
      analyze: async () => (await import("./commands/analyze.js")).addAnalyzeCommand,
      compare: async () => (await import("./commands/compare.js")).addCompareCommand,
      fmt: async () => (await import("./commands/fmt.js")).addFmtCommand,
      new: async () => (await import("./commands/new.js")).addNewCommand,
      schema: async () => (await import("./commands/schema.js")).addSchemaCommand,
      graph: async () => (await import("./commands/graph.js")).addGraphCommand,
      keygen: async () => (await import("./commands/keygen.js")).addKeygenCommand,
      approve: async () => (await import("./commands/approve.js")).addApproveCommand,
      retire: async () => (await import("./commands/retire.js")).addRetireCommand,
      table: async () => (await import("./commands/table.js")).addTableCommand,
      diff: async () => (await import("./commands/diff.js")).addDiffCommand,
    },
  },
  {
    title: "Audit:",
    commands: {
      log: async () => (await import("./commands/log.js")).addLogCommand,
      explain: async () => (await import("./commands/explain.js")).addExplainCommand,
      distribution: async () => (await import("./commands/distribution.js")).addDistributionCommand,
      lineage: async () => (await import("./commands/lineage.js")).addLineageCommand,
      precedents: async () => (await import("./commands/precedents.js")).addPrecedentsCommand,
      replay: async () => (await import("./commands/replay.js")).addReplayCommand,
      backtest: async () => (await import("./commands/backtest.js")).addBacktestCommand,
      verify: async () => (await import("./commands/verify.js")).addVerifyCommand,
      overrides: async () => (await import("./commands/overrides.js")).addOverridesCommand,
      export: async () => (await import("./commands/export.js")).addExportCommand,
      import: async () => (await import("./commands/import.js")).addImportCommand,
    },
  },
  {
    title: "Run:",
    commands: {
      serve: async () => (await import("./commands/serve.js")).addServeCommand,
      mcp: async () => (await import("./commands/mcp.js")).addMcpCommand,
    },
  },
  {
    title: "Maintain:",
    commands: {
      cache: async () => (await import("./commands/cache.js")).addCacheCommand,
      endpoints: async () => (await import("./commands/endpoints.js")).addEndpointsCommand,
      prune: async () => (await import("./commands/prune.js")).addPruneCommand,
      config: async () => (await import("./commands/config.js")).addConfigCommand,
    },
  },
];

/** The subcommands of `agent-33 decision`. */
export const commandNames: readonly string[] = groups.flatMap(({ commands }) => Object.keys(commands));

const programHelp = `
Examples:
  $ agent-33 init
  $ agent-33 decision list
  $ agent-33 decision evaluate expense-approval \\
      --input '{"expense": {"amount": 40}}'
  $ agent-33 decision explain latest

Help: agent-33 help TOPIC | TYPE | COMMAND
Topics: definitions, editor, expressions, routing, tables, experiments, scored,
  policies, gates, guardrails, enrichment, events, testing, analysis, audit,
  approvals, http, mcp, operations, library, configuration, environment,
  formatting, operators, exit-codes, specifications`;

/** Whether only the program itself is asked about, and not `decision`. */
const isProgramFlag = ([word = "", ...more]: readonly string[]): boolean =>
  more.length === 0 && programFlags.includes(word);

async function warnAboutVariables(io: Io): Promise<void> {
  if (!Object.keys(io.env).some((name) => name.startsWith("AGENT33_"))) return;
  const { warnAboutUnknownVariables } = await import("./settings.js");
  warnAboutUnknownVariables(io.env, (message) => io.err.write(`warning: ${oneLine(message)}\n`));
}

/** Builds the command line: the named command only, or all of them for help and completion. */
export async function buildProgram(
  io: Io,
  done: (code: ExitCode) => void,
  argv: readonly string[] = [],
): Promise<Command> {
  const program = new Command("agent-33")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput(outputOf(io))
    .helpCommand(false);
  const decision = program
    .command("decision")
    .summary("make, define and audit decisions")
    .description("Make, define and audit decisions.")
    .helpCommand(false);
  decision.hook("preAction", async (_, command) => {
    const { quiet = false } = command.opts<Partial<CommonFlags>>();
    if (!quiet) await warnAboutVariables(io);
  });
  const [group, verb = ""] = argv;
  const named =
    group === "decision" ? groups.find(({ commands }) => Object.hasOwn(commands, verb)) : undefined;
  if (named !== undefined) {
    const addCommand = await named.commands[verb]?.();
    addCommand?.(decision, io, done);
    return program;
  }
  program.description("Decisions as code for unattended agents and workflows.").version(version);
  program.addHelpText("after", programHelp);
  if (!isProgramFlag(argv)) {
    for (const { title, commands } of groups) {
      decision.commandsGroup(title);
      for (const load of Object.values(commands)) (await load())(decision, io, done);
    }
  }
  const { addInitCommand } = await import("./commands/init.js");
  addInitCommand(program, io, done);
  const { addCompletionCommand } = await import("./commands/completion.js");
  addCompletionCommand(program, io);
  const { addLspCommand } = await import("./commands/lsp.js");
  addLspCommand(program, io);
  const { addHelpCommand } = await import("./commands/help.js");
  addHelpCommand(program, io);
  return program;
}
