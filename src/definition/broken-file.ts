import { decisionTypes } from "./decision-types.js";
import { diagnosticAt, sortDiagnostics } from "./diagnostics.js";
import type { DefinitionFile, FileSummary } from "./definition-file.js";
import type { DecisionType } from "../model/definition.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { isObject } from "../expression/equal.js";
import { nearest } from "../text.js";

/** Larger files are not read. */
export const maxFileBytes = 4 * 1024 * 1024;

export const tooLargeMessage = `a definition file may have at most ${maxFileBytes} bytes`;

/** How many diagnostics of one file are reported. */
const maxDiagnostics = 200;

/** How much of a broken file could be read. */
interface ReadResult {
  /** Whether its text could be read. */
  readonly isRead?: boolean;
  /** Its documents, if it is valid YAML. */
  readonly documents?: readonly unknown[] | undefined;
}

/**
 * Returns the entry of a file with errors. It declares nothing; the ids and keys that its text contains are
 * recorded, so that what may be in it is refused and not ignored.
 */
export function brokenFile(
  file: string,
  text: string,
  diagnostics: readonly Diagnostic[],
  result: ReadResult = {},
): DefinitionFile {
  return {
    summary: {
      file,
      definitions: [],
      diagnostics: limitDiagnostics(sortDiagnostics(diagnostics)),
      claimedIds: [...text.matchAll(idLine)].map(([, id = ""]) => id),
      ...hiddenDeclarations(text, result),
    },
    body: { definitions: [], tests: [] },
  };
}

/** Returns the entry of a file that could not be read. */
export function unreadableFile(file: string, reason: string, beginning = ""): DefinitionFile {
  const diagnostic = diagnosticAt({ file, line: 1, column: 1 }, { message: reason });
  return brokenFile(file, beginning, [diagnostic], { isRead: false });
}

/**
 * Returns the entry of a file without a document. Most likely it lost its content while it was saved, so it may have
 * contained any policy or gate.
 */
export function emptyFile(file: string): DefinitionFile {
  const diagnostic = diagnosticAt(
    { file, line: 1, column: 1 },
    { message: "the file declares nothing", hint: "add a decision, or delete the file" },
  );
  const { summary, body } = brokenFile(file, "", [diagnostic]);
  return { summary: { ...summary, hidesGates: "any" }, body };
}

function limitDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const last = diagnostics.at(maxDiagnostics);
  if (last === undefined) return diagnostics;
  const message = `there are ${diagnostics.length - maxDiagnostics} more problems`;
  return [...diagnostics.slice(0, maxDiagnostics), diagnosticAt(last, { message, hint: "fix these first" })];
}

