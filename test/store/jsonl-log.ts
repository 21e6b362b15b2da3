import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { checksum } from "../../src/digest/sha256.js";
import type { Appended, Entry, Store } from "../../src/model/store.js";
import { systemFiles } from "../../src/store/drivers/jsonl/files.js";
import { ShelfFiles } from "../../src/store/drivers/jsonl/file-shelf.js";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { openJsonlStore } from "../../src/store/drivers/jsonl/store.js";
import type { Verification, VerifyOptions } from "../../src/store/drivers/jsonl/verify-store.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { TestClock, decided, definitionOf, newId, sha256 } from "./entries.js";

const created: string[] = [];

/** A directory that is removed after the tests of the file. */
export function storeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "agent-33-store-"));
  if (created.push(directory) === 1)
    afterAll(() => {
      for (const each of created.splice(0)) rmSync(each, { recursive: true, force: true });
    });
  return directory;
}

/** A store that stores the definition of each record, like the program does. */
export function openLog(directory: string, options: Partial<JsonlOptions> = {}): Store {
  const store = openJsonlStore({ directory, clock: new TestClock().read, newId, ...options });
  const append = async (entry: Entry): Promise<Appended> => {
    const appended = await store.log.append(entry);
    keepDefinition(directory, entry);
    return appended;
  };
  return { ...store, log: { ...store.log, append } };
}

/** Stores definitions with the real file system, even if the store under test has a faulty one. */
function keepDefinition(directory: string, { body }: Entry): void {
  const definition = definitionOf(body);
  for (const [name, entry] of [
    ["definitions", definition],
    ["environments", definition && emptyEnvironment],
  ] as const) {
    const shelf = new ShelfFiles(`${directory}/${name}`, {
      files: systemFiles,
      now: () => 0,
      durable: false,
    });
    if (entry !== undefined && shelf.get(entry.key) === undefined) shelf.put([entry]);
  }
}

/** The environment of all test definitions. */
const emptyEnvironment = { key: sha256("{}"), value: {} };

/** Creates a store with this many records and closes it. */
export async function filled(
  count: number,
  options: Partial<JsonlOptions> = {},
  directory = storeDirectory(),
): Promise<string> {
  const store = openLog(directory, options);
  for (let input = 0; input < count; input++) await store.log.append({ body: decided({ input }) });
  await store.close();
  return directory;
}

export const logFile = (directory: string, name: string): string => join(directory, "log", name);

export const segmentFile = (first: number): string => `${String(first).padStart(12, "0")}.jsonl`;

export function segmentFiles(directory: string): readonly string[] {
  if (!existsSync(join(directory, "log"))) return [];
  return readdirSync(join(directory, "log"))
    .filter((name) => /^\d{12}\.jsonl$/.test(name))
    .sort();
}

export const readLog = (directory: string, name: string): Buffer => readFileSync(logFile(directory, name));

export function writeLog(directory: string, name: string, bytes: Uint8Array | string): void {
  writeFileSync(logFile(directory, name), bytes);
}

/** Reads all complete lines of all segments, independently of the code under test. */
export function linesOf(directory: string): readonly string[] {
  return segmentFiles(directory).flatMap((name) =>
    readLog(directory, name).toString("utf8").split("\n").slice(0, -1),
  );
}

export interface HeadFile {
  readonly size: number;
  readonly head: string;
  readonly segment: number;
  readonly bytes: number;
  readonly checkpoint?: { readonly size: number; readonly hash: string };
  readonly pruned?: number;
  readonly counters?: string;
  readonly approvals?: number;
}

export const headOf = (directory: string): HeadFile =>
  JSON.parse(readLog(directory, "head").toString("latin1")) as HeadFile;

/** Writes a head with its checksum, which is no secret. */
export function writeHeadFile(directory: string, head: HeadFile): void {
  const json = headJson(head);
  writeLog(directory, "head", `${`${json.slice(0, -1)},"sum":"${checksum(json)}"}`.padEnd(511)}\n`);
}

/** Writes a head without a checksum, as earlier versions did. */
export function writeUnsealedHead(directory: string, head: HeadFile): void {
  writeLog(directory, "head", `${headJson(head).padEnd(511)}\n`);
}

function headJson({
  size,
  head,
  segment,
  bytes,
  checkpoint,
  pruned,
  counters,
  approvals,
  ...others
}: HeadFile): string {
  const fields = { size, head, segment, bytes, checkpoint, pruned, counters, approvals };
  return JSON.stringify({ ...fields, ...others, sum: undefined });
}

export interface CheckpointLine {
  readonly size: number;
  readonly head: string;
  readonly timestamp: string;
  readonly prev_hash: string;
  readonly key?: string;
  readonly signature?: string;
  readonly hash: string;
}

export function checkpointsOf(directory: string): readonly CheckpointLine[] {
  const text = readLog(directory, "checkpoints.jsonl").toString("utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as CheckpointLine);
}

/** Verifies the store and expects no problems. */
export function expectSound(directory: string, options?: VerifyOptions): Verification {
  const verification = verifyStore(directory, options);
  expect(verification.problems).toEqual([]);
  expect(verification.ok).toBe(true);
  return verification;
}

/** Returns true if verification finds a problem. */
export function isNoticed(directory: string, options?: VerifyOptions): boolean {
  const { ok, problems } = verifyStore(directory, options);
  expect(ok).toBe(problems.length === 0);
  return !ok;
}
