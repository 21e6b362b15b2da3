import { execa } from "execa";
import { expect } from "vitest";
import type { Ran } from "../acceptance/command.js";
import { bin, cleanEnvironment, root } from "../acceptance/command.js";

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
}

/** Runs the built command and sees it end by itself, in time, with this exit code and without a word that is not ours. */
export async function attack(
  args: readonly string[],
  { exitCode, cwd = root, input = "", env = {}, uid }: AttackOptions,
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
  const { stdout, stderr } = ran;
  const allowed = [exitCode].flat();
  expect({
    ended: ran.timedOut ? `not within ${longestRun} ms` : (ran.signal ?? "by itself"),
    crash: crash.exec(stderr)?.[0] ?? crash.exec(stdout.slice(0, 100_000))?.[0],
    commands: terminalCommands.exec(stderr)?.[0],
    exitCode: allowed.includes(ran.exitCode ?? -1)
      ? "as expected"
      : `${ran.exitCode}: ${stderr.slice(0, 500)}`,
  }).toEqual({ ended: "by itself", crash: undefined, commands: undefined, exitCode: "as expected" });
  return { exitCode: ran.exitCode, stdout, stderr };
}

/** The same for a command that has nothing to answer. */
export async function refused(args: readonly string[], options: AttackOptions): Promise<Ran> {
  const ran = await attack(args, options);
  expect(ran.stdout).toBe("");
  expect(ran.stderr).toMatch(/^error: \S/m);
  return ran;
}
