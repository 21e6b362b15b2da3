import { sha256Hex, sha256OfBytes } from "../digest/sha256.js";

/** What the first line of a log names as the one before it. */
export const origin = "0".repeat(64);

export interface Sealed {
  readonly line: string;
  readonly hash: string;
}

/** Makes a line of an entry: its hash covers every byte of it but the hash itself. */
export function seal(seq: number, body: string, previous: string): Sealed {
  const text = `{"seq":${seq},${body},"prev_hash":"${previous}"`;
  const hash = sha256Hex(`${text}}`);
  return { line: `${text},"hash":"${hash}"}\n`, hash };
}

/** More than a line has beside its entry. */
const frameLength = 200;
/** No character has more. */
const mostBytes = 3;

/** How many bytes the lines of these entries take at most. */
export function sealedLength(bodies: readonly string[]): number {
  return bodies.reduce((sum, body) => sum + Buffer.byteLength(body) + frameLength, 0);
}

/** The same without looking at their characters: it may be three times as many. */
export function roomFor(bodies: readonly string[]): number {
  return bodies.reduce((sum, body) => sum + mostBytes * body.length + frameLength, 0);
}

/** The same line, written into bytes: most of it is then made of text only once. */
export function sealInto(
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
const end = /^"prev_hash":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/;
const beginning = /^\{"seq":([1-9]\d{0,15}),/;

export interface Link {
  readonly seq: number;
  readonly previous: string;
  readonly hash: string;
}

/** What a line (without its newline) says about its place, true or not; undefined: it is no line of ours. */
export function linkOf(line: Buffer): Link | undefined {
  const found = end.exec(line.toString("latin1", Math.max(0, line.length - endLength)));
  const start = beginning.exec(line.toString("latin1", 0, 32));
  if (found === null || start === null) return undefined;
  const [, previous = "", hash = ""] = found;
  return { seq: Number(start[1]), previous, hash };
}

/** Whether the line is byte for byte the one that was hashed. */
export function isIntact(line: Buffer, { hash }: Link): boolean {
  const comma = line.length - hashLength;
  const before = line[comma] ?? 0;
  // For a moment the line ends there, as it did when it was hashed; cheaper than a copy.
  line[comma] = closing;
  const actual = sha256OfBytes(line.subarray(0, comma + 1));
  line[comma] = before;
  return actual === hash;
}

const closing = 125;

/** The hash that a line which ends in these bytes claims to have. */
export const tailLength = hashLength + 1;
const tail = /^,"hash":"([0-9a-f]{64})"\}\n$/;

export function hashAtTail(bytes: Buffer): string | undefined {
  return tail.exec(bytes.toString("latin1"))?.[1];
}
