import { origin } from "../../../record/chain.js";
import type { Checkpoint } from "../../../record/checkpoint.js";
import type { LogProblem } from "../../../record/verify-log.js";
import { LogVerifier } from "../../../record/verify-log.js";
import type { CheckSignature } from "../../signing.js";
import { reading } from "./damage.js";
import { readMaybe } from "./files.js";
import type { Head, Position } from "./head.js";
import { parseHead } from "./head.js";
import { checkDefinitions } from "./verify-definitions.js";
import { checkCheckpoints, readCheckpoints } from "./verify-checkpoints.js";
import type { Ends } from "./verify-segments.js";
import { readSegments } from "./verify-segments.js";

export interface Expectation {
  readonly size: number;
  readonly head: string;
}

export interface VerifyOptions {
  readonly expect?: Expectation | undefined;
  /** Present: the last checkpoint, which covers all before it, must be signed with this key. */
  readonly checkSignature?: CheckSignature | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

export interface Verification {
  readonly ok: boolean;
  /** How many records there ever were, and the hash of the last. */
  readonly size: number;
  readonly head: string;
  readonly problems: readonly LogProblem[];
  /** Records that are still there; the others were pruned. */
  readonly records: number;
  readonly pruned: number;
  readonly checkpoints: number;
  readonly signed: number;
  /** What `--expect` takes; absent where something is wrong. */
  readonly expect?: string;
  /** What is worth knowing and no problem. */
  readonly notes: readonly string[];
}

/** Reads the whole log and tells whether it is what was written. Reads only. */
export function verifyStore(directory: string, options: VerifyOptions = {}): Verification {
  return reading(directory, () => verify(directory, options));
}

function verify(directory: string, options: VerifyOptions): Verification {
  const log = `${directory}/log`;
  const notes: string[] = [];
  // The head is read before the log: what is added meanwhile makes the log longer, never shorter.
  const headFile = readMaybe(`${log}/head`);
  const pins = readCheckpoints(`${log}/checkpoints.jsonl`);
  const head = headFile && parseHead(headFile);
  const { expect } = options;
  const verifier = new LogVerifier([
    ...pins.checkpoints.map(({ size }) => size),
    head?.size ?? 0,
    head?.synced?.size ?? 0,
    expect?.size ?? 0,
  ]);

  const ends = readSegments(log, verifier, { head, notes, progress: options.progress });
  const lastSigned = pins.checkpoints.at(-1)?.size ?? 0;
  verifier.checkBeginning(options.checkSignature === undefined ? Infinity : lastSigned);
  checkHead(verifier, { head, isPresent: headFile !== undefined, ends });
  checkCheckpoints(verifier, pins, { head, checkSignature: options.checkSignature });
  if (expect !== undefined) checkExpectation(verifier, expect);
  const kept = checkDefinitions(verifier, directory);
  if (kept > 0 && verifier.records === 0 && headFile === undefined) {
    notes.push("definitions are kept here, and no record that used them: was there a log?");
  }
  noteOnKey(pins.checkpoints, verifier.size, { options, notes });
  const { size, problems, records, pruned } = verifier;
  return {
    ok: problems.length === 0,
    size,
    head: size === 0 ? origin : verifier.head,
    problems,
    records,
    pruned,
    checkpoints: pins.checkpoints.length,
    ...(problems.length === 0 && { expect: `${size}:${size === 0 ? origin : verifier.head}` }),
    signed: pins.checkpoints.filter(({ signature }) => signature !== undefined).length,
    notes,
  };
}

function checkHead(
  verifier: LogVerifier,
  {
    head,
    isPresent,
    ends,
  }: { readonly head: Head | undefined; readonly isPresent: boolean; readonly ends: Ends },
): void {
  if (head === undefined) {
    if (verifier.records > 0) {
      const message = isPresent
        ? "the head file was changed"
        : "the head file is missing, so a cut could not be seen";
      verifier.problem({ kind: "head", file: "head", message });
    }
    return;
  }
  if (verifier.size < head.size) {
    const seq = verifier.size + 1;
    const message = `the log was cut: there were ${head.size} records, the last that is left is ${verifier.size}`;
    verifier.problem({ kind: "cut", seq, message });
    return;
  }
  for (const position of [head, ...(head.synced === undefined ? [] : [head.synced])]) {
    const end = ends.get(position.size);
    const isPlaced =
      isNewSegment(position) || (end?.segment === position.segment && end.bytes === position.bytes);
    const isIt = verifier.hashAt(position.size) === position.head;
    if (isIt && isPlaced) continue;
    const message = isIt
      ? `record ${position.size} does not end where the head file says: something before it has changed its length`
      : `record ${position.size} is not the one that the head file pins`;
    verifier.problem({ kind: "head", seq: position.size, file: "head", message });
  }
}

function checkExpectation(verifier: LogVerifier, { size, head }: Expectation): void {
  if (size > verifier.size) {
    const message = `the log was cut: ${size} records were expected, there are ${verifier.size}`;
    verifier.problem({ kind: "expectation", seq: verifier.size + 1, message });
  } else if (size < verifier.gone) {
    const message = `record ${size} is no longer there, so what was expected of it cannot be checked`;
    verifier.problem({ kind: "expectation", seq: size, message });
  } else if (verifier.hashAt(size) !== head) {
    const message = `record ${size} is not the one that was expected: the log up to there is another`;
    verifier.problem({ kind: "expectation", seq: size, message });
  }
}

/** Nothing was written to it yet. */
const isNewSegment = ({ size, segment, bytes }: Position): boolean => bytes === 0 && segment === size + 1;

/** What stands behind the last signature is only as safe as the head. */
function noteOnKey(
  checkpoints: readonly Checkpoint[],
  size: number,
  { options, notes }: { readonly options: VerifyOptions; readonly notes: string[] },
): void {
  const behind = size - (checkpoints.at(-1)?.size ?? 0);
  if (options.checkSignature === undefined || behind === 0) return;
  notes.push(
    `the last ${behind} record${behind === 1 ? " stands" : "s stand"} behind the last checkpoint, so no signature covers ${behind === 1 ? "it" : "them"} yet`,
  );
}
