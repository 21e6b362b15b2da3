/* eslint-disable max-lines -- the manifest, down to its parsing, is the second idea, and may move to a file of its own */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { Json, JsonObject } from "../model/json.js";
import type { LedgerState } from "../model/store.js";
import { isIntact, linkOf, origin } from "../record/chain.js";
import { parseCheckpoint } from "../record/checkpoint.js";
import type { LogProblem } from "../record/verify-log.js";
import { LogVerifier } from "../record/verify-log.js";
import type { Expectation, Verification } from "./drivers/jsonl/verify.js";
import type { CheckSignatureOfText } from "./signing.js";
import { sha256Stream } from "./signing.js";

/** What an export says about itself in `manifest.json`. */
export interface Manifest extends ManifestContent {
  /** Which key signed the rest, as the SHA-256 of its public half. */
  readonly key?: string;
  readonly signature?: string;
}

export interface ManifestContent {
  readonly format: 1;
  readonly tool_version: string;
  readonly created_at: string;
  readonly filters: Readonly<Record<string, string>>;
  /** Whether every record that was in the log is in the export. */
  readonly complete: boolean;
  readonly records: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  readonly log: LedgerState;
  readonly files: readonly ExportedFile[];
}

export interface ExportedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Only the file of the records has it. */
  readonly records?: number;
}

export const manifestName = "manifest.json";

/** The bytes of the file; of the content alone, what is signed. */
export const manifestText = (manifest: ManifestContent): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** Only what is written back byte for byte is a manifest; else what is wrong with it. */
function parseManifest(text: string): Manifest | string {
  let manifest: Manifest;
  try {
    manifest = manifestIn(JSON.parse(text) as Claim);
  } catch {
    return "the manifest cannot be read";
  }
  if (manifestText(manifest) !== text) return "the manifest is not as it was written";
  return contradictionIn(manifest) ?? manifest;
}

type Claim = Partial<Record<string, unknown>>;

/** Throws where it is nothing like a manifest; else what is not as it should be becomes something else. */
function manifestIn(found: Claim): Manifest {
  const { tool_version, created_at, complete, records, first_seq, last_seq, key, signature } = found;
  const filters = found["filters"] as Claim;
  const log = found["log"] as Claim;
  return {
    format: 1,
    tool_version: textOf(tool_version),
    created_at: textOf(created_at),
    filters: Object.fromEntries(
      filterNames.flatMap((name) => (filters[name] === undefined ? [] : [[name, textOf(filters[name])]])),
    ),
    complete: complete === true,
    records: Number(records),
    first_seq: first_seq === null ? null : Number(first_seq),
    last_seq: last_seq === null ? null : Number(last_seq),
    log: { size: Number(log["size"]), head: textOf(log["head"]) },
    files: (found["files"] as readonly Claim[]).map((file) => ({
      name: textOf(file["name"]),
      bytes: Number(file["bytes"]),
      sha256: textOf(file["sha256"]),
      ...(file["records"] !== undefined && { records: Number(file["records"]) }),
    })),
    ...(key !== undefined && { key: textOf(key) }),
    ...(signature !== undefined && { signature: textOf(signature) }),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** In the order in which they are written. */
export const filterNames = [
  "decision_id",
  "workflow_id",
  "stage_id",
  "session_id",
  "since",
  "until",
  "label",
  "target",
  "type",
  "kind",
] as const;

const recordFiles: readonly string[] = ["records.jsonl", "records.csv"];
const otherFiles: readonly string[] = ["definitions.jsonl", "checkpoints.jsonl"];

function contradictionIn(manifest: Manifest): string | undefined {
  const { records, first_seq: first, last_seq: last, complete, log, files } = manifest;
  const names = files.map(({ name }) => name);
  const strange = names.find((name) => !recordFiles.includes(name) && !otherFiles.includes(name));
  if (strange !== undefined)
    return `the manifest names ${JSON.stringify(strange)}, which is no file of an export`;
  const [main, another] = files.filter(({ name }) => recordFiles.includes(name));
  const isWhole = main !== undefined && another === undefined && names.includes("definitions.jsonl");
  if (!isWhole || new Set(names).size < names.length)
    return "the manifest does not list the files of an export";
  if (!isHash(log.head) || !isHash(manifest.key ?? origin))
    return "the manifest names something that is no hash";
  const span = first === null || last === null ? 0 : last - first + 1;
  const isPossible =
    main.records === records &&
    (first === null) === (records === 0) &&
    (last === null) === (records === 0) &&
    records <= span &&
    (last ?? 0) <= log.size &&
    (log.size > 0 || log.head === origin) &&
    (!complete || (records === span && (last ?? 0) === log.size));
  return isPossible ? undefined : "the numbers of the manifest contradict each other";
}

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

export interface VerifyExportOptions {
  readonly expect?: Expectation | undefined;
  /** Present: the manifest must be signed with this key. */
  readonly checkSignatureOfText?: CheckSignatureOfText | undefined;
  readonly progress?: (done: number, total: number) => void;
}

/** Reads an export and tells whether it is what was written. Needs neither a store nor definitions. */
export function verifyExport(path: string, options: VerifyExportOptions = {}): Verification {
  const directory = directoryOf(path);
  const manifest = readManifest(directory);
  if (typeof manifest === "string") {
    const problem: LogProblem = { kind: "file", file: manifestName, message: manifest };
    return { ...nothingKnown, ok: false, problems: [problem] };
  }
  const check = new ExportCheck(directory, manifest, options);
  check.signature();
  check.definitions();
  check.checkpoints();
  check.records();
  check.expectation();
  const { problems, found, notes } = check;
  return { ok: problems.length === 0, ...manifest.log, problems, ...found, notes };
}

const nothingKnown = { size: 0, head: origin, records: 0, pruned: 0, checkpoints: 0, signed: 0, notes: [] };

function directoryOf(path: string): string {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return path;
    if (stats.isFile() && basename(path) === manifestName) return dirname(path);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) throw unreadable(error);
  }
  throw new DecisionError("usage", `there is no export in \`${path}\``, {
    hint: "give the directory that `agent-33 decision export --out DIR` made, or its manifest.json",
  });
}

