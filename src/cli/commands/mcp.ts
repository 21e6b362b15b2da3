import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import type { Scope } from "../../serve/auth/authenticate.js";
import { scopes } from "../../serve/auth/authenticate.js";
import { didYouMean } from "../../text.js";
import { version } from "../../version.js";
import type { ExitCode } from "../exit-codes.js";
import type { DecideFlags } from "../flags.js";
import { addApprovalFlag, addDurabilityFlag, addStoreFlags, addUnknownToolsFlag } from "../flags.js";
import type { Io } from "../io.js";
import { openReloadingWorld, openServerLog } from "../server-world.js";
import { note } from "../world.js";

export function addMcpCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("mcp")
    .option("--scopes <list>", `offer only the tools of these scopes: ${scopes.join(", ")} (default: all)`)
    .option("--decisions <dir>", "directory of definitions");
  addApprovalFlag(addUnknownToolsFlag(addDurabilityFlag(addStoreFlags(command))))
    .option("-q, --quiet", "log errors only")
    .option("-v, --verbose", "print timings and the sources of settings")
    .summary("serve agents over MCP (stdio)")
    .description(
      "Run a server for the Model Context Protocol on standard input and output, until the input ends. Its tools " +
        "evaluate decisions, check tool calls and read records; every action with a gate is a tool of its own. Calls and " +
        "warnings are logged to standard error.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision mcp
  $ agent-33 decision mcp --decisions decisions --store .agent-33
  $ agent-33 decision mcp --scopes decide
  $ claude mcp add agent-33 -- agent-33 decision mcp \\
      --decisions /path/to/decisions`,
    )
    .action(async (flags: Omit<McpFlags, "color">) => {
      const allFlags = { ...flags, color: false };
      const offered = parseScopes(flags.scopes);
      const log = openServerLog(flags.quiet ?? false);
      const world = await openReloadingWorld(allFlags, io, { log });
      if (io.stdin.isTerminal && !flags.quiet) note(io, "waiting for an MCP client on standard input");
      const { serveStdio } = await import("../../serve/mcp/stdio.js");
      await serveStdio({
        world: () => world.current,
        subscribe: world.subscribe,
        log: ({ level, ...entry }) => log.log(level, "mcp", entry),
        version,
        scopes: offered,
      });
      await world.stop();
      await world.current.close();
      await log.flush();
      done(0);
    });
}

interface McpFlags extends DecideFlags {
  readonly scopes?: string;
}

/** Parses a list of scopes, separated by commas or spaces; undefined: all. */
function parseScopes(text: string | undefined): readonly Scope[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  const unknown = names.find((name) => !scopes.some((scope) => scope === name));
  if (names.length > 0 && unknown === undefined) return scopes.filter((scope) => names.includes(scope));
  const problem = unknown === undefined ? "--scopes is empty" : `unknown scope \`${unknown}\``;
  throw new DecisionError("usage", problem, {
    hint: didYouMean(unknown ?? "", scopes) ?? `use some of ${scopes.join(", ")}, such as --scopes decide`,
  });
}
