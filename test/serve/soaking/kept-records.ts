import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bin, cleanEnvironment } from "../../acceptance/command.js";

export interface KeptRecord {
  readonly record_id: string;
  readonly correlation_id?: string;
}

/** Streams every decision of the log from the command line, without holding all of it in memory. */
export async function keptRecords(store: string): Promise<readonly KeptRecord[]> {
  const words = ["decision", "log", "--format", "jsonl", "--store", store];
  const child = spawn(process.execPath, [bin, ...words], {
    env: cleanEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const kept: KeptRecord[] = [];
  for await (const line of createInterface(child.stdout)) {
    const { record_id, correlation_id } = JSON.parse(line) as KeptRecord;
    kept.push({ record_id, ...(correlation_id !== undefined && { correlation_id }) });
  }
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`the log could not be read: exit code ${code}`);
  return kept;
}
