import { closeSync, existsSync, fstatSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { forgottenMessage } from "./drivers/jsonl/approval-witness.js";
import type { Verification, Expectation } from "./drivers/jsonl/verify-store.js";
import type { Manifest } from "./export-manifest.js";
import {
  openExportFile,
  unreadableExportError,
  exportFileNames,
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

/** Checks that an export is complete and unchanged. Needs neither a store nor definitions. */
export function verifyExport(path: string, options: VerifyExportOptions = {}): Verification {
  const { directory, manifest } = openExport(path);
  if (typeof manifest === "string") {
    const problem: LogProblem = { kind: "file", file: manifestName, message: manifest };
    return { ...emptyVerification, ok: false, problems: [problem] };
  }
  const verifier = new ExportVerifier(directory, manifest, options);
  verifier.verifySignature();
  verifier.verifyDefinitions();
  verifier.verifyCheckpoints();
  verifier.verifyRecords();
  verifier.verifyApprovals();
  verifier.verifyExpectation();
  const { problems, found, notes } = verifier;
  return { ok: problems.length === 0, ...manifest.log, problems, ...found, notes };
}

/** Finds an export and parses its manifest; a text says what is wrong with it. */
export function openExport(path: string): {
  readonly directory: string;
  readonly manifest: Manifest | string;
} {
  const directory = findExportDirectory(path);
  return { directory, manifest: readManifest(directory) };
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
      ? `this is a store; run \`agent-33 decision verify --store ${path}\``
      : "specify the directory that `agent-33 decision export --out DIR` created, or its manifest.json",
  });
}

/** Accepts an export without its manifest, so that the missing manifest is reported as a problem. */
function looksLikeExport(path: string): boolean {
  return readdirSync(path).some((name) => exportFileNames.includes(name));
}

function readManifest(directory: string): Manifest | string {
  const fd = openExportFile(directory, manifestName);
  if (typeof fd === "string") return `${fd}: the export was interrupted or the file was removed`;
  try {
    const bytes = fstatSync(fd).size > maxManifestBytes ? Buffer.alloc(0) : readFileSync(fd);
    const text = bytes.toString("utf8");
    return Buffer.from(text).equals(bytes) ? parseManifest(text) : "the manifest was changed";
  } finally {
    closeSync(fd);
  }
}

const maxManifestBytes = 4 * 1024 * 1024;

export interface VerifyExportOptions {
  readonly expect?: Expectation | undefined;
  /** If present, the manifest must be signed with this key. */
  readonly checkTextSignature?: CheckTextSignature | undefined;
  readonly progress?: (done: number, total: number) => void;
}

/** More problems rarely add information. */
const maxProblems = 20;

interface ExportLine {
  /** The line without its newline. */
  readonly bytes: Buffer;
  readonly number: number;
}

