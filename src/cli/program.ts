import { Command } from "commander";
import { version } from "../version.js";
import { addCompletionCommand } from "./commands/completion.js";
import { addDryRunCommand, addEvaluateCommand } from "./commands/evaluate.js";
import { addHelpCommand } from "./commands/help.js";
import { addListCommand } from "./commands/list.js";
import { addNewCommand } from "./commands/new.js";
import { addSchemaCommand } from "./commands/schema.js";
import { addShowCommand } from "./commands/show.js";
import { addValidateCommand } from "./commands/validate.js";
import type { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";

/** The whole command line; building it reads nothing and writes nothing. */
export function buildProgram(io: Io, done: (code: ExitCode) => void): Command {
  const program = new Command("agent-33")
    .description("Decisions of unattended agents and workflows, as code.")
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out.write(text), writeErr: () => undefined })
    .configureHelp({ helpWidth: 100 })
    .helpCommand(false)
    .addHelpText("after", "\nTopics: agent-33 help environment | exit-codes | expressions | formatting");

  const decision = program.command("decision").summary("make, define and check decisions").helpCommand(false);
  decision.description("Makes, defines and checks decisions.");
  decision.commandsGroup("Decide:");
  addEvaluateCommand(decision, io, done);
  addDryRunCommand(decision, io, done);
  decision.commandsGroup("Define:");
  addListCommand(decision, io);
  addShowCommand(decision, io);
  addValidateCommand(decision, io, done);
  addNewCommand(decision, io);
  addSchemaCommand(decision, io);

  addCompletionCommand(program, io);
  addHelpCommand(program, io);
  return program;
}
