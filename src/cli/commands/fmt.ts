import {
  accessSync,
  chmodSync,
  constants,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import type { Command } from "commander";
import { diagnosticAt } from "../../definition/diagnostics.js";
import { DecisionError } from "../../errors.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { describeDiagnostic, githubAnnotations } from "../../present/diagnostics-view.js";
import type { View } from "../../present/format.js";
import { present } from "../../present/format.js";
import { plural } from "../../present/text.js";
import { wrapMessages } from "../../present/text-width.js";
import type { FoundFile } from "../../store/definition-directory.js";
import { displayPath, findFiles } from "../../store/definition-directory.js";
import { oneLine } from "../../text.js";
import type { ExitCode } from "../exit-codes.js";
import type { AllowEmptyFlag, CommonFlags } from "../flags.js";
import { addAllowEmptyFlag, addCommonFlags, failUnlessAllowed, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { decisionsDirectory } from "../settings.js";
import { warn } from "../world.js";

interface FmtFlags extends CommonFlags, AllowEmptyFlag {
  readonly check?: boolean;
}

export function addFmtCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("fmt")
    .argument("[path...]", "files or directories (default: the directory of definitions)")
    .option("--check", "change nothing; exit with code 6 if a file is not formatted");
  addCommonFlags(addAllowEmptyFlag(command), ["github"])
    .summary("format definition files")
    .description(
      "Write definition files in one style: keys in the order of the schema, two spaces per level, and lists and maps " +
        "in brackets on one line where they fit. Comments, values and quotes stay as they are, so answers and hashes " +
        "do not change. Prints the files that changed. A file with errors is reported (exit code 3) and not changed.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision fmt
  $ agent-33 decision fmt decisions/expense-approval.yaml
  $ agent-33 decision fmt --check --format github`,
    )
    .action(async (paths: readonly string[], flags: FmtFlags) => {
      const format = formatFor(flags, io, { answer: "one", more: ["github"] });
      const searched = paths.length > 0 ? paths : [decisionsDirectory(flags.decisions, io).value];
      const files = filesIn(searched);
      const isCheck = flags.check ?? false;
      if (files.length === 0 && isCheck)
        failUnlessAllowed(flags, `no definition files in ${searched.join(", ")}`);
      if (files.length === 0) warn(flags, io, `no definition files found in ${searched.join(", ")}`);
      const report = await formatFiles(files, isCheck);
      if (format === "github") io.out.write(githubAnnotations(annotations(report), io.cwd));
      else io.out.write(await present(reportView(report), format, await styleFor(flags, io)));
      done(report.problems.length > 0 ? 3 : isCheck && report.changed.length > 0 ? 6 : 0);
    });
}

interface DefinitionPath {
  readonly found: FoundFile;
  /** As the user would write it. */
  readonly shown: string;
}

/** Finds the files that `validate` reads, each once. */
function filesIn(paths: readonly string[]): readonly DefinitionPath[] {
  const files = new Map<string, DefinitionPath>();
  for (const path of paths) {
    const directory = isDirectory(path) ? path : dirname(path);
    const only = directory === path ? undefined : basename(path);
    const tests = only === undefined ? findFiles("tests", directory).files : [];
    for (const found of [...findFiles("definitions", directory, only).files, ...tests]) {
      const shown = displayPath(directory, found.path);
      const key = found.unusableBecause === undefined ? realpathSync(shown) : shown;
      if (!files.has(key)) files.set(key, { found, shown });
    }
  }
  return [...files.values()];
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? `no such file or directory: \`${path}\`` : `cannot read \`${path}\`: ${message}`;
    throw new DecisionError("usage", reason, { cause: error });
  }
}

interface FormatReport {
  readonly isCheck: boolean;
  readonly files: number;
  /** The files that were changed or, with --check, would be. */
  readonly changed: readonly string[];
  readonly problems: readonly Diagnostic[];
}

async function formatFiles(files: readonly DefinitionPath[], isCheck: boolean): Promise<FormatReport> {
  const changed: string[] = [];
  const problems: Diagnostic[] = [];
  for (const { found, shown } of files) {
    const content = found.unusableBecause === undefined ? readFileSync(shown) : undefined;
    const formatted = await formatContent(shown, content ?? new Error(found.unusableBecause));
    if (typeof formatted !== "string") problems.push(...formatted);
    else if (content !== undefined && !content.equals(Buffer.from(formatted))) {
      if (!isCheck) replaceFile(realpathSync(shown), { content, by: formatted });
      changed.push(shown);
    }
  }
  return { isCheck, files: files.length, changed, problems };
}

/** Replaces the content of a file at once and keeps its mode, unless it was changed since it was read. */
function replaceFile(path: string, { content, by }: { readonly content: Buffer; readonly by: string }): void {
  const temporary = `${dirname(path)}/.${basename(path)}.${process.pid}.tmp`;
  // A rename needs no permission to write to the file.
  accessSync(path, constants.W_OK);
  try {
    writeFileSync(temporary, by, { flag: "wx" });
    chmodSync(temporary, statSync(path).mode & 0o7777);
    if (!readFileSync(path).equals(content))
      throw new DecisionError("file_unwritable", `\`${path}\` changed meanwhile`, {
        hint: "run the command again",
      });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Returns the formatted text of a file, or why it cannot be formatted. */
async function formatContent(
  file: string,
  content: Uint8Array | Error,
): Promise<string | readonly Diagnostic[]> {
  const { decodeDefinitions } = await import("../../definition/read-definitions.js");
  const text = content instanceof Error ? content : decodeDefinitions(content);
  if (typeof text !== "string") return [diagnosticAt({ file, line: 1, column: 1 }, text)];
  const { formatDefinitions } = await import("../../definition/formatting/format-definitions.js");
  const formatted = formatDefinitions(text, { isJson: /\.json$/i.test(file) });
  if (formatted.type === "formatted") return formatted.text;
  return formatted.problems.map(({ line, column, ...problem }) =>
    diagnosticAt({ file, line, column }, problem),
  );
}

function annotations({ isCheck, changed, problems }: FormatReport): readonly Diagnostic[] {
  const unformatted = changed.map((file) =>
    diagnosticAt(
      { file, line: 1, column: 1 },
      { message: "the file is not formatted", hint: "run `agent-33 decision fmt`" },
    ),
  );
  return [...(isCheck ? unformatted : []), ...problems];
}

function reportView({ isCheck, files, changed, problems }: FormatReport): View {
  const value = {
    formatted: problems.length === 0 && !(isCheck && changed.length > 0),
    files,
    changed,
    problems,
  };
  return {
    value,
    plain: () => changed.join("\n"),
    table: ({ paint, columns }) => {
      const number = changed.length;
      const unread = new Set(problems.map(({ file }) => file)).size;
      const read = plural(files - unread, "file");
      const verdict = isCheck
        ? number === 0
          ? `${paint("green", "✓")} ${read} formatted`
          : `${paint("red", "✗")} ${number} of ${read} not formatted`
        : `${paint("green", "✓")} ${number} of ${read} changed`;
      const lines = [
        ...(unread > 0 ? [`${paint("red", "✗")} ${plural(unread, "file")} could not be read`] : []),
        ...(unread === 0 || files > unread ? [verdict] : []),
        ...changed.map(oneLine),
        ...(isCheck && number > 0 ? [`${paint("cyan", "hint:")} run \`agent-33 decision fmt\``] : []),
        ...problems.map((each) => describeDiagnostic(each, paint)),
      ];
      return wrapMessages(lines.join("\n"), columns);
    },
  };
}
