import { origin } from "../../../record/chain.js";
import type { Checkpoint } from "../../../record/checkpoint.js";
import { parseCheckpoint } from "../../../record/checkpoint.js";
import type { LogVerifier } from "../../../record/verify-log.js";
import type { CheckSignature } from "../../signing.js";
import { readMaybe } from "./files.js";
import type { Head } from "./head.js";

export interface Checkpoints {
  readonly checkpoints: readonly Checkpoint[];
  /** The first line that is no checkpoint as it was written. */
  readonly damagedLine: number | undefined;
}

export function readCheckpoints(path: string): Checkpoints {
  const lines = (readMaybe(path) ?? Buffer.alloc(0)).toString("utf8").split("\n");
  // Behind the last newline there may be a line that was never finished.
  lines.pop();
  const parsed = lines.map(parseCheckpoint);
  const damaged = parsed.findIndex((each, index) => each?.prev_hash !== (parsed[index - 1]?.hash ?? origin));
  return {
    checkpoints: parsed.filter((each) => each !== undefined),
    damagedLine: damaged === -1 ? undefined : damaged + 1,
  };
}

export function checkCheckpoints(
  verifier: LogVerifier,
  { checkpoints, damagedLine }: Checkpoints,
  {
    head,
    checkSignature,
  }: { readonly head: Head | undefined; readonly checkSignature: CheckSignature | undefined },
): void {
  const file = "checkpoints.jsonl";
  if (damagedLine !== undefined) {
    const message = `line ${damagedLine} of the checkpoints is not as it was written`;
    verifier.problem({ kind: "checkpoint", file, line: damagedLine, message });
  }
  for (const checkpoint of checkpoints) verifier.checkCheckpoint(checkpoint);
  const pin = head?.checkpoint;
  if (pin !== undefined && !checkpoints.some(({ size, hash }) => size === pin.size && hash === pin.hash)) {
    verifier.problem({
      kind: "checkpoint",
      file,
      message: `the checkpoint at ${pin.size} records is missing`,
    });
  }
  if (checkSignature === undefined) return;
  // The newest covers all before it, also what was pinned before there was a key, or under another.
  const newest = checkpoints.at(-1);
  if (newest === undefined) {
    if (damagedLine !== undefined) return;
    const message =
      "there is no checkpoint yet that could be signed: the setting `checkpoint_every` says how often one is made";
    verifier.problem({ kind: "signature", file, message });
  } else if (!checkSignature(newest)) {
    const message = `the last checkpoint, at ${newest.size} records, is not signed with this key`;
    verifier.problem({ kind: "signature", seq: newest.size, file, message });
  }
}
