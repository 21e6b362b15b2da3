import { sha256Hex } from "../digest/sha256.js";
import { origin } from "./chain.js";

/** Pins how long the log was and what its last hash was, so that neither can be changed unseen. */
export interface Checkpoint {
  readonly size: number;
  readonly head: string;
  readonly timestamp: string;
  /** The hash of the checkpoint before. */
  readonly prev_hash: string;
  /** Which key signed it, as the SHA-256 of the public key. */
  readonly key?: string;
  readonly signature?: string;
  readonly hash: string;
}

/** Signs a text with the key of this store. */
export type Sign = (text: string) => { readonly key: string; readonly signature: string };

export interface Pinned {
  readonly size: number;
  readonly head: string;
  readonly timestamp: string;
}

/** A line of `checkpoints.jsonl`. What is signed is the line up to the key, what is hashed the line up to the hash. */
export function checkpointLine(pinned: Pinned, previous: string | undefined, sign: Sign | undefined): string {
  const { size, head, timestamp } = pinned;
  const content = JSON.stringify({ size, head, timestamp, prev_hash: previous ?? origin });
  const signed = sign === undefined ? content : `${content.slice(0, -1)},${fields(sign(content))}}`;
  return `${signed.slice(0, -1)},"hash":"${sha256Hex(signed)}"}\n`;
}

function fields({ key, signature }: ReturnType<Sign>): string {
  return JSON.stringify({ key, signature }).slice(1, -1);
}

/** A line as it was read (without its newline), or undefined where any byte of it is not as it was written. */
export function parseCheckpoint(line: string): Checkpoint | undefined {
  const [, text, hash] = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/.exec(line) ?? [];
  if (text === undefined || sha256Hex(`${text}}`) !== hash) return undefined;
  try {
    return JSON.parse(line) as Checkpoint;
  } catch {
    return undefined;
  }
}

/** What the signature of a checkpoint was made of. */
export function signedText({ size, head, timestamp, prev_hash }: Checkpoint): string {
  return JSON.stringify({ size, head, timestamp, prev_hash });
}
