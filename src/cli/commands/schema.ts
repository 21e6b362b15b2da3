import type { Command } from "commander";
import { schema } from "../../definition/schema.js";
import type { Io } from "../io.js";

export function addSchemaCommand(parent: Command, io: Io): void {
  parent
    .command("schema")
    .summary("print the JSON Schema of definition files")
    .description("Print the JSON Schema (draft 7) of definition files, for validation in editors.")
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision schema > decisions/agent-33.schema.json
  Then start your YAML files with
    # yaml-language-server: $schema=./agent-33.schema.json`,
    )
    .action(() => io.out.write(`${JSON.stringify(schema, null, 2)}\n`));
}
