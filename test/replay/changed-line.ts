import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const segmentsIn = (directory: string): readonly string[] =>
  readdirSync(join(directory, "log"))
    .filter((name) => /^\d+\.jsonl$/.test(name))
    .map((name) => join(directory, "log", name));

/** The lines of a log, the first one first. */
export const logLines = (directory: string): readonly string[] =>
  segmentsIn(directory).flatMap((path) => readFileSync(path, "utf8").trimEnd().split("\n"));

/** Changes the line of one record behind the store's back; it must stay as long as it was. */
export function changeLine(directory: string, seq: number, change: (text: string) => string): void {
  for (const path of segmentsIn(directory)) {
    const lines = readFileSync(path, "utf8").split("\n");
    const at = lines.findIndex((line) => line.startsWith(`{"seq":${seq},`));
    const line = lines[at];
    if (line === undefined) continue;
    const changed = change(line);
    if (changed === line || Buffer.byteLength(changed) !== Buffer.byteLength(line)) {
      throw new Error(`one byte of record ${seq} should be another one`);
    }
    writeFileSync(path, lines.with(at, changed).join("\n"));
    return;
  }
  throw new Error(`there is no record ${seq}`);
}
