import { isUtf8 } from "node:buffer";
import { InvalidJson, parseJson } from "../../digest/parse-json.js";
import { DecisionError } from "../../errors.js";

/** Deeper nesting is no plausible input. */
const maxDepth = 64;

/** Parses a request body. Rejects invalid UTF-8, deep nesting, and what JSON.parse would silently change. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidBody("it is not UTF-8");
  if (bytes.length === 0) throw invalidBody("it is empty");
  try {
    return parseJson(bytes.toString("utf8"), { maxDepth });
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    if (error.value === undefined) throw invalidBody(error.message);
    const { message, hint } = error;
    throw new DecisionError("input_invalid", `the body cannot be used: ${message}`, { hint });
  }
}

const invalidBody = (reason: string): DecisionError =>
  new DecisionError("input_invalid", `the body is not valid JSON: ${reason}`, {
    hint: "send a JSON object with `content-type: application/json`",
  });
