import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "../acceptance/command.js";
import { runInProcess } from "../cli/in-process.js";

interface CaseDocument {
  readonly name: string;
  readonly decision: string;
  readonly file: string;
  readonly line: number;
  readonly passed: boolean;
  readonly expected: Readonly<Record<string, unknown>>;
  readonly actual: Readonly<Record<string, unknown>>;
}

/** What `decision test --format json` prints. */
export interface TestDocument {
  readonly passed: number;
  readonly failed: number;
  readonly cases: readonly CaseDocument[];
}

interface Ran {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with definitions and tests, in which commands run. */
export interface TestProject {
  readonly folder: string;
  write(path: string, text: string): void;
  run(...words: readonly string[]): Promise<Ran>;
  /** Runs `decision test` and returns its report. */
  test(...words: readonly string[]): Promise<TestDocument & { readonly exitCode: number | undefined }>;
  /** Runs tests that are not valid, and returns the problems as `file:line:column message (hint)`. */
  problems(...words: readonly string[]): Promise<readonly string[]>;
}

/** Creates a folder with files below `decisions`. */
export function testProject(files: Readonly<Record<string, string>>): TestProject {
  const folder = temporaryDirectory();
  const write = (path: string, text: string): void => {
    const file = join(folder, "decisions", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    // Commands wait for files that have just changed.
    utimesSync(file, 1e9, 1e9);
    utimesSync(dirname(file), 1e9, 1e9);
    utimesSync(join(folder, "decisions"), 1e9, 1e9);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const run = (...words: readonly string[]): Promise<Ran> =>
    runInProcess(["decision", ...words], { cwd: folder, env: { AGENT33_CACHE: "" } });
  return {
    folder,
    write,
    run,
    async test(...words) {
      const { exitCode, stdout, stderr } = await run("test", ...words);
      if (stdout === "") throw new Error(stderr);
      return { exitCode, ...(JSON.parse(stdout) as TestDocument) };
    },
    async problems(...words) {
      const { exitCode, stdout, stderr } = await run("test", "--json", ...words);
      if (exitCode !== 3) throw new Error(`exit code ${String(exitCode)}: ${stdout}${stderr}`);
      const { error } = JSON.parse(stderr) as { error: { details: { problems: readonly Problem[] } } };
      return error.details.problems.map(
        ({ file, line, column, message, hint }) =>
          `${file}:${line}:${column} ${message}${hint === undefined ? "" : ` (${hint})`}`,
      );
    },
  };
}

interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

/** Returns which fields of each failed case differ. */
export const failuresOf = ({ cases }: TestDocument): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    cases
      .filter(({ passed }) => !passed)
      .map(({ name, expected, actual }) => [
        name,
        [...new Set([...Object.keys(expected), "error"])].filter(
          (key) => JSON.stringify(expected[key] ?? null) !== JSON.stringify(actual[key] ?? null),
        ),
      ]),
  );
