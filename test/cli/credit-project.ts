import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { EndpointStatus } from "../../src/model/endpoint.js";
import type { Result } from "../../src/model/result.js";
import type { Ran } from "../acceptance/command.js";
import { newCache, run, temporaryDirectory } from "../acceptance/command.js";
import type { SampleServer } from "../acceptance/sample-server.js";
import { copySamples } from "../acceptance/sample-server.js";
import { runInProcess } from "./in-process.js";

/** A secret that no output and no file may contain. */
export const canary = "canary-5f1c0e77-secret";

/** A project with the samples, whose output and files are searched for secrets in the end. */
export class CreditProject {
  readonly directory = temporaryDirectory();
  readonly store = join(this.directory, "store");
  readonly cache = newCache(join(this.directory, "cache"));
  readonly #decisions = join(this.directory, "decisions");
  readonly #port: number;
  readonly #run: typeof run;
  #shown = "";

  /** Replaces texts of the sample; `spawned` runs each command in a process of its own. */
  constructor(
    server: SampleServer,
    { changes = {}, spawned = false }: { changes?: Readonly<Record<string, string>>; spawned?: boolean } = {},
  ) {
    this.#port = server.port;
    this.#run = spawned ? run : runInProcess;
    copySamples(this.#decisions, server);
    const file = join(this.#decisions, "credit-check.yaml");
    let text = readFileSync(file, "utf8");
    for (const [before, after] of Object.entries(changes)) {
      expect(text).toContain(before);
      text = text.replaceAll(before, after);
    }
    writeFileSync(file, text);
  }

  define(name: string, text: string): void {
    writeFileSync(join(this.#decisions, name), text.replaceAll("PORT", String(this.#port)));
  }

  async run(...words: readonly string[]): Promise<Ran> {
    const env = {
      AGENT33_DECISIONS: this.#decisions,
      AGENT33_STORE: this.store,
      AGENT33_CACHE: this.cache,
      CREDIT_API_KEY: canary,
    };
    const ran = await this.#run(["decision", ...words], { cwd: this.directory, env });
    this.#shown += ran.stdout + ran.stderr;
    return ran;
  }

  /** Checks a customer's credit. */
  async ask(customer = "c-3", ...flags: readonly string[]): Promise<Asked> {
    const input = JSON.stringify({ customer: { id: customer } });
    const ran = await this.run("evaluate", "decision-credit-check", "--input", input, "--json", ...flags);
    const result = ran.exitCode === 0 ? (JSON.parse(ran.stdout) as Result) : undefined;
    const [fetched] = Object.values(result?.fetched ?? {}) as unknown as Asked["fetched"][];
    return { ...ran, target: result?.selected_targets[0], fetched };
  }

  /** By three fetches that fail, of one run. */
  async openCircuit(): Promise<void> {
    const file = join(this.directory, "three.jsonl");
    const customers = ["c-3", "c-4", "c-5"];
    writeFileSync(file, customers.map((id) => `${JSON.stringify({ customer: { id } })}\n`).join(""));
    const { stdout } = await this.run(
      "evaluate",
      "decision-credit-check",
      "--inputs",
      file,
      "--format",
      "jsonl",
    );
    expect(stdout.match(/"code":"request_failed"/g)).toHaveLength(3);
  }

  async endpoint(name = "credit_bureau"): Promise<EndpointStatus> {
    const { stdout } = await this.run("endpoints", name, "--json");
    const [status] = (JSON.parse(stdout) as { readonly endpoints: readonly EndpointStatus[] }).endpoints;
    if (status === undefined) throw new Error(`there is no endpoint \`${name}\``);
    return status;
  }

  expectNoSecret(): void {
    expect(this.#shown).not.toContain(canary);
    const files = [...filesIn(this.directory), ...filesIn(join(this.cache, "code"))];
    expect(files.filter((file) => readFileSync(file, "utf8").includes(canary))).toEqual([]);
  }
}

export interface Asked extends Ran {
  readonly target: string | undefined;
  readonly fetched:
    { readonly ok: boolean; readonly from?: string; readonly error?: { readonly code: string } } | undefined;
}

export const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
