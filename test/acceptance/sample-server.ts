import type { ChildProcessByStdio } from "node:child_process";
import { spawn } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { execa } from "execa";
import { samples } from "./command.js";

const script = join(samples, "sample-server.mjs");

/** The port that the samples name. */
export const usualPort = "8733";

export type Mode = "ok" | "failing" | "slow" | "flaky" | "limited";

/** The server of the samples, on a port that was free. */
export class SampleServer {
  readonly port: number;
  readonly #child: ChildProcessByStdio<null, Readable, null>;
  readonly #ended: Promise<number | null>;

  private constructor(child: ChildProcessByStdio<null, Readable, null>, port: number) {
    this.#child = child;
    this.port = port;
    this.#ended = new Promise((resolve) => child.once("exit", resolve));
  }

  static async start(key?: string): Promise<SampleServer> {
    const { PATH } = process.env;
    const child = spawn(process.execPath, [script, "0"], {
      env: { PATH, ...(key !== undefined && { CREDIT_API_KEY: key }) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const said = await new Promise<string>((resolve) => {
      child.stdout.once("data", (data: Buffer) => resolve(data.toString()));
    });
    return new SampleServer(child, Number(/:(\d+)$/m.exec(said)?.[1]));
  }

  async become(mode: Mode): Promise<void> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ mode });
    const { status } = await fetch(`http://127.0.0.1:${this.port}/mode`, { method: "POST", headers, body });
    if (status !== 200) throw new Error(`the server did not become ${mode}: it answered ${status}`);
  }

  /** As a person does it; gives what that person is told. */
  async becomeByCommand(mode: Mode): Promise<string> {
    return (await execa(process.execPath, [script, mode, String(this.port)])).stdout;
  }

  /** How many scores it was asked for. */
  async requests(): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/mode`);
    return ((await answer.json()) as { readonly requests: number }).requests;
  }

  /** Gives its exit code. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#child.kill(signal);
    return this.#ended;
  }
}

/** The samples, with the server where it is. */
export function copySamples(to: string, { port }: Pick<SampleServer, "port">): void {
  cpSync(samples, to, { recursive: true });
  for (const name of ["credit-check.yaml", "sample-server.mjs"]) {
    const file = join(to, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(usualPort, String(port)));
  }
}