const idLine = /(?<![A-Za-z0-9_-])id["']?[ \t]{0,8}:[ \t]{0,8}["']?([A-Za-z0-9._-]{1,128})/g;

const decisionKeys = /(?<![A-Za-z0-9_-])decision["']?[ \t]{0,8}:/g;
const typeKeys = /(?<![A-Za-z0-9_-])type["']?[ \t]{0,8}:[ \t]{0,8}["']?([A-Za-z_]{1,32})/g;

/**
 * Whether a broken file may declare a decision of this type. In text that is not YAML, `type` can also belong to an
 * entity, a param or a comment, so it is certain only if there is one for each decision and all are of other types.
 */
function mayDeclare(wanted: DecisionType, text: string, documents: readonly unknown[] | undefined): boolean {
  if (documents !== undefined) return documents.some((document) => mayBeOfType(wanted, document));
  const decisions = [...text.matchAll(decisionKeys)].length;
  const types = [...text.matchAll(typeKeys)].map(([, type = ""]) => nearest(type, decisionTypes));
  if (decisions === 0 || decisions !== types.length) return true;
  return types.some((type) => type === undefined || type === wanted);
}

/** Whether a document may be a decision of this type, with mistakes. */
function mayBeOfType(wanted: DecisionType, document: unknown): boolean {
  if (!isObject(document)) return true;
  const { decision } = document;
  if (decision === undefined) return !Object.keys(document).every((key) => topLevelKeys.includes(key));
  const type = isObject(decision) ? decision["type"] : undefined;
  const known = typeof type === "string" ? nearest(type, decisionTypes) : undefined;
  return known === undefined || known === wanted;
}

/** The names of the actions of gates that a broken file may declare; any where a name cannot be read. */
function hiddenActions(text: string, documents: readonly unknown[] | undefined): readonly string[] | "any" {
  if (documents === undefined) {
    const names = [...text.matchAll(actionNameKeys)].map(([, name = ""]) => name);
    return names.length === 0 ? "any" : names;
  }
  const names = documents
    .filter((document) => mayBeOfType("gate", document))
    .flatMap((document) => {
      const decision = isObject(document) ? document["decision"] : undefined;
      if (!isObject(decision)) return [undefined];
      const action = Object.keys(decision).find((key) => nearest(key, ["action"]) !== undefined);
      return action === undefined ? [] : [decision[action]];
    })
    .map((action) => (isObject(action) ? action["name"] : undefined));
  return names.every((name) => typeof name === "string") ? names : "any";
}

const actionNameKeys = /(?<![A-Za-z0-9_-])name["']?[ \t]{0,8}:[ \t]{0,8}["']?([^\s"',{}]{1,128})/g;

/** The `targets` key of a document, even misspelt; in a document in braces, of any map. */
const targetsKey = /(?:^["']?targ[a-z]{0,8}|(?:^[ \t]{0,80}"|[{,][ \t]{0,8}["']?)targets)["']?[ \t]{0,8}:/m;
const disabledKey = /(?<![A-Za-z0-9_-])disabled["']?[ \t]{0,8}:/;

type HiddenDeclarations = Pick<
  FileSummary,
  "hidesPolicy" | "hidesGates" | "hidesGuardrails" | "hidesTargets" | "hidesEndpoints"
>;

function hiddenDeclarations(text: string, { isRead = true, documents }: ReadResult): HiddenDeclarations {
  const hidesTargets = targetsKey.test(text);
  // A target that is disabled in an unreadable file must stay disabled.
  const isUnknown = !isRead && text === "";
  const isGuarding =
    isUnknown ||
    mayContainKey("guardrails", text, documents) ||
    mayContainKey("masks", text, documents) ||
    (hidesTargets && disabledKey.test(text));
  const guards = isGuarding ? { hidesGuardrails: true as const } : {};
  if (!isRead)
    return { hidesPolicy: true, hidesGates: "any", hidesTargets: true, hidesEndpoints: true, ...guards };
  return {
    ...(mayDeclare("policy", text, documents) && { hidesPolicy: true }),
    ...(mayDeclare("gate", text, documents) && { hidesGates: hiddenActions(text, documents) }),
    ...guards,
    ...(hidesTargets && { hidesTargets: true }),
    ...(mayContainKey("endpoints", text, documents) && { hidesEndpoints: true }),
  };
}

const topLevelKeys = ["decision", "guardrails", "endpoints", "targets", "masks", "tests"];

/** The top-level keys that affect decisions in other files. */
type SharedKey = "guardrails" | "endpoints" | "masks";

/** Whether a key is this one, even misspelt. */
const isSpellingOf = (key: string, wanted: SharedKey): boolean =>
  nearest(key.replaceAll(/[_-]/g, ""), topLevelKeys) === wanted;

const topKeys = /^(?:\?[ \t]{1,8})?["']?([A-Za-z_-]{1,32})["']?[ \t]{0,8}(?::|$)/gm;

const braces = /^(?:---)?\s{0,64}\{/m;
const bracedKeys = /([A-Za-z_-]{1,32})["']?\s{0,8}:/g;

/**
 * Whether a broken file may contain guardrails or masks for every decision, or endpoints. In text that is not YAML, the key
 * is searched at the start of a line; in text with braces anywhere, because its nesting is not known.
 */
function mayContainKey(wanted: SharedKey, text: string, documents: readonly unknown[] | undefined): boolean {
  if (documents !== undefined) return documents.flatMap(keysOf).some((key) => isSpellingOf(key, wanted));
  return (
    hasSpellingOf(wanted, text, topKeys) || (braces.test(text) && hasSpellingOf(wanted, text, bracedKeys))
  );
}

/** The keys of a document; for a list, those of its items. */
function keysOf(document: unknown): readonly string[] {
  if (Array.isArray(document)) return document.flatMap(keysOf);
  return typeof document === "object" && document !== null ? Object.keys(document) : [];
}

function hasSpellingOf(wanted: SharedKey, text: string, keys: RegExp): boolean {
  const found = new Set([...text.matchAll(keys)].map(([, key = ""]) => key));
  return [...found].some((key) => isSpellingOf(key, wanted));
}
