import type { Command } from "commander";
import type { Done } from "../decide-command.js";
import { addDecideCommand } from "../decide-command.js";
import type { Io } from "../io.js";

export function addDryRunCommand(parent: Command, io: Io, done: Done): void {
  addDecideCommand(parent, io, done, { name: "dry-run", dryRun: true })
    .summary("make a decision without recording it")
    .description("Evaluate a decision like `evaluate`, but do not record it.");
}
