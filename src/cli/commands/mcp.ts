import type { Command } from "commander";
import { version } from "../../version.js";
import type { ExitCode } from "../exit-codes.js";
import type { DecideFlags } from "../flags.js";
import { addApprovalFlag, addDurabilityFlag, addStoreFlags } from "../flags.js";
import type { Io } from "../io.js";
import { openReloadingWorld, openServerLog } from "../server-world.js";
import { note } from "../world.js";

export function addMcpCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent.command("mcp").option("--decisions <dir>", "directory of definitions");
  addApprovalFlag(addDurabilityFlag(addStoreFlags(command)))
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
  $ claude mcp add agent-33 -- agent-33 decision mcp \\
      --decisions /path/to/decisions`,
    )
    .action(async (flags: Omit<DecideFlags, "color">) => {
      const allFlags = { ...flags, color: false };
      const log = openServerLog(flags.quiet ?? false);
      const world = await openReloadingWorld(allFlags, io, { log });
      if (io.stdin.isTerminal && !flags.quiet) note(io, "waiting for an MCP client on standard input");
      const { serveStdio } = await import("../../serve/mcp/stdio.js");
      await serveStdio({
        world: () => world.current,
        subscribe: world.subscribe,
        log: ({ level, ...entry }) => log.log(level, "mcp", entry),
        version,
      });
      await world.stop();
      await world.current.close();
      await log.flush();
      done(0);
    });
}
