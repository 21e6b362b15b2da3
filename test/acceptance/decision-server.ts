import { spawn } from "node:child_process";
import { bin, cleanEnvironment } from "./command.js";

/** The port that `decision serve` takes unless it is told another, as the pages show it. */
export const servingPort = "3333";

export interface DecisionServer {
  readonly port: number;
  /** Gives its exit code. */
  readonly stop: () => Promise<number | null>;
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `decision serve`, as a person starts it in another terminal, on a port that was free. */
export async function startServing({ cwd, env }: Place): Promise<DecisionServer> {
  const child = spawn(process.execPath, [bin, "decision", "serve", "--port", "0"], {
    cwd,
    env: cleanEnvironment(env),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const port = await new Promise<number>((resolve, reject) => {
    let said = "";
    // It is read to the end, so that the server never waits for us.
    child.stderr.on("data", (data: Buffer) => {
      said += data.toString();
      const found = /^listening on \S+:(\d+)$/m.exec(said)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    void ended.then(() => reject(new Error(`it did not listen: ${said}`)));
  });
  return {
    port,
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
