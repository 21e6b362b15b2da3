import { closeSync, existsSync, fstatSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Verification, Expectation } from "./drivers/jsonl/verify-store.js";
import type { Manifest } from "./export-manifest.js";
import {
  openRegularFile,
  unreadableExportError,
  manifestName,
  parseManifest,
  readLines,
  newline,
  formatManifest,
  asString,
} from "./export-manifest.js";
import type { CheckTextSignature } from "./signing.js";
import { createSha256 } from "./signing.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { JsonObject, Json } from "../model/json.js";
import { genesisHash, matchesOwnHash, parseChainLink, parseCheckpoint } from "../record/chain.js";
import type { LogProblem } from "../record/verify-log.js";
import { LogVerifier } from "../record/verify-log.js";

/** Reads an export and tells whether it is what was written. Needs neither a store nor definitions. */
export function verifyExport(path: string, options: VerifyExportOptions = {}): Verification {
  const directory = findExportDirectory(path);
  const manifest = readManifest(directory);
  if (typeof manifest === "string") {
    const problem: LogProblem = { kind: "file", file: manifestName, message: manifest };
    return { ...emptyVerification, ok: false, problems: [problem] };
  }
  const check = new ExportVerifier(directory, manifest, options);
  check.verifySignature();
  check.verifyDefinitions();
  check.checkpoints();
  check.records();
  check.verifyExpectation();
  const { problems, found, notes } = check;
  return { ok: problems.length === 0, ...manifest.log, problems, ...found, notes };
}

const emptyVerification = {
  size: 0,
  head: genesisHash,
  records: 0,
  pruned: 0,
  checkpoints: 0,
  signed: 0,
  notes: [],
};

function findExportDirectory(path: string): string {
  try {
    const stats = statSync(path);
    if (stats.isDirectory() && looksLikeExport(path)) return path;
    if (stats.isFile() && basename(path) === manifestName) return dirname(path);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw unreadableExportError(error);
  }
  throw new DecisionError("usage", `there is no export in \`${path}\``, {
    hint: existsSync(join(path, "log", "head"))
      ? `it is a store: \`agent-33 decision verify --store ${path}\``
      : "give the directory that `agent-33 decision export --out DIR` made, or its manifest.json",
  });
}

/** One that lost its manifest is an export all the same, and not a sound one. */
function looksLikeExport(path: string): boolean {
  return readdirSync(path).some((name) => exportFileNames.has(name));
}

const exportFileNames = new Set([
  manifestName,
  "records.jsonl",
  "records.csv",
  "definitions.jsonl",
  "checkpoints.jsonl",
]);

function readManifest(directory: string): Manifest | string {
  const fd = openRegularFile(directory, manifestName);
  if (typeof fd === "string") return `${fd}: the export was broken off, or somebody removed it`;
  try {
    const bytes = fstatSync(fd).size > maxManifestBytes ? Buffer.alloc(0) : readFileSync(fd);
    const text = bytes.toString("utf8");
    return Buffer.from(text).equals(bytes) ? parseManifest(text) : "the manifest is not as it was written";
  } finally {
    closeSync(fd);
  }
}

const maxManifestBytes = 4 * 1024 * 1024;

export interface VerifyExportOptions {
  readonly expect?: Expectation | undefined;
  /** Present: the manifest must be signed with this key. */
  readonly checkTextSignature?: CheckTextSignature | undefined;
  readonly progress?: (done: number, total: number) => void;
}

/** Further ones say nothing new. */
const maxProblems = 20;

interface ExportLine {
  /** Without its newline. */
  readonly bytes: Buffer;
  readonly number: number;
}

/** What can be said of an export, part by part. */
export class ExportVerifier {
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

  verifySignature(): void {
    const { key, signature, ...content } = this.#manifest;
    const { checkTextSignature: isSigned } = this.#options;
    if (isSigned === undefined) {
      this.notes.push(
        signature === undefined
          ? "the manifest is not signed: whoever changes the export can make it anew"
          : `the manifest says that it is signed with the key ${key ?? ""}; give its public half to check that`,
      );
    } else if (!isSigned(formatManifest(content), { key, signature })) {
      const message = `the manifest is not signed${signature === undefined ? "" : " with this key, or was changed"}`;
      this.#problem({ kind: "signature", file: manifestName, message });
    }
  }

  /** What is kept under a hash must have it. */
  verifyDefinitions(): void {
    const file = "definitions.jsonl";
    for (const { bytes, number } of this.#lines(file)) {
      const { hash, kind, document } = parseJsonObject(bytes) ?? {};
      const isKind = kind === "definition" || kind === "environment";
      if (isKind && typeof hash === "string" && hash === hashDocument(document))
        this.#kept.add(`${kind} ${hash}`);
      else {
        const message = `what line ${number} keeps does not have the hash that it is kept under`;
        this.#problem({ kind: "definition", file, line: number, message });
      }
    }
  }

  checkpoints(): void {
    const file = "checkpoints.jsonl";
    const { log } = this.#manifest;
    let previous = genesisHash;
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
      const record = parseJsonObject(bytes);
      const link = parseChainLink(bytes);
      const seq = link?.seq ?? last + 1;
      if (seq > last + 1 && !complete) chain = new LogVerifier([]);
      const isForged = record === undefined && link !== undefined && matchesOwnHash(bytes, link);
      chain.verifyLine(isForged ? notARecord : bytes, file, number);
      this.#takeOver(chain);
      this.#checkPin(seq, chain.head);
      if (record?.["kind"] === "decision") this.#checkKept(record, { seq, file, line: number });
      this.found.records++;
      first ??= seq;
      last = seq;
    }
    if (complete) chain.checkStart();
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
      const hash = asString(record[`${kind}_hash`]);
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

  verifyExpectation(): void {
    const { expect } = this.#options;
    const { log } = this.#manifest;
    if (expect === undefined || (expect.size === log.size && expect.head === log.head)) return;
    const { size, head } = expect;
    const known = size === log.size ? log.head : size === 0 ? genesisHash : this.#expected;
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
  *#lines(name: string): Generator<ExportLine> {
    const listed = this.#manifest.files.find((file) => file.name === name);
    if (listed === undefined) return;
    const fd = openRegularFile(this.#directory, name);
    if (typeof fd === "string") {
      this.#problem({ kind: "file", file: name, message: fd });
      return;
    }
    const hash = createSha256();
    let bytes = 0;
    let number = 0;
    try {
      for (const line of readLines(fd)) {
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
    if (this.problems.length < maxProblems) this.problems.push(problem);
  }
}

const notARecord = Buffer.alloc(0);

export function parseJsonObject(line: Buffer): Partial<JsonObject> | undefined {
  try {
    const value = JSON.parse(line.toString("utf8")) as Json;
    return typeof value === "object" && !Array.isArray(value)
      ? ((value ?? undefined) as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

export function hashDocument(document: Json | undefined): string | undefined {
  try {
    return document === undefined ? undefined : sha256Hex(canonicalJson(document));
  } catch {
    // Nested so deeply that nobody wrote it as a definition.
    return undefined;
  }
}
