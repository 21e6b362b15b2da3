import { sha256Hex, sha256OfBytes } from "../digest/sha256.js";

/** The `prev_hash` of the first line of a log. */
export const genesisHash = "0".repeat(64);

interface SealedLine {
  readonly line: string;
  readonly hash: string;
}

/** Builds the line of an entry; its hash covers every byte of the line except the hash itself. */
export function sealLine(seq: number, body: string, previous: string): SealedLine {
  const text = `{"seq":${seq},${body},"prev_hash":"${previous}"`;
  const hash = sha256Hex(`${text}}`);
  return { line: `${text},"hash":"${hash}"}\n`, hash };
}

/** An upper bound for the bytes of a line in addition to its entry. */
const frameLength = 240;
/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const maxBytesPerCharacter = 3;

/** Returns an upper bound for the bytes that the lines of these entries take. */
export function sealedByteLength(bodies: readonly string[]): number {
  return bodies.reduce((sum, body) => sum + Buffer.byteLength(body) + frameLength, 0);
}

/** A faster, looser bound that does not look at the characters: up to three times as large. */
export function maxSealedByteLength(bodies: readonly string[]): number {
  return bodies.reduce((sum, body) => sum + maxBytesPerCharacter * body.length + frameLength, 0);
}

/** Writes the same line into a buffer, which encodes the text only once. */
export function sealLineInto(
  bytes: Buffer,
  at: number,
  { seq, body, previous }: { readonly seq: number; readonly body: string; readonly previous: string },
): { readonly end: number; readonly hash: string } {
  const length = bytes.write(`{"seq":${seq},${body},"prev_hash":"${previous}"}`, at);
  const hash = sha256OfBytes(bytes.subarray(at, at + length));
  const brace = at + length - 1;
  return { end: brace + bytes.write(`,"hash":"${hash}"}\n`, brace, "latin1"), hash };
}

/** The end of a line: `,"prev_hash":"…","hash":"…"}`. */
const hashLength = `,"hash":"`.length + 64 + `"}`.length;
const endLength = `"prev_hash":"`.length + 64 + `"`.length + hashLength;
const linkEnd = /^"prev_hash":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/;
const linkStart = /^\{"seq":([1-9]\d{0,15}),/;

/** Ends the body of a record that a checkpoint is written for, so that a removed checkpoint is noticed. */
export const checkpointMark = ',"checkpoint":true';
const markBytes = Buffer.from(`${checkpointMark},`);

/** Whether a line (without its newline) says that a checkpoint was written right after it. */
export function hasCheckpointMark(line: Buffer): boolean {
  const end = line.length - endLength;
  const start = end - markBytes.length;
  return start > 0 && line.compare(markBytes, 0, markBytes.length, start, end) === 0;
}

export interface ChainLink {
  readonly seq: number;
  readonly previous: string;
  readonly hash: string;
}

/** Parses the place in the chain that a line (without its newline) claims; undefined: it is not a line of a log. */
export function parseChainLink(line: Buffer): ChainLink | undefined {
  const found = linkEnd.exec(line.toString("latin1", Math.max(0, line.length - endLength)));
  const start = linkStart.exec(line.toString("latin1", 0, 32));
  if (found === null || start === null) return undefined;
  const [, previous = "", hash = ""] = found;
  return { seq: Number(start[1]), previous, hash };
}

/** The length of the end of a line (without its newline) that `parsePreviousHash` needs. */
export const linkLength = endLength;

/** Returns the hash of the record before, which the end of a line (without its newline) names. */
export const parsePreviousHash = (end: Buffer): string | undefined =>
  linkEnd.exec(end.toString("latin1"))?.[1];

/** Whether the line is byte for byte what was hashed. */
export function matchesOwnHash(line: Buffer, { hash }: ChainLink): boolean {
  const comma = line.length - hashLength;
  const before = line[comma] ?? 0;
  // Closes the line there for a moment, as it was when hashed; cheaper than a copy.
  line[comma] = closingBrace;
  const actual = sha256OfBytes(line.subarray(0, comma + 1));
  line[comma] = before;
  return actual === hash;
}

const closingBrace = 125;

export const tailLength = hashLength + 1;
const tailPattern = /^,"hash":"([0-9a-f]{64})"\}\n$/;

/** Returns the hash that a line with this tail claims to have. */
export function parseTailHash(bytes: Buffer): string | undefined {
  return tailPattern.exec(bytes.toString("latin1"))?.[1];
}

/** Whether a record's own line is unchanged; its neighbours are not checked. */
export function isLineIntact(text: string): boolean {
  const line = Buffer.from(text);
  const link = parseChainLink(line);
  return link !== undefined && matchesOwnHash(line, link);
}

/** Records the length and the last hash of the log, so that truncating or rewriting it is detected. */
export interface Checkpoint {
  readonly size: number;
  readonly head: string;
  readonly timestamp: string;
  /** The hash of the checkpoint before. */
  readonly prev_hash: string;
  /** The SHA-256 of the public key that verifies the signature. */
  readonly key?: string;
  readonly signature?: string;
  readonly hash: string;
}

/** Signs a text with the store's key. */
export type Signer = (text: string) => { readonly key: string; readonly signature: string };

export interface CheckpointContent {
  readonly size: number;
  readonly head: string;
  readonly timestamp: string;
}

/** Builds a line of `checkpoints.jsonl`. The signature covers the line up to the key, the hash covers it up to the hash. */
export function formatCheckpoint(
  content: CheckpointContent,
  previous: string | undefined,
  sign: Signer | undefined,
): string {
  const { size, head, timestamp } = content;
  const text = JSON.stringify({ size, head, timestamp, prev_hash: previous ?? genesisHash });
  const signed = sign === undefined ? text : `${text.slice(0, -1)},${signatureFields(sign(text))}}`;
  return `${signed.slice(0, -1)},"hash":"${sha256Hex(signed)}"}\n`;
}

function signatureFields({ key, signature }: ReturnType<Signer>): string {
  return JSON.stringify({ key, signature }).slice(1, -1);
}

/** Parses a line (without its newline); undefined if any byte of it was changed. */
export function parseCheckpoint(line: string): Checkpoint | undefined {
  const [, text, hash] = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/.exec(line) ?? [];
  if (text === undefined || sha256Hex(`${text}}`) !== hash) return undefined;
  try {
    return JSON.parse(line) as Checkpoint;
  } catch {
    return undefined;
  }
}

/** Returns the text that a checkpoint's signature covers. */
export function checkpointSignedText({ size, head, timestamp, prev_hash }: Checkpoint): string {
  return JSON.stringify({ size, head, timestamp, prev_hash });
}