/** Verifies an export part by part, in the order in which `verifyExport` calls the methods. */
class ExportVerifier {
  readonly problems: LogProblem[] = [];
  readonly notes: string[] = [];
  readonly found = { records: 0, pruned: 0, checkpoints: 0, signed: 0 };
  readonly #directory: string;
  readonly #manifest: Manifest;
  readonly #options: VerifyExportOptions;
  /** The definitions and environments of the export, by kind and hash. */
  readonly #documents = new Set<string>();
  /** The hashes that records must have, and where they are pinned. */
  readonly #pins = new Map<number, { readonly head: string; readonly by: string }>();
  /** The newest serial number of each approval lock that the records name. */
  #serials: ReadonlyMap<string, number> = new Map();
  /** The hash of the record that `expect` refers to. */
  #hashAtExpectedSize: string | undefined;
  #bytesRead = 0;

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
          ? "the manifest is not signed, so it does not prove that the export is unchanged"
          : `the manifest is signed with the key ${key ?? ""}; specify its public key to check the signature`,
      );
    } else if (!isSigned(formatManifest(content), { key, signature })) {
      const message = `the manifest is not signed${signature === undefined ? "" : " with this key, or was changed"}`;
      this.#addProblem({ kind: "signature", file: manifestName, message });
    }
  }

  /** Checks that each definition and environment matches its hash. */
  verifyDefinitions(): void {
    const file = "definitions.jsonl";
    for (const { bytes, number } of this.#lines(file)) {
      const { hash, kind, document } = parseJsonObject(bytes) ?? {};
      const isKind = kind === "definition" || kind === "environment";
      if (isKind && typeof hash === "string" && hash === hashDocument(document))
        this.#documents.add(`${kind} ${hash}`);
      else {
        const message = `the document on line ${number} does not match its hash`;
        this.#addProblem({ kind: "definition", file, line: number, message });
      }
    }
  }

  verifyCheckpoints(): void {
    const file = "checkpoints.jsonl";
    const { log } = this.#manifest;
    let previous = genesisHash;
    for (const { bytes, number } of this.#lines(file)) {
      const checkpoint = parseCheckpoint(bytes.toString("utf8"));
      if (checkpoint?.prev_hash !== previous) {
        const message = `line ${number} of the checkpoints was changed`;
        this.#addProblem({ kind: "checkpoint", file, line: number, message });
      }
      if (checkpoint === undefined) continue;
      const { size, head, hash, signature } = checkpoint;
      previous = hash;
      this.found.checkpoints++;
      if (signature !== undefined) this.found.signed++;
      this.#pins.set(size, { head, by: "a checkpoint" });
      if (size <= log.size && (size < log.size || head === log.head)) continue;
      const message = `a checkpoint at ${size} records does not belong to the log of ${log.size} records in the manifest`;
      this.#addProblem({ kind: "checkpoint", seq: size, file, line: number, message });
    }
    this.#pins.set(log.size, { head: log.head, by: "the manifest" });
  }

  /** Checks that no approval lock that the records name is missing or older. Earlier versions did not export them. */
  verifyApprovals(): void {
    const file = "approvals.jsonl";
    if (!this.#manifest.files.some(({ name }) => name === file)) {
      if (this.#serials.size > 0) this.notes.push(approvalsMissing);
      return;
    }
    const serials = new Map<string, number>();
    for (const { bytes, number } of this.#lines(file)) {
      const entry = parseApproval(bytes);
      if (entry !== undefined) serials.set(entry.key, entry.serial);
      else {
        const message = `line ${number} of the approval locks is malformed`;
        this.#addProblem({ kind: "approvals", file, line: number, message });
      }
    }
    if ([...this.#serials].every(([id, serial]) => (serials.get(id) ?? 0) >= serial)) return;
    this.#addProblem({ kind: "approvals", file, message: forgottenMessage });
  }

  verifyRecords(): void {
    const file = "records.jsonl";
    const { complete, files, log, records } = this.#manifest;
    if (!complete)
      this.notes.push(
        `the export contains ${records} of the log's ${log.size} records; omitted records cannot be checked`,
      );
    if (files.some(({ name }) => name === file)) {
      this.#verifyChain(file);
      return;
    }
    const lines = this.#lines("records.csv");
    while (!lines.next().done);
    this.found.records = records;
    this.notes.push("CSV lines have no hashes, so only the file as a whole is checked");
  }

  /** A complete export is one chain. A filtered export has one chain per range of consecutive records. */
  #verifyChain(file: string): void {
    const { complete } = this.#manifest;
    let first: number | null = null;
    let last = 0;
    let chain = new LogVerifier(complete ? this.#pins.keys() : []);
    for (const { bytes, number } of this.#lines(file)) {
      const record = parseJsonObject(bytes);
      const link = parseChainLink(bytes);
      const seq = link?.seq ?? last + 1;
      if (seq > last + 1 && !complete) chain = new LogVerifier([]);
      const isForged = record === undefined && link !== undefined && matchesOwnHash(bytes, link);
      chain.verifyLine(isForged ? notARecord : bytes, file, number);
      this.#addProblems(chain);
      this.#checkPin(seq, chain.head);
      if (record?.["kind"] === "decision") this.#checkDocuments(record, { seq, file, line: number });
      this.found.records++;
      first ??= seq;
      last = seq;
    }
    if (complete) chain.checkStart();
    this.#addProblems(chain);
    this.found.pruned = complete ? chain.pruned : 0;
    if (complete) this.#serials = chain.serials;
    this.#checkNumbers(first, last, file);
  }

  #addProblems(chain: LogVerifier): void {
    for (const problem of chain.problems.splice(0)) this.#addProblem(problem);
  }

  #checkPin(seq: number, hash: string): void {
    if (seq === this.#options.expect?.size) this.#hashAtExpectedSize = hash;
    const pin = this.#pins.get(seq);
    if (pin === undefined || pin.head === hash) return;
    this.#addProblem({
      kind: "checkpoint",
      seq,
      message: `record ${seq} does not match the hash in ${pin.by}`,
    });
  }

  #checkDocuments(record: Partial<JsonObject>, where: Pick<LogProblem, "seq" | "file" | "line">): void {
    for (const kind of ["definition", "environment"]) {
      const hash = asString(record[`${kind}_hash`]);
      if (this.#documents.has(`${kind} ${hash}`)) continue;
      // Reported once per document.
      this.#documents.add(`${kind} ${hash}`);
      const message = `the ${kind} ${hash} of record ${where.seq ?? 0} is not in the export`;
      this.#addProblem({ kind: "definition", ...where, message });
    }
  }

  #checkNumbers(first: number | null, last: number, file: string): void {
    const { records, first_seq, last_seq } = this.#manifest;
    if (this.found.records === records && first === first_seq && last === (last_seq ?? 0)) return;
    const message = `there are ${this.found.records} records from ${first ?? 0} to ${last}, the manifest says ${records} from ${first_seq ?? 0} to ${last_seq ?? 0}`;
    this.#addProblem({ kind: "cut", seq: last + 1, file, message });
  }

  verifyExpectation(): void {
    const { expect } = this.#options;
    const { log } = this.#manifest;
    if (expect === undefined || (expect.size === log.size && expect.head === log.head)) return;
    const { size, head } = expect;
    const actual = size === log.size ? log.head : size === 0 ? genesisHash : this.#hashAtExpectedSize;
    if (actual === head) return;
    const message =
      size > log.size
        ? `the log was cut: ${size} records were expected, there are ${log.size}`
        : actual === undefined
          ? `record ${size} is not in the export, so its expected hash cannot be checked`
          : `record ${size} does not have the expected hash: the log up to there is different`;
    this.#addProblem({ kind: "expectation", seq: Math.min(size, log.size + 1), message });
  }

  /** Yields the lines of a file, and checks at the end that the whole file matches the manifest. */
  *#lines(name: string): Generator<ExportLine> {
    const listed = this.#manifest.files.find((file) => file.name === name);
    if (listed === undefined) return;
    const fd = openExportFile(this.#directory, name);
    if (typeof fd === "string") {
      this.#addProblem({ kind: "file", file: name, message: fd });
      return;
    }
    const hash = createSha256();
    let bytes = 0;
    let number = 0;
    try {
      for (const line of readLines(fd)) {
        hash.update(line);
        bytes += line.length;
        const isComplete = line.at(-1) === newline;
        yield { bytes: isComplete ? line.subarray(0, -1) : line, number: ++number };
        if (number % 5000 === 0) this.#options.progress?.(this.#bytesRead + bytes, this.#totalBytes());
        if (isComplete) continue;
        const message = `\`${name}\` ends with an incomplete line`;
        this.#addProblem({ kind: "cut", file: name, line: number, message });
      }
    } finally {
      closeSync(fd);
    }
    this.#bytesRead += bytes;
    if (bytes === listed.bytes && hash.digest("hex") === listed.sha256) return;
    this.#addProblem({ kind: "file", file: name, message: `\`${name}\` is not the file that was exported` });
  }

  #totalBytes(): number {
    return this.#manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #addProblem(problem: LogProblem): void {
    if (this.problems.length < maxProblems) this.problems.push(problem);
  }
}

/** Also of an export whose manifest is not signed and was changed. */
const approvalsMissing =
  "the approval locks that were seen are not in the export; an earlier version wrote it";

function parseApproval(line: Buffer): { readonly key: string; readonly serial: number } | undefined {
  const { key, value } = parseJsonObject(line) ?? {};
  const { serial, head } = (value ?? {}) as Partial<JsonObject>;
  const isValid = typeof key === "string" && typeof serial === "number" && typeof head === "string";
  return isValid ? { key, serial } : undefined;
}

const notARecord = Buffer.alloc(0);

function parseJsonObject(line: Buffer): Partial<JsonObject> | undefined {
  try {
    const value = JSON.parse(line.toString("utf8")) as Json;
    return typeof value === "object" && !Array.isArray(value)
      ? ((value ?? undefined) as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

function hashDocument(document: Json | undefined): string | undefined {
  try {
    return document === undefined ? undefined : sha256Hex(canonicalJson(document));
  } catch {
    // Nested too deeply to be a definition.
    return undefined;
  }
}
