import { main } from "../../src/cli/main.js";
import type { Ran } from "../acceptance/command.js";
import { cleanEnvironment, root } from "../acceptance/command.js";
import { fakeIo } from "./fake-io.js";

interface RunOptions {
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a command in this process, with the environment of a user who has configured nothing. One at a time: this
 * process is in the command's directory meanwhile.
 */
export async function runInProcess(
  args: readonly string[],
  { cwd = root, input = "", env = {} }: RunOptions = {},
): Promise<Ran> {
  const io = fakeIo({ cwd, stdin: input, env: cleanEnvironment(env) as Record<string, string> });
  const before = process.cwd();
  process.chdir(cwd);
  try {
    const exitCode = await main(args, io);
    return { exitCode, stdout: io.written.out, stderr: io.written.err };
  } finally {
    process.chdir(before);
  }
}
