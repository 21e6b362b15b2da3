import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { decisionTypes } from "../../definition/decision-types.js";
import { schemaFile, starter } from "../../definition/starter.js";
import { DecisionError } from "../../errors.js";
import type { DecisionType } from "../../model/definition.js";
import { didYouMean } from "../../text.js";
import { makeDirectory } from "../../store/files.js";
import { version } from "../../version.js";
import type { Io } from "../io.js";
import { decisionsSetting } from "../settings.js";

interface NewFlags {
  readonly decisions?: string;
  readonly output?: string;
}

export function addNewCommand(parent: Command, io: Io): void {
  parent
    .command("new")
    .argument("<type>", decisionTypes.join(", "))
    .argument("<id>", "id of the decision")
    .option("--decisions <dir>", "directory of definitions")
    .option("--output <file>", "file to write instead of DIR/ID.yaml; - for standard output")
    .summary("create a definition from a template")
    .description(
      "Create a valid, commented definition and print its path. Existing files are not overwritten.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision new switch artifact-router
  $ agent-33 decision new weighted prompt-test --output -`,
    )
    .action(async (type: string, id: string, flags: NewFlags) => {
      const [checkedType, checkedId] = [parseType(type), parseId(id)];
      const directory = decisionsSetting(flags.decisions, io)?.value ?? "decisions";
      const isPrinted = flags.output === "-";
      const path = isPrinted || flags.output === undefined ? join(directory, `${id}.yaml`) : flags.output;
      const folder = dirname(path);
      const hasSchema = existsSync(join(folder, schemaFile));
      const text = starter(checkedType, checkedId, { path: folder, hasSchema });
      if (isPrinted) {
        io.out.write(text);
        return;
      }
      await assertNotDefined(id, directory);
      writeNew(path, text);
      io.out.write(`${path}\n`);
    });
}

function parseType(type: string): DecisionType {
  const found = decisionTypes.find((each) => each === type);
  if (found !== undefined) return found;
  const longer =
    type.length < 3 ? undefined : decisionTypes.find((each) => each.includes(type.toLowerCase()));
  throw new DecisionError("usage", `unknown decision type \`${type}\``, {
    hint: didYouMean(longer ?? type, decisionTypes) ?? `choose one of ${decisionTypes.join(", ")}`,
  });
}

function parseId(id: string): string {
  if (/^[A-Za-z0-9._-]{1,128}$/.test(id) && !/^\.+$/.test(id)) return id;
  throw new DecisionError("usage", `invalid id \`${id}\``, {
    hint: "use up to 128 letters, digits, `.`, `_` and `-`",
  });
}

/** Throws if the id is already defined: duplicate ids make both definitions invalid. */
async function assertNotDefined(id: string, directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  const { openDefinitions } = await import("../../store/definitions.js");
  const library = await openDefinitions({ directory, cacheHome: undefined, version });
  if (!library.ids.includes(id)) return;
  const { file, line } = await library.findForInspection(id);
  throw new DecisionError("file_exists", `\`${id}\` is already defined in ${file}:${line}`, {
    hint: "choose another id",
  });
}

function writeNew(path: string, text: string): void {
  try {
    makeDirectory(dirname(path));
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      throw new DecisionError("file_exists", `\`${path}\` already exists`, {
        hint: "choose another id, or another file with --output FILE",
        cause: error,
      });
    }
    throw new DecisionError("file_unwritable", `cannot write \`${path}\`: ${message}`, { cause: error });
  }
}
