import { resolve } from "node:path";
import type { Command } from "commander";
import { Option } from "commander";
import { version } from "../../version.js";
import type { Io } from "../io.js";
import { approvalSettings, decisionsDirectory } from "../settings.js";
import { note } from "../world.js";

interface LspFlags {
  readonly decisions?: string;
}

export function addLspCommand(program: Command, io: Io): void {
  program
    .command("lsp")
    .option("--decisions <dir>", "directory of definitions, relative to the workspace")
    .addOption(new Option("--stdio", "added by editors; there is no other transport").hideHelp())
    .addOption(new Option("--clientProcessId <pid>", "added by editors").hideHelp())
    .summary("serve an editor (language server, stdio)")
    .description(
      "Run a language server for the definitions of a workspace on standard input and output, until the editor stops " +
        "it: the problems that `decision validate` reports, as you type, completion, documentation, definitions of names " +
        "and an outline.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 lsp
  $ agent-33 lsp --decisions decisions

Editors start it themselves: \`agent-33 help editor\``,
    )
    .action(async (flags: LspFlags) => {
      const { serveEditor } = await import("../../lsp/serve-editor.js");
      const { validatePaths } = await import("../validate-paths.js");
      if (io.stdin.isTerminal) note(io, "waiting for an editor on standard input");
      serveEditor({
        version,
        input: process.stdin,
        output: process.stdout,
        onInvalidInput: ({ message }) => {
          io.err.write(`error: ${message}\nhint: restart the language server in the editor\n`);
        },
        openDirectory(workspace = io.cwd) {
          // The paths of project settings are relative to the workspace, which editors need not start commands in.
          process.chdir(workspace);
          const here = { ...io, cwd: workspace };
          const directory = resolve(workspace, decisionsDirectory(flags.decisions, here).value);
          return {
            directory,
            check: async (unsaved) => {
              const approval = approvalSettings({}, here);
              return (await validatePaths([directory], approval, unsaved)).problems;
            },
          };
        },
      });
    });
}
