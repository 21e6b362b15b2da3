import { sha256Hex, sha256OfBytes } from "../digest/sha256.js";

/** What the first line of a log names as the one before it. */
export const genesisHash = "0".repeat(64);

interface SealedLine {
  readonly line: string;
  readonly hash: string;
}

/** Makes a line of an entry: its hash covers every byte of it but the hash itself. */
export function sealLine(seq: number, body: string, previous: string): SealedLine {
  const text = `{"seq":${seq},${body},"prev_hash":"${previous}"`;
  const hash = sha256Hex(`${text}}`);
  return { line: `${text},"hash":"${hash}"}\n`, hash };
}

/** More than a line has beside its entry. */
const frameLength = 200;
/** No character has more. */
const maxBytesPerCharacter = 3;

/** How many bytes the lines of these entries take at most. */
export function sealedByteLength(bodies: readonly string[]): number {
  return bodies.reduce((sum, body) => sum + Buffer.byteLength(body) + frameLength, 0);
}

/** The same without looking at their characters: it may be three times as many. */
export function maxSealedByteLength(bodies: readonly string[]): number {
  return bodies.reduce((sum, body) => sum + maxBytesPerCharacter * body.length + frameLength, 0);
}

/** The same line, written into bytes: most of it is then made of text only once. */
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

/** Of a line's end: `,"prev_hash":"…","hash":"…"}`. */
const hashLength = `,"hash":"`.length + 64 + `"}`.length;
const endLength = `"prev_hash":"`.length + 64 + `"`.length + hashLength;
const linkEnd = /^"prev_hash":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/;
const linkStart = /^\{"seq":([1-9]\d{0,15}),/;

export interface ChainLink {
  readonly seq: number;
  readonly previous: string;
  readonly hash: string;
}

/** What a line (without its newline) says about its place, true or not; undefined: it is no line of ours. */
export function parseChainLink(line: Buffer): ChainLink | undefined {
  const found = linkEnd.exec(line.toString("latin1", Math.max(0, line.length - endLength)));
  const start = linkStart.exec(line.toString("latin1", 0, 32));
  if (found === null || start === null) return undefined;
  const [, previous = "", hash = ""] = found;
  return { seq: Number(start[1]), previous, hash };
}

/** Whether the line is byte for byte the one that was hashed. */
export function matchesOwnHash(line: Buffer, { hash }: ChainLink): boolean {
  const comma = line.length - hashLength;
  const before = line[comma] ?? 0;
  // For a moment the line ends there, as it did when it was hashed; cheaper than a copy.
  line[comma] = closingBrace;
  const actual = sha256OfBytes(line.subarray(0, comma + 1));
  line[comma] = before;
  return actual === hash;
}

const closingBrace = 125;

/** The hash that a line which ends in these bytes claims to have. */
export const tailLength = hashLength + 1;
const tailPattern = /^,"hash":"([0-9a-f]{64})"\}\n$/;

export function parseTailHash(bytes: Buffer): string | undefined {
  return tailPattern.exec(bytes.toString("latin1"))?.[1];
}

/** Whether a record's own line is byte for byte what was written; those around it may not be. */
export function isLineIntact(text: string): boolean {
  const line = Buffer.from(text);
  const link = parseChainLink(line);
  return link !== undefined && matchesOwnHash(line, link);
}

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
export type Signer = (text: string) => { readonly key: string; readonly signature: string };

export interface CheckpointContent {
  readonly size: number;
  readonly head: string;
  readonly timestamp: string;
}

/** A line of `checkpoints.jsonl`. What is signed is the line up to the key, what is hashed the line up to the hash. */
export function formatCheckpoint(
  pinned: CheckpointContent,
  previous: string | undefined,
  sign: Signer | undefined,
): string {
  const { size, head, timestamp } = pinned;
  const content = JSON.stringify({ size, head, timestamp, prev_hash: previous ?? genesisHash });
  const signed = sign === undefined ? content : `${content.slice(0, -1)},${signatureFields(sign(content))}}`;
  return `${signed.slice(0, -1)},"hash":"${sha256Hex(signed)}"}\n`;
}

function signatureFields({ key, signature }: ReturnType<Signer>): string {
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
export function checkpointSignedText({ size, head, timestamp, prev_hash }: Checkpoint): string {
  return JSON.stringify({ size, head, timestamp, prev_hash });
}
