import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cleanEnvironment, samples } from "../acceptance/command.js";

/** The task of a writer process, and the options of its store. */
export interface Orders {
  readonly name: string;
  /** The number of decisions; without it, the writer runs until it is killed. */
  readonly records?: number;
  /** The number of concurrent decisions. */
  readonly atOnce?: number;
  /** Makes some records longer by this many characters. */
  readonly bulk?: number;
  readonly bulkEvery?: number;
  readonly store?: { readonly segmentSize?: number; readonly checkpointEvery?: number };
}

/** A child process that makes decisions in a store. */
export class Writer {
  readonly #child: ChildProcess;
  readonly #said: string;
  readonly #complaints: string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;

  constructor(directory: string, folder: string, orders: Orders) {
    this.#said = join(folder, `${orders.name}.said`);
    this.#complaints = join(folder, `${orders.name}.complaints`);
    const [out, err] = [openSync(this.#said, "a"), openSync(this.#complaints, "a")];
    const script = fileURLToPath(new URL("children/writer.mjs", import.meta.url));
    this.#child = spawn(process.execPath, [script, directory, samples, JSON.stringify(orders)], {
      stdio: ["ignore", out, err],
      env: cleanEnvironment(),
    });
    closeSync(out);
    closeSync(err);
    this.ended = new Promise((resolve) => {
      this.#child.on("exit", (code, signal) => resolve({ code, signal }));
    });
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** The ids of the acknowledged records. */
  acknowledged(): readonly string[] {
    return (
      readFileSync(this.#said, "utf8")
        .match(/^[0-9a-f-]{36}\n/gm)
        ?.map((id) => id.trimEnd()) ?? []
    );
  }

  complaints(): string {
    return readFileSync(this.#complaints, "utf8");
  }
}
