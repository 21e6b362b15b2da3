import { nearest } from "../nearest.js";

const known = ["decision", "guardrails", "endpoints", "targets", "tests"];

/** What stands at the top of a document and bears on decisions elsewhere. */
export type TopKey = "guardrails" | "endpoints";

/** Whether a key is, or was meant to be, another one. */
const isMeant = (key: string, wanted: TopKey): boolean =>
  nearest(key.replaceAll(/[_-]/g, ""), known) === wanted;

const topKeys = /^["']?([A-Za-z_-]{1,32})["']?[ \t]{0,8}:/gm;

const braces = /^(?:---)?\s{0,64}\{/m;
const bracedKeys = /([A-Za-z_-]{1,32})["']?\s{0,8}:/g;

/**
 * Whether a broken file may have been meant to hold guardrails for every decision, or endpoints. Of text that is
 * no YAML: at the start of a line; where there are braces anywhere, as nobody can tell what is at the top there.
 */
export function mayHold(wanted: TopKey, text: string, documents: readonly unknown[] | undefined): boolean {
  if (documents !== undefined) return documents.flatMap(keysOf).some((key) => isMeant(key, wanted));
  return hasMeant(wanted, text, topKeys) || (braces.test(text) && hasMeant(wanted, text, bracedKeys));
}

/** Of a list, those of its items: somebody may have begun the file with a dash. */
function keysOf(document: unknown): readonly string[] {
  if (Array.isArray(document)) return document.flatMap(keysOf);
  return typeof document === "object" && document !== null ? Object.keys(document) : [];
}

function hasMeant(wanted: TopKey, text: string, keys: RegExp): boolean {
  const found = new Set([...text.matchAll(keys)].map(([, key = ""]) => key));
  return [...found].some((key) => isMeant(key, wanted));
}
