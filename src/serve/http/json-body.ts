import { isUtf8 } from "node:buffer";
import { DecisionError } from "../../errors.js";

/** Deeper documents are nobody's context. */
const maxDepth = 64;

/** The document that a body is, before anything is made of it. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidBody("it is not UTF-8");
  const names = countNames(bytes);
  if (names === undefined) throw invalidBody(`it is nested deeper than ${maxDepth}`);
  const value = parseJson(bytes);
  // Others may take the first of two where we would take the last.
  if (countKeys(value) !== names) throw invalidBody("an object has a key twice");
  return value;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw invalidBody(bytes.length === 0 ? "it is empty" : withoutExcerpt(error as Error));
  }
}

/** Without the piece of the body that it shows. */
const withoutExcerpt = ({ message }: Error): string => message.replace(/,? *(?:\.\.\.)?".*$/s, "");

const invalidBody = (why: string): DecisionError =>
  new DecisionError("input_invalid", `the body is not JSON that can be used: ${why}`, {
    hint: "send a JSON object with `content-type: application/json`",
  });

const quote = 0x22;
const escape = 0x5c;
/** `[` and `{`, `]` and `}` differ in the same bit. */
const caseBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

const colon = 0x3a;

/** How many names are written in it; undefined: it is nested too deeply. What is within texts does not count. */
function countNames(bytes: Buffer): number | undefined {
  let depth = 0;
  let names = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isText) {
      if (byte === escape) at++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
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
