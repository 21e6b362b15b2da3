import type { Command } from "commander";
import type { Done } from "../decide-command.js";
import { addDecideCommand } from "../decide-command.js";
import type { Io } from "../io.js";

export function addEvaluateCommand(parent: Command, io: Io, done: Done): void {
  addDecideCommand(parent, io, done, { name: "evaluate", dryRun: false })
    .summary("make a decision")
    .description("Evaluate a decision in a context, record it, and print the target and the reason.");
}
