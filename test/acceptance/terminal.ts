import { spawnSync } from "node:child_process";
import { execa } from "execa";
import { cleanEnvironment } from "./command.js";

/** util-linux' `script` gives a command a terminal of its own. */
export const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

/** Why tests at a terminal are skipped, for their names. */
export const noTerminal = hasTerminal
  ? ""
  : " (skipped: there is no `script` command to make a terminal with)";

/** What a person sees who types the command line at a terminal of this width. */
export async function typed(
  commandLine: string,
  { cwd, columns = 100, env = {} }: { cwd: string; columns?: number; env?: Record<string, string> },
): Promise<{ readonly exitCode: number | undefined; readonly screen: string }> {
  const { exitCode, stdout } = await execa(
    "script",
    ["-qec", `stty cols ${columns}\n${commandLine}`, "/dev/null"],
    {
      cwd,
      env: cleanEnvironment({ SHELL: "/bin/bash", ...env }),
      extendEnv: false,
      reject: false,
      stdin: "ignore",
    },
  );
  return { exitCode, screen: stdout.replaceAll("\r\n", "\n") };
}
