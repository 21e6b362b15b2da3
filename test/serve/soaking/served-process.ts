import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { performance } from "node:perf_hooks";
import { bin, cleanEnvironment } from "../../acceptance/command.js";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The time since the signal. */
  readonly milliseconds: number;
}

/** The built command as a separate server process. */
export class ServedProcess {
  readonly port: number;
  /** Unexpected output. */
  readonly complaints: string[];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;

  private constructor(child: ChildProcess, port: number, complaints: string[]) {
    this.#child = child;
    this.port = port;
    this.complaints = complaints;
    this.#ended = once(child, "exit");
  }

  static async start(
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<ServedProcess> {
    const child = spawn(process.execPath, [bin, "decision", "serve", ...args], {
      env: cleanEnvironment(more),
      stdio: ["ignore", "inherit", "pipe"],
    });
    const complaints: string[] = [];
    const port = await new Promise<number>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`ended with ${code}: ${complaints.join("\n")}`)));
      createInterface(child.stderr).on("line", (line) => {
        const listening = /^listening on http:\/\/127\.0\.0\.1:(\d+)$/.exec(line)?.[1];
        if (listening !== undefined) resolve(Number(listening));
        else if (isComplaint(line)) complaints.push(line);
      });
    });
    return new ServedProcess(child, port, complaints);
  }

  async end(signal: NodeJS.Signals): Promise<Ended> {
    const startedAt = performance.now();
    this.#child.kill(signal);
    const [code, by] = (await this.#ended) as [number | null, NodeJS.Signals | null];
    return { code, signal: by, milliseconds: performance.now() - startedAt };
  }
}

/** Another line that is not JSON is a warning of Node or a crash. */
const isComplaint = (line: string): boolean =>
  line.startsWith("{")
    ? line.includes('"code":"bug"')
    : !/^(?:authentication is off|decisions: \d+ in |store: )/.test(line);
