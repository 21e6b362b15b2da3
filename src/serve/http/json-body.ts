import { isUtf8 } from "node:buffer";
import { DecisionError } from "../../errors.js";

/** Deeper documents are nobody's context. */
const deepest = 64;

/** The document that a body is, before anything is made of it. */
export function jsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw unusable("it is not UTF-8");
  if (isTooDeep(bytes)) throw unusable(`it is nested deeper than ${deepest}`);
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch (error) {
    throw unusable(bytes.length === 0 ? "it is empty" : (error as Error).message);
  }
}

const unusable = (why: string): DecisionError =>
  new DecisionError("input_invalid", `the body is not JSON that can be used: ${why}`, {
    hint: "send a JSON object with `content-type: application/json`",
  });

const quote = 0x22;
const escape = 0x5c;
/** `[` and `{`, `]` and `}` differ in the same bit. */
const caseBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/** Brackets within texts do not count. */
function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isText) {
      if (byte === escape) at++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if ((byte | caseBit) === opening) {
      if (++depth > deepest) return true;
    } else if ((byte | caseBit) === closing) depth--;
  }
  return false;
}
