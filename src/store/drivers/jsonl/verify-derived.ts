import { existsSync, rmSync } from "node:fs";
import type { CountedLog } from "./count-records.js";
import { countLog } from "./count-records.js";
import { areDiscarded, CounterFiles, pinOfCounters } from "./counter-files.js";
import { ShelfFiles } from "./file-shelf.js";
import { isNotFound, systemFiles } from "./files.js";
import { readHeadFile } from "./head.js";
import { findIndexDifferences } from "./index/compare-index.js";
import { readSealedJson } from "./index/sealed-json.js";
import { readPlace } from "./read-place.js";
import { listSegments } from "./segments.js";
import { runToEnd } from "./slices.js";
import { wrapReadErrors } from "./store-errors.js";
import type { ShelfEntry } from "../../../model/store.js";
import { isResponseUnchanged } from "../../../enrichment/response-cache.js";
import { isAnswerOf, placeOfAnswer } from "../../../record/answer-cache.js";
import { makeDirectory } from "../../files.js";
import type { LogProblem } from "../../../record/verify-log.js";
import { writeRegularFile } from "../../regular-file.js";

/** A derived file that differs from the log, relative to the store's directory. */
interface Difference {
  readonly file: string;
  readonly message: string;
}

/**
 * Compares every file that is derived from the log with the log: index, tallies, counters and cached answers. The log
 * itself must be intact. `now` is in microseconds since 1970; answers that have expired by then are not compared. Writes
 * nothing.
 */
export function verifyDerived(directory: string, now = 0): readonly LogProblem[] {
  return wrapReadErrors(directory, () => {
    try {
      const differences = [
        ...findIndexDifferences(`${directory}/log`),
        ...findMemoDifferences(directory),
        ...findCounterDifferences(directory),
        ...findCacheDifferences(directory, now),
        ...findChangedResponses(directory),
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

/**
 * Removes wrong derived files, so that they are rebuilt. Counters get an empty table, which matches no head: without
 * one, a head that says that nothing was counted would be believed. Ignores errors: an auditor may have no permission
 * to write.
 */
export function discardDerived(directory: string, problems: readonly LogProblem[]): void {
  const files = problems.flatMap(({ kind, file }) =>
    kind === "derived" && file !== undefined ? [file] : [],
  );
  const discarded = new Set(
    files.flatMap((file) => {
      // The parts of an index, and of the counters, belong together. Without these files none of them is used.
      if (file.startsWith("log/index/")) return [file, "log/index/state.json"];
      if (file.startsWith("counters/") || file === "log/head") return ["counters"];
      return [file];
    }),
  );
  for (const file of discarded) {
    try {
      rmSync(`${directory}/${file}`, { force: true, recursive: true });
      if (file !== "counters") continue;
      makeDirectory(`${directory}/counters`, 0o700);
      writeRegularFile(`${directory}/counters/table`, "", 0o600);
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
  // Without a pin, they are those of an earlier version. Those and discarded ones are counted again before they are used.
  if (head?.counters === undefined || areDiscarded(`${directory}/counters`)) return [];
  let counted: CountedLog | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    counted = runToEnd(countLog(log, head, { before: counted, isVerified: true }));
    // An earlier version pruned records without noting what they count.
    if (!counted.isComplete) return [];
    // A backup may leave them out.
    const files = existsSync(`${directory}/counters`)
      ? new CounterFiles(`${directory}/counters`, systemFiles).differences(counted.counters)
      : [];
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

function findDamagedLines(directory: string, name: string): readonly Difference[] {
  const shelf = new ShelfFiles(`${directory}/${name}`, { files: systemFiles, now: () => 0, durable: false });
  return shelf
    .leaves()
    .filter((leaf) => shelf.hasDamagedLine(leaf))
    .map((leaf) => ({ file: `${name}/all${leaf}.jsonl`, message: "a line does not match its checksum" }));
}

/** Checks that each cached answer that has not expired is the one that a record of the log gave. */
function findCacheDifferences(directory: string, now: number): readonly Difference[] {
  const log = `${directory}/log`;
  const shelf = new ShelfFiles(`${directory}/cache`, { files: systemFiles, now: () => 0, durable: false });
  const [oldest = 1] = listSegments(log);
  const isWrong = (entry: ShelfEntry): boolean => {
    if ((entry.expires_at ?? 0) <= now) return false;
    const place = placeOfAnswer(entry);
    if (place === undefined) return true;
    const line = readPlace(log, place);
    const { segment = 0 } = place;
    // The record of an old answer may have been pruned.
    return line === undefined ? segment < 1 || segment >= oldest : !isAnswerOf(line.record, entry);
  };
  return shelf
    .leaves()
    .filter((leaf) => shelf.entriesOf(leaf).some(isWrong))
    .map((leaf) => ({
      file: `cache/all${leaf}.jsonl`,
      message: "no record of the log gave a cached answer",
    }));
}

/** Checks the digests of cached responses. The log does not have all of them, so they are not compared with it. */
function findChangedResponses(directory: string): readonly Difference[] {
  const shelf = new ShelfFiles(`${directory}/responses`, {
    files: systemFiles,
    now: () => 0,
    durable: false,
  });
  return shelf
    .leaves()
    .filter((leaf) => !shelf.entriesOf(leaf).every(isResponseUnchanged))
    .map((leaf) => ({
      file: `responses/all${leaf}.jsonl`,
      message: "a cached response of an endpoint was changed after it was written",
    }));
}
