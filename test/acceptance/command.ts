import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll } from "vitest";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const bin = join(root, "bin/agent-33.js");
export const samples = join(root, "decisions");

export interface Ran {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** For all files that a worker runs; it goes with the folder of all tests. */
const cache = mkdtempSync(join(tmpdir(), "agent-33-cache-"));

/** The environment of a user who has configured nothing. */
export function cleanEnvironment(
  more: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, AGENT33_HOME: join(cache, "home"), AGENT33_CACHE: cache, TERM: "xterm", ...more };
}

/** A cache of one's own but for the machine code of the commands: to compile that anew is two thirds of a run. */
export function newCache(directory: string): string {
  const code = join(cache, "code");
  mkdirSync(code, { recursive: true, mode: 0o700 });
  mkdirSync(directory, { mode: 0o700 });
  cpSync(code, join(directory, "code"), { recursive: true });
  return directory;
}

/** Runs the built command as a script would. */
export async function run(
  args: readonly string[],
  { cwd = root, input = "", env = {} }: RunOptions = {},
): Promise<Ran> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [bin, ...args], {
    cwd,
    input,
    env: cleanEnvironment(env),
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
  });
  return { exitCode, stdout, stderr };
}

/** A directory that is gone after the tests of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "agent-33-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