function unreadable(error: unknown): DecisionError {
  const message = `the export cannot be read: ${(error as Error).message}`;
  return new DecisionError("file_unreadable", message, { cause: error });
}

function readManifest(directory: string): Manifest | string {
  const fd = openPlain(directory, manifestName);
  if (typeof fd === "string") return `${fd}: this is no export, or one that was broken off`;
  try {
    const bytes = fstatSync(fd).size > largestManifest ? Buffer.alloc(0) : readFileSync(fd);
    const text = bytes.toString("utf8");
    return Buffer.from(text).equals(bytes) ? parseManifest(text) : "the manifest is not as it was written";
  } finally {
    closeSync(fd);
  }
}

const largestManifest = 4 * 1024 * 1024;

/** A file of the directory itself, or why it is none: whatever a link leads to is no part of the export. */
function openPlain(directory: string, name: string): number | string {
  // Without waiting: a pipe in the place of a file would have us wait for ever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let fd: number;
  try {
    fd = openSync(join(directory, name), flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return `\`${name}\` is missing`;
    if (code === "ELOOP") return `\`${name}\` is a link, which could lead anywhere`;
    throw unreadable(error);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return `\`${name}\` is not a file`;
}

/** Further ones say nothing new. */
const mostProblems = 20;

interface Line {
  /** Without its newline. */
  readonly bytes: Buffer;
  readonly number: number;
}

class ExportCheck {
  readonly problems: LogProblem[] = [];
  readonly notes: string[] = [];
  readonly found = { records: 0, pruned: 0, checkpoints: 0, signed: 0 };
  readonly #directory: string;
  readonly #manifest: Manifest;
  readonly #options: VerifyExportOptions;
  /** What the export keeps, by kind and hash. */
  readonly #kept = new Set<string>();
  /** The hashes that records must have, and who says so. */
  readonly #pins = new Map<number, { readonly head: string; readonly by: string }>();
  /** The hash of the record that somebody expects another one of. */
  #expected: string | undefined;
  #read = 0;

  constructor(directory: string, manifest: Manifest, options: VerifyExportOptions) {
    this.#directory = directory;
    this.#manifest = manifest;
    this.#options = options;
  }

  signature(): void {
    const { key, signature, ...content } = this.#manifest;
    const { checkSignatureOfText: isSigned } = this.#options;
    if (isSigned === undefined) {
      this.notes.push(
        signature === undefined
          ? "the manifest is not signed: whoever changes the export can make it anew"
          : `the manifest says that it is signed with the key ${key ?? ""}; give its public half to check that`,
      );
    } else if (!isSigned(manifestText(content), { key, signature })) {
      const message = `the manifest is not signed${signature === undefined ? "" : " with this key, or was changed"}`;
      this.#problem({ kind: "signature", file: manifestName, message });
    }
  }

  /** What is kept under a hash must have it. */
  definitions(): void {
    const file = "definitions.jsonl";
    for (const { bytes, number } of this.#lines(file)) {
      const { hash, kind, document } = jsonIn(bytes) ?? {};
      const isKind = kind === "definition" || kind === "environment";
      if (isKind && typeof hash === "string" && hash === hashOf(document)) this.#kept.add(`${kind} ${hash}`);
      else {
        const message = `what line ${number} keeps does not have the hash that it is kept under`;
        this.#problem({ kind: "definition", file, line: number, message });
      }
    }
  }

  checkpoints(): void {
    const file = "checkpoints.jsonl";
    const { log } = this.#manifest;
    let previous = origin;
    for (const { bytes, number } of this.#lines(file)) {
      const checkpoint = parseCheckpoint(bytes.toString("utf8"));
      if (checkpoint?.prev_hash !== previous) {
        const message = `line ${number} of the checkpoints is not as it was written`;
        this.#problem({ kind: "checkpoint", file, line: number, message });
      }
      if (checkpoint === undefined) continue;
      const { size, head, hash, signature } = checkpoint;
      previous = hash;
      this.found.checkpoints++;
      if (signature !== undefined) this.found.signed++;
      this.#pins.set(size, { head, by: "a checkpoint" });
      if (size <= log.size && (size < log.size || head === log.head)) continue;
      const message = `a checkpoint pins ${size} records, the manifest another log of ${log.size}`;
      this.#problem({ kind: "checkpoint", seq: size, file, line: number, message });
    }
    this.#pins.set(log.size, { head: log.head, by: "the manifest" });
  }

  records(): void {
    const file = "records.jsonl";
    const { complete, files, log, records } = this.#manifest;
    if (!complete)
      this.notes.push(
        `it holds ${records} of the log's records up to ${log.size}, and cannot tell what it leaves out`,
      );
    if (files.some(({ name }) => name === file)) {
      this.#chain(file);
      return;
    }
    const lines = this.#lines("records.csv");
    while (!lines.next().done);
    this.found.records = records;
    this.notes.push("lines of CSV have no hashes: they can only be checked all together");
  }

  /** A complete export is one chain; another has one for each stretch of records that follow each other. */
  #chain(file: string): void {
    const { complete } = this.#manifest;
    let first: number | null = null;
    let last = 0;
    let chain = new LogVerifier([]);
    for (const { bytes, number } of this.#lines(file)) {
      const record = jsonIn(bytes);
      const link = linkOf(bytes);
      const seq = link?.seq ?? last + 1;
      if (seq > last + 1 && !complete) chain = new LogVerifier([]);
      const isForged = record === undefined && link !== undefined && isIntact(bytes, link);
      chain.feed(isForged ? notARecord : bytes, file, number);
      this.#takeOver(chain);
      this.#checkPin(seq, chain.head);
      if (record?.["kind"] === "decision") this.#checkKept(record, { seq, file, line: number });
      this.found.records++;
      first ??= seq;
      last = seq;
    }
    if (complete) chain.checkBeginning();
    this.#takeOver(chain);
    this.found.pruned = complete ? chain.pruned : 0;
    this.#checkNumbers(first, last, file);
  }

  #takeOver(chain: LogVerifier): void {
    for (const problem of chain.problems.splice(0)) this.#problem(problem);
  }

  #checkPin(seq: number, hash: string): void {
    if (seq === this.#options.expect?.size) this.#expected = hash;
    const pin = this.#pins.get(seq);
    if (pin === undefined || pin.head === hash) return;
    this.#problem({ kind: "checkpoint", seq, message: `record ${seq} is not the one that ${pin.by} pins` });
  }

  #checkKept(record: Partial<JsonObject>, where: Pick<LogProblem, "seq" | "file" | "line">): void {
    for (const kind of ["definition", "environment"]) {
      const hash = textOf(record[`${kind}_hash`]);
      if (this.#kept.has(`${kind} ${hash}`)) continue;
      this.#kept.add(`${kind} ${hash}`);
      const message = `the ${kind} ${hash} that record ${where.seq ?? 0} names is not in the export`;
      this.#problem({ kind: "definition", ...where, message });
    }
  }

  #checkNumbers(first: number | null, last: number, file: string): void {
    const { records, first_seq, last_seq } = this.#manifest;
    if (this.found.records === records && first === first_seq && last === (last_seq ?? 0)) return;
    const message = `there are ${this.found.records} records from ${first ?? 0} to ${last}, the manifest says ${records} from ${first_seq ?? 0} to ${last_seq ?? 0}`;
    this.#problem({ kind: "cut", seq: last + 1, file, message });
  }

  expectation(): void {
    const { expect } = this.#options;
    const { log } = this.#manifest;
    if (expect === undefined || (expect.size === log.size && expect.head === log.head)) return;
    const { size, head } = expect;
    const known = size === log.size ? log.head : size === 0 ? origin : this.#expected;
    if (known === head) return;
    const message =
      size > log.size
        ? `the log was cut: ${size} records were expected, there are ${log.size}`
        : known === undefined
          ? `record ${size} is not in the export, so what was expected of it cannot be checked`
          : `record ${size} is not the one that was expected: the log up to there is another`;
    this.#problem({ kind: "expectation", seq: Math.min(size, log.size + 1), message });
  }

  /** The lines of a file, which in the end must have been the very file that was exported. */
  *#lines(name: string): Generator<Line> {
    const listed = this.#manifest.files.find((file) => file.name === name);
    if (listed === undefined) return;
    const fd = openPlain(this.#directory, name);
    if (typeof fd === "string") {
      this.#problem({ kind: "file", file: name, message: fd });
      return;
    }
    const hash = sha256Stream();
    let bytes = 0;
    let number = 0;
    try {
      for (const line of linesOf(fd)) {
        hash.update(line);
        bytes += line.length;
        const isWhole = line.at(-1) === newline;
        yield { bytes: isWhole ? line.subarray(0, -1) : line, number: ++number };
        if (number % 5000 === 0) this.#options.progress?.(this.#read + bytes, this.#total());
        if (isWhole) continue;
        this.#problem({ kind: "cut", file: name, line: number, message: `\`${name}\` ends in half a line` });
      }
    } finally {
      closeSync(fd);
    }
    this.#read += bytes;
    if (bytes === listed.bytes && hash.digest("hex") === listed.sha256) return;
    this.#problem({ kind: "file", file: name, message: `\`${name}\` is not the file that was exported` });
  }

  #total(): number {
    return this.#manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #problem(problem: LogProblem): void {
    if (this.problems.length < mostProblems) this.problems.push(problem);
  }
}

