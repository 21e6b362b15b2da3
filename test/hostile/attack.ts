import { execa } from "execa";
import { expect } from "vitest";
import type { Ran } from "../acceptance/command.js";
import { bin, cleanEnvironment, root } from "../acceptance/command.js";
import { runInProcess } from "../cli/in-process.js";
import { isThorough } from "../thoroughness.js";

/** A command ends within a second of its start-up; the rest is for a machine that is busy with other things. */
export const longestRun = 3_000;

const crash = /this is a bug|^\s+at .+:\d+|node:internal|FATAL ERROR|Maximum call stack|heap out of memory/m;

/** What a terminal would obey instead of show. */
export const terminalCommands = /[^\P{Cc}\n\t]|\p{Bidi_Control}/u;

interface AttackOptions {
  readonly exitCode: number | readonly number[];
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** The user to run as. */
  readonly uid?: number;
  /** Whether `npm test` starts a process too, because the command could wait forever. */
  readonly spawned?: boolean;
}

/**
 * Runs a command and expects one of these exit codes, no stack trace and nothing that a terminal would obey. The
 * torture suite runs the built command, which has to end in time.
 */
export async function attack(
  args: readonly string[],
  { exitCode, uid, spawned = uid !== undefined, cwd = root, ...options }: AttackOptions,
): Promise<Ran> {
  const run =
    isThorough || spawned
      ? runInTime(args, { ...options, cwd, uid })
      : runInProcess(args, { ...options, cwd });
  const { stdout, stderr, ...ran } = await run;
  const allowed = [exitCode].flat();
  expect({
    crash: crash.exec(stderr)?.[0] ?? crash.exec(stdout.slice(0, 100_000))?.[0],
    commands: terminalCommands.exec(stderr)?.[0],
    exitCode: allowed.includes(ran.exitCode ?? -1)
      ? "as expected"
      : `${ran.exitCode}: ${stderr.slice(0, 500)}`,
  }).toEqual({ crash: undefined, commands: undefined, exitCode: "as expected" });
  return { exitCode: ran.exitCode, stdout, stderr };
}

/** Runs the built command, which has to end by itself within the time. */
async function runInTime(
  args: readonly string[],
  {
    cwd,
    input = "",
    env = {},
    uid,
  }: Omit<AttackOptions, "exitCode" | "uid" | "cwd"> & {
    readonly cwd: string;
    readonly uid: number | undefined;
  },
): Promise<Ran> {
  const ran = await execa(process.execPath, [bin, ...args], {
    cwd,
    input,
    env: cleanEnvironment(env),
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    timeout: longestRun,
    killSignal: "SIGKILL",
    ...(uid !== undefined && { uid, gid: uid }),
  });
  expect(ran.timedOut ? `not within ${longestRun} ms` : (ran.signal ?? "by itself")).toBe("by itself");
  return { exitCode: ran.exitCode, stdout: ran.stdout, stderr: ran.stderr };
}

/** The same for a command that has nothing to answer. */
export async function refused(args: readonly string[], options: AttackOptions): Promise<Ran> {
  const ran = await attack(args, options);
  expect(ran.stdout).toBe("");
  expect(ran.stderr).toMatch(/^error: \S/m);
  return ran;
}
