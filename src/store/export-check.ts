import { closeSync } from "node:fs";
import type { JsonObject } from "../model/json.js";
import { isIntact, linkOf, origin } from "../record/chain.js";
import { parseCheckpoint } from "../record/checkpoint.js";
import type { LogProblem } from "../record/verify-log.js";
import { LogVerifier } from "../record/verify-log.js";
import type { Expectation } from "./drivers/jsonl/verify.js";
import { linesOf, newline, openPlain } from "./export-files.js";
import { hashOf, jsonIn } from "./export-lines.js";
import type { Manifest } from "./export-manifest.js";
import { manifestName, manifestText, textOf } from "./export-manifest.js";
import type { CheckSignatureOfText } from "./signing.js";
import { sha256Stream } from "./signing.js";

export interface VerifyExportOptions {
  readonly expect?: Expectation | undefined;
  /** Present: the manifest must be signed with this key. */
  readonly checkSignatureOfText?: CheckSignatureOfText | undefined;
  readonly progress?: (done: number, total: number) => void;
}

/** Further ones say nothing new. */
const mostProblems = 20;

interface Line {
  /** Without its newline. */
  readonly bytes: Buffer;
  readonly number: number;
}

/** What can be said of an export, part by part. */
export class ExportCheck {
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
