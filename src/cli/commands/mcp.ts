import type { Command } from "commander";
import { version } from "../../version.js";
import type { ExitCode } from "../exit-codes.js";
import type { DecideFlags } from "../flags.js";
import { addApprovalFlag, addDurabilityFlag, addStoreFlags } from "../flags.js";
import type { Io } from "../io.js";
import { openReloadingWorld, openServerLog } from "../server-world.js";
import { note } from "../world.js";

export function addMcpCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent.command("mcp").option("--decisions <dir>", "the directory of definitions");
  addApprovalFlag(addDurabilityFlag(addStoreFlags(command)))
    .option("-q, --quiet", "only errors")
    .option("-v, --verbose", "timings, and where settings came from")
    .summary("answer an agent over MCP")
    .description(
      "Answers the agent that starts it in the Model Context Protocol, over standard input and output, until the " +
        "input ends. It can decide, evaluate, check tool calls, and look at what was decided; every action that has " +
        "a gate is a tool of its own. Each call is told on standard error, with its record, and so are warnings.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision mcp
  $ agent-33 decision mcp --decisions decisions --store .agent-33
  $ claude mcp add agent-33 -- agent-33 decision mcp --decisions /path/to/decisions`,
    )
    .action(async (flags: Omit<DecideFlags, "color">) => {
      const given = { ...flags, color: false };
      const log = openServerLog(flags.quiet ?? false);
      const living = await openReloadingWorld(given, io, { log });
      if (io.stdin.isTerminal && !flags.quiet) note(io, "waiting for an MCP client on standard input");
      const { serveStdio } = await import("../../serve/mcp/stdio.js");
      await serveStdio({
        world: () => living.current,
        subscribe: living.subscribe,
        log: ({ level, ...entry }) => log.log(level, "mcp", entry),
        version,
      });
      await living.stop();
      await living.current.close();
      await log.flush();
      done(0);
    });
}
