import { execa } from "execa";
import { bin, cleanEnvironment, root } from "./command.js";

export interface Ended {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stderr: string;
}

/** A command that is being fed by hand. */
export interface LiveStream {
  write(text: string): void;
  /** The next line of its answers, as soon as it is there; undefined after the last. */
  answer(): Promise<string | undefined>;
  /** Reads no further, like a reader that has gone. */
  hangUp(): void;
  kill(signal: NodeJS.Signals): void;
  /** Closes its input. */
  end(): void;
  ended(): Promise<Ended>;
}

export function openStream(words: readonly string[], store: string): LiveStream {
  const child = execa(process.execPath, [bin, "decision", ...words], {
    cwd: root,
    env: cleanEnvironment({ AGENT33_STORE: store }),
    extendEnv: false,
    reject: false,
    buffer: { stdout: false },
    stripFinalNewline: false,
  });
  const answers = child.iterable()[Symbol.asyncIterator]();
  // A command that has ended reads no more.
  child.stdin.on("error", () => undefined);
  return {
    write: (text) => void child.stdin.write(text),
    async answer() {
      const next = await answers.next();
      return next.done === true ? undefined : next.value;
    },
    hangUp: () => child.stdout.destroy(),
    kill: (signal) => void child.kill(signal),
    end: () => void child.stdin.end(),
    async ended() {
      const { exitCode, signal, stderr } = await child;
      return { exitCode, signal, stderr };
    },
  };
}
