import { existsSync, readFileSync, rmSync } from "node:fs";
import type { CountedLog } from "./count-records.js";
import { countLog } from "./count-records.js";
import { CounterFiles, pinOfCounters } from "./counter-files.js";
import { ShelfFiles } from "./file-shelf.js";
import { isNotFound, systemFiles } from "./files.js";
import type { Head } from "./head.js";
import { readHeadFile } from "./head.js";
import { findIndexDifferences } from "./index/compare-index.js";
import { readSealedJson } from "./index/sealed-json.js";
import { listSegments, segmentName } from "./segments.js";
import { runToEnd } from "./slices.js";
import { wrapReadErrors } from "./store-errors.js";
import type { CachedLabels } from "../../../record/answer-cache.js";
import { isIntactAnswer, labelsOfAnswer } from "../../../record/answer-cache.js";
import { recordIdIn } from "../../../record/verify-log.js";
import type { DecisionRecord, LogRecord } from "../../../model/record.js";
import type { LogProblem } from "../../../record/verify-log.js";

/** A derived file that differs from the log, relative to the store's directory. */
interface Difference {
  readonly file: string;
  readonly message: string;
}

/**
 * Compares every file that is derived from the log with the log: index, tallies, counters and cached answers. The log
 * itself must be intact. Writes nothing.
 */
export function verifyDerived(directory: string): readonly LogProblem[] {
  return wrapReadErrors(directory, () => {
    try {
      const differences = [
        ...findIndexDifferences(`${directory}/log`),
        ...findMemoDifferences(directory),
        ...findCounterDifferences(directory),
        ...findCacheDifferences(directory),
        ...["cache", "responses", "breakers"].flatMap((name) => findDamagedLines(directory, name)),
      ];
      return differences.map(({ file, message }) => ({ kind: "derived", file, message }));
    } catch (error) {
      // The log was pruned meanwhile, and the index with it.
      if (isNotFound(error)) return [];
      throw error;
    }
  });
}

/** Removes wrong derived files, so that they are rebuilt. Ignores errors: an auditor may have no permission to write. */
export function discardDerived(directory: string, problems: readonly LogProblem[]): void {
  const files = problems.flatMap(({ kind, file }) =>
    kind === "derived" && file !== undefined ? [file] : [],
  );
  const discarded = new Set(
    files.flatMap((file) => {
      // The parts of an index, and of the counters, belong together. Without these files none of them is used.
      if (file.startsWith("log/index/")) return [file, "log/index/state.json"];
      if (file.startsWith("counters/")) return ["counters/table"];
      return file === "log/head" ? [] : [file];
    }),
  );
  for (const file of discarded) {
    try {
      rmSync(`${directory}/${file}`, { force: true });
    } catch {
      return;
    }
  }
}

/** Checks the file of remembered verifications. */
function findMemoDifferences(directory: string): readonly Difference[] {
  const file = "log/index/verified.json";
  if (!existsSync(`${directory}/${file}`) || readSealedJson(`${directory}/${file}`) !== undefined) return [];
  return [{ file, message: "the remembered verifications do not match their checksum" }];
}

/** On a store in use, the counters change while they are compared. */
const maxAttempts = 5;

function findCounterDifferences(directory: string): readonly Difference[] {
  const log = `${directory}/log`;
  let head = readHeadFile(log);
  // Without a pin, they are those of an earlier version, and not used before they are counted again. A backup may
  // leave them out.
  if (head?.counters === undefined || !isCountable(log, head) || !existsSync(`${directory}/counters`))
    return [];
  let counted: CountedLog | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    counted = runToEnd(countLog(log, head, counted && { before: counted }));
    const files = new CounterFiles(`${directory}/counters`, systemFiles).differences(counted.counters);
    const now = readHeadFile(log);
    if (now?.counters === head.counters) {
      const pin = pinOfCounters(counted.counters);
      return [
        ...(pin === head.counters
          ? []
          : [{ file: "log/head", message: "the head does not match the counters" }]),
        ...files.map((name) => ({
          file: `counters/${name}`,
          message: "the counters differ from what the records count",
        })),
      ];
    }
    if (now === undefined) return [];
    head = now;
  }
  return [];
}

/** Returns false if an earlier version pruned records without noting what they count. */
const isCountable = (log: string, { pruned }: Head): boolean =>
  pruned !== undefined || (listSegments(log)[0] ?? 1) === 1;

function findDamagedLines(directory: string, name: string): readonly Difference[] {
  const shelf = new ShelfFiles(`${directory}/${name}`, { files: systemFiles, now: () => 0, durable: false });
  return shelf
    .leaves()
    .filter((leaf) => shelf.hasDamagedLine(leaf))
    .map((leaf) => ({ file: `${name}/all${leaf}.jsonl`, message: "a line does not match its checksum" }));
}

/** Checks that each cached answer is unchanged and is the one that was recorded when it was cached. */
function findCacheDifferences(directory: string): readonly Difference[] {
  const shelf = new ShelfFiles(`${directory}/cache`, { files: systemFiles, now: () => 0, durable: false });
  const wrong = new Set<string>();
  const cached = new Map<string, CachedLabels & { readonly file: string }>();
  for (const leaf of shelf.leaves()) {
    const file = `cache/all${leaf}.jsonl`;
    for (const entry of shelf.entriesOf(leaf)) {
      const answer = labelsOfAnswer(entry);
      if (!isIntactAnswer(entry)) wrong.add(file);
      else if (answer !== undefined) cached.set(answer.record_id, { ...answer, file });
    }
  }
  if (cached.size > 0)
    for (const record of findRecords(`${directory}/log`, cached)) {
      const { file, labels, targets } = cached.get(record.record_id) ?? {};
      const { proposed_labels = record.selected_labels, proposed_targets = record.selected_targets } = record;
      const isSame =
        JSON.stringify([labels, targets]) === JSON.stringify([proposed_labels, proposed_targets]);
      if (file !== undefined && !isSame) wrong.add(file);
    }
  return [...wrong].map((file) => ({ file, message: "a cached answer was changed" }));
}

/** Reads the decisions with these ids. */
function* findRecords(log: string, ids: ReadonlyMap<string, unknown>): Generator<DecisionRecord> {
  for (const first of listSegments(log)) {
    const bytes = readFileSync(`${log}/${segmentName(first)}`);
    let start = 0;
    for (let end = bytes.indexOf("\n"); end !== -1; end = bytes.indexOf("\n", start)) {
      const line = bytes.subarray(start, end);
      const { record_id } = recordIdIn(line);
      if (record_id !== undefined && ids.has(record_id)) {
        const record = JSON.parse(line.toString("utf8")) as LogRecord;
        if (record.kind === "decision") yield record;
      }
      start = end + 1;
    }
  }
}
