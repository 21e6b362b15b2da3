import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { Io } from "./io.js";
import { parseDocument, stripByteOrderMark } from "./input.js";
import { cacheHome } from "./directories.js";
import { decisionsDirectory, decisionsSetting } from "./settings.js";
import type { ReadyDefinition } from "../decide/find.js";
import type { Library } from "../definition/library.js";
import { sortDiagnostics } from "../definition/diagnostics.js";
import { DecisionError, fileErrorHint } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { filesStamp, findFiles, isTestFile } from "../store/definition-directory.js";
import type { OpenedDefinitions, OpenedTests } from "../store/definitions.js";
import { openDefinitions, openTests } from "../store/definitions.js";
import { checkCases } from "../testing/check-cases.js";
import type { ReadTestData, TestCase, TestFile, TestFinding } from "../testing/test-cases.js";
import { expandTests } from "../testing/test-cases.js";
import { version } from "../version.js";

/** Tests of the decisions of one directory, ready to run. */
export interface OpenedSuite {
  readonly directory: string;
  readonly definitions: OpenedDefinitions;
  readonly cases: readonly TestCase[];
  /** The definitions that the cases test, by id. */
  readonly tested: ReadonlyMap<string, ReadyDefinition>;
  /** The ids of the decisions that are to be tested. */
  readonly decisions: readonly string[];
  /** Errors in the tests, and in the files that are to be tested. */
  readonly problems: readonly Diagnostic[];
  /** What is probably a mistake in the tests. */
  readonly warnings: readonly Diagnostic[];
  /** Errors in other files. */
  readonly ignored: readonly Diagnostic[];
}

/** A directory of definitions, and the paths of the tests. */
export interface SuitePaths {
  readonly directory: string;
  /** Files and folders; empty: the whole directory. */
  readonly only: readonly string[];
}

/**
 * Returns the directories of definitions that belong to the paths. It is the configured directory for paths within it,
 * and for all paths if a flag names it; for others the path itself, or the folder of a file.
 */
export function suitesOf(paths: readonly string[], flag: string | undefined, io: Io): readonly SuitePaths[] {
  if (paths.length === 0) return [{ directory: decisionsDirectory(flag, io).value, only: [] }];
  const configured = decisionsSetting(flag, io)?.value;
  const suites = new Map<string, string[]>();
  for (const path of paths) {
    const folder = isFolder(path) ? path : dirname(path);
    const isConfigured = configured !== undefined && (flag !== undefined || isWithin(path, configured));
    const directory = isConfigured ? configured : folder;
    suites.set(directory, [...(suites.get(directory) ?? []), path]);
  }
  return [...suites].map(([directory, only]) => ({ directory, only }));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? `no such file or directory: \`${path}\`` : `cannot read \`${path}\`: ${message}`;
    throw new DecisionError("usage", reason, { cause: error });
  }
}