const notARecord = Buffer.alloc(0);

function jsonIn(line: Buffer): Partial<JsonObject> | undefined {
  try {
    const value = JSON.parse(line.toString("utf8")) as Json;
    return typeof value === "object" && !Array.isArray(value)
      ? ((value ?? undefined) as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

function hashOf(document: Json | undefined): string | undefined {
  try {
    return document === undefined ? undefined : sha256Hex(canonicalJson(document));
  } catch {
    // Nested so deeply that nobody wrote it as a definition.
    return undefined;
  }
}

const chunkSize = 64 * 1024;
const longestLine = 4096 * chunkSize;
const newline = 10;

/** Each line with its newline. One without it is the rest of the file, or a part of a line beyond all measure. */
export function* linesOf(fd: number): Generator<Buffer> {
  let buffer = Buffer.allocUnsafe(chunkSize);
  let filled = 0;
  for (;;) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, null);
    filled += count;
    const read = buffer.subarray(0, filled);
    let start = 0;
    for (let end = read.indexOf(newline); end !== -1; end = read.indexOf(newline, start)) {
      yield read.subarray(start, end + 1);
      start = end + 1;
    }
    if (count === 0 || filled - start === longestLine) {
      if (filled > start) yield read.subarray(start);
      if (count === 0) return;
      start = filled;
    }
    buffer.copyWithin(0, start, filled);
    filled -= start;
    if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}
