import { isUtf8 } from "node:buffer";
import { DecisionError } from "../../errors.js";

/** Deeper nesting is no plausible input, and could overflow the stack. */
const maxDepth = 64;

/** Parses a request body. Rejects invalid UTF-8, deep nesting and duplicate keys. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidBody("it is not UTF-8");
  const names = countNames(bytes);
  if (names === undefined) throw invalidBody(`it is nested deeper than ${maxDepth} levels`);
  const value = parseJson(bytes);
  // JSON.parse keeps the last of two equal keys; other parsers may keep the first.
  if (countKeys(value) !== names) throw invalidBody("an object has a duplicate key");
  return value;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw invalidBody(bytes.length === 0 ? "it is empty" : withoutExcerpt(error as Error));
  }
}

/** Removes the excerpt of the body from a message of JSON.parse. */
const withoutExcerpt = ({ message }: Error): string => message.replace(/,? *(?:\.\.\.)?".*$/s, "");

const invalidBody = (reason: string): DecisionError =>
  new DecisionError("input_invalid", `the body is not valid JSON: ${reason}`, {
    hint: "send a JSON object with `content-type: application/json`",
  });

const quote = 0x22;
const escape = 0x5c;
/** Setting this bit turns `[` into `{` and `]` into `}`. */
const caseBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;
const colon = 0x3a;

/** Counts the keys in JSON text by their colons; undefined: it is nested too deeply. */
function countNames(bytes: Buffer): number | undefined {
  let depth = 0;
  let names = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isInString) {
      if (byte === escape) at++;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === colon) names++;
    else if ((byte | caseBit) === opening) {
      if (++depth > maxDepth) return undefined;
    } else if ((byte | caseBit) === closing) depth--;
  }
  return names;
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const each of value) keys += countKeys(each);
    return keys;
  }
  for (const key in value) keys += 1 + countKeys((value as Record<string, unknown>)[key]);
  return keys;
}