function isWithin(path: string, folder: string): boolean {
  const [inner, outer] = [realPathOf(path), realPathOf(folder)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Opens the tests in the paths, and those of the decisions in the paths. Calls back before it reads data of tests. */
export async function openSuite(
  { directory, only }: SuitePaths,
  io: Io,
  onData?: (path: string) => void,
): Promise<OpenedSuite> {
  const options = { cacheHome: cacheHome(io.env), version };
  const definitions = await openDefinitions({ directory, ...options });
  const elsewhere = only.filter((path) => !isWithin(path, directory));
  const opened: OpenedTests[] = [definitions, await openTests({ directory, ...options })];
  for (const path of elsewhere) opened.push(await openTests({ ...rootOf(path), ...options }));

  const isSelected = (file: string): boolean =>
    only.length === 0 || only.some((path) => isWithin(file, path));
  const selectedIds = idsIn(definitions, isSelected);
  const data = new Set<string>();
  const readNoting: ReadTestData = (testFile, path) => {
    onData?.(join(dirname(testFile), path));
    data.add(realPathOf(join(dirname(testFile), path)));
    return readData(testFile, path);
  };
  const files = await testFilesIn(opened);
  const expanded = expandAll(files, readNoting);
  const cases = expanded
    .flatMap((each) => each.cases)
    .filter(({ file, decision }) => isSelected(file) || selectedIds.has(decision));
  const findings = expanded.flatMap((each) => each.findings).filter(({ file }) => isSelected(file));
  const checked = await checkCases(cases, { definitions });

  const broken = [
    ...definitions.diagnostics,
    ...definitions.files.flatMap(({ testDiagnostics = [] }) => testDiagnostics),
    ...opened.slice(1).flatMap((each) => each.files.flatMap(({ diagnostics }) => diagnostics)),
  ].filter(({ file }) => !data.has(realPathOf(file)));
  const located = await locate([...findings, ...checked.findings]);
  const isNamed = (file: string): boolean => only.some((path) => realPathOf(path) === realPathOf(file));
  const isProblem = ({ file }: Diagnostic): boolean =>
    isNamed(file) || (isSelected(file) && mayHaveTests(file));
  return {
    directory,
    definitions,
    cases,
    tested: checked.definitions,
    decisions: [...new Set([...selectedIds, ...checked.definitions.keys()])],
    problems: unique([
      ...broken.filter(isProblem),
      ...checked.problems,
      ...located.filter(({ severity }) => severity === "error"),
    ]),
    warnings: unique(located.filter(({ severity }) => severity === "warning")),
    ignored: broken.filter((each) => !isProblem(each)),
  };
}

/** Returns what is wrong with tests, for `validate`. Of a part of a directory, other decisions are not known. */
export async function findTestProblems(
  files: readonly TestFile[],
  definitions: Library,
  { isPart, readFile }: { readonly isPart: boolean; readonly readFile: (path: string) => Uint8Array },
): Promise<readonly Diagnostic[]> {
  const expanded = expandAll(files, readData);
  const known = new Set([...definitions.ids, ...definitions.broken]);
  const cases = expanded
    .flatMap((each) => each.cases)
    .filter(({ decision }) => !isPart || known.has(decision));
  const checked = await checkCases(cases, { definitions });
  const findings = expanded.flatMap((each) => each.findings);
  return locate([...findings, ...checked.findings], readFile);
}

interface ExpandedFile {
  readonly cases: readonly TestCase[];
  readonly findings: readonly (TestFinding & { readonly file: string })[];
}

const expandAll = (files: readonly TestFile[], read: ReadTestData): readonly ExpandedFile[] =>
  files.map((each) => {
    const { cases, findings } = expandTests(each, read);
    return { cases, findings: findings.map((finding) => ({ ...finding, file: each.file })) };
  });

const readData: ReadTestData = (testFile, path) => readJson(join(dirname(testFile), path));

/** Returns a text that changes whenever a file does that may belong to a suite. */
export const suiteStamp = ({ directory, only }: SuitePaths): string =>
  [{ directory, onlyFile: undefined }, ...only.filter((path) => !isWithin(path, directory)).map(rootOf)]
    .flatMap((root) => [
      findFiles("definitions", root.directory),
      findFiles("tests", root.directory, root.onlyFile),
    ])
    .map(filesStamp)
    .join("\n");

const rootOf = (path: string): { readonly directory: string; readonly onlyFile?: string } =>
  isFolder(path)
    ? { directory: path }
    : {
        directory: dirname(path),
        onlyFile: path.slice(dirname(path) === "." ? 0 : dirname(path).length + 1),
      };

function idsIn({ files }: OpenedDefinitions, isSelected: (file: string) => boolean): ReadonlySet<string> {
  const selected = files.filter(({ file }) => isSelected(file));
  return new Set(selected.flatMap(({ definitions }) => definitions.map(({ id }) => id)));
}

async function testFilesIn(opened: readonly OpenedTests[]): Promise<readonly TestFile[]> {
  const found = await Promise.all(
    opened.flatMap(({ files, testsIn }) =>
      files.map(async ({ file }) => ({ file, tests: await testsIn(file) })),
    ),
  );
  return [...new Map(found.map((each) => [realPathOf(each.file), each])).values()];
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DecisionError("input_invalid", `cannot read \`${path}\`: ${message}`, {
      hint:
        code === "ENOENT"
          ? "@ must be followed by a path, relative to the file of the test"
          : fileErrorHint(error, path),
      cause: error,
    });
  }
  return parseDocument(stripByteOrderMark(text), `\`${path}\``);
}

/** Whether an invalid file may contain tests or decisions, and not only data of other programs. */
function mayHaveTests(file: string): boolean {
  if (isTestFile(file)) return true;
  try {
    return /(?<![\w-])(?:decision|tests)["']?[ \t]*:/.test(readFileSync(file, "utf8"));
  } catch {
    return true;
  }
}

/** Returns where the findings are in their files. */
async function locate(
  findings: readonly (TestFinding & { readonly file: string })[],
  readFile: (path: string) => Uint8Array = readFileSync,
): Promise<readonly Diagnostic[]> {
  if (findings.length === 0) return [];
  const { locateInFile } = await import("../definition/read-definitions.js");
  const files = new Set(findings.map(({ file }) => file));
  return [...files].flatMap((file) =>
    locateInFile(
      file,
      readFile(file),
      findings.filter((each) => each.file === file),
    ),
  );
}

const unique = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  sortDiagnostics([...new Map(diagnostics.map((each) => [JSON.stringify(each), each])).values()]);
