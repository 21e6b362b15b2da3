import type { JsonObject } from "../../model/json.js";

const deepest = 32;

/** A byte order mark is no JSON, so it stays for the parser to refuse. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** An object in JSON that every reader understands alike: in UTF-8, no name twice, not nested deeper than 32. */
export function strictObject(bytes: Uint8Array): JsonObject | undefined {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return isPlain(text) ? (value as JsonObject) : undefined;
}

/** A text with what follows it, if that makes it a name; or a bracket. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g;

/** Of well-formed JSON, whether no object names something twice and nothing is nested too deeply. */
function isPlain(text: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(tokens)) {
    if (token === "{" || token === "[") {
      if (open.push(new Set()) > deepest) return false;
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (quoted !== undefined && colon !== undefined) {
      // The same name can be written in many ways.
      const name = JSON.parse(quoted) as string;
      const names = open.at(-1);
      if (names?.has(name)) return false;
      names?.add(name);
    }
  }
  return true;
}
