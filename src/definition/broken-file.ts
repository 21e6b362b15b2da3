import { decisionTypes } from "./decision-types.js";
import { diagnosticAt, sortDiagnostics } from "./diagnostics.js";
import type { DefinitionFile, FileSummary, HiddenGate } from "./definition-file.js";
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
  /** Whether its text is only the beginning of the file. */
  readonly isPartial?: boolean;
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

/** Returns the entry of a file that could not be read, or whose beginning only. */
export function unreadableFile(file: string, reason: string, beginning?: string): DefinitionFile {
  const diagnostic = diagnosticAt({ file, line: 1, column: 1 }, { message: reason });
  return brokenFile(file, beginning ?? "", [diagnostic], { isRead: false, isPartial: true });
}

/** Returns the entry of a file that is not text, with as much of it as could be decoded. */
export function undecodableFile(file: string, reason: string, decoded: string): DefinitionFile {
  const diagnostic = diagnosticAt({ file, line: 1, column: 1 }, { message: reason });
  return brokenFile(file, decoded, [diagnostic], { isRead: false });
}

/**
 * Returns the entry of a file without a document. Most likely it lost its content while it was saved, so it may have
 * contained any policy or gate, and guardrails or masks for every decision.
 */
export function emptyFile(file: string): DefinitionFile {
  const diagnostic = diagnosticAt(
    { file, line: 1, column: 1 },
    { message: "the file declares nothing", hint: "add a decision, or delete the file" },
  );
  return brokenFile(file, "", [diagnostic], { isPartial: true });
}

/** Returns the first diagnostics of a file, and how many more there are. */
export function limitDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const last = diagnostics.at(maxDiagnostics);
  if (last === undefined) return diagnostics;
  const message = `there are ${diagnostics.length - maxDiagnostics} more problems`;
  return [...diagnostics.slice(0, maxDiagnostics), diagnosticAt(last, { message, hint: "fix these first" })];
}

const idLine = /(?<![A-Za-z0-9_-])id["']?[ \t]{0,8}:[ \t]{0,8}["']?([A-Za-z0-9._-]{1,128})/g;

const decisionKeys = /(?<![A-Za-z0-9_-])decision["']?[ \t]{0,8}:/g;
const typeKeys = /(?<![A-Za-z0-9_-])type["']?[ \t]{0,8}:[ \t]{0,8}["']?([A-Za-z_]{1,32})/g;

/** The types of which none may be missed: they are found by a tool or an action, and not by their id. */
type HiddenType = Extract<DecisionType, "policy" | "gate">;

/**
 * Whether a broken file may declare a decision of this type. In text that is not YAML, `type` can also belong to an
 * entity, a param or a comment, so it is certain only if there is one for each decision and all are of other types.
 */
function mayDeclare(wanted: HiddenType, text: string, documents: readonly unknown[] | undefined): boolean {
  if (documents !== undefined) return documents.some((document) => mayBeOfType(wanted, document));
  if ([...text.matchAll(bracedKeys)].some(([, key = ""]) => typicalKeys[wanted].includes(key))) return true;
  const decisions = [...text.matchAll(decisionKeys)].length;
  const types = [...text.matchAll(typeKeys)].map(([, type = ""]) => nearest(type, decisionTypes));
  if (decisions === 0 || decisions !== types.length) return true;
  return types.some((type) => type === undefined || type === wanted);
}

/** Keys that only decisions of one type have: a decision with one of them may have the wrong type. */
const typicalKeys: Readonly<Record<HiddenType, readonly string[]>> = {
  policy: ["tool", "policies"],
  gate: ["action"],
};

/** Whether a document may be a decision of this type, with mistakes. */
function mayBeOfType(wanted: HiddenType, document: unknown): boolean {
  if (!isObject(document) || isEmpty(document)) return true;
  const { decision } = document;
  if (decision === undefined) return !Object.keys(document).every((key) => topLevelKeys.includes(key));
  if (!isObject(decision)) return true;
  if (Object.keys(decision).some((key) => nearest(key, typicalKeys[wanted]) !== undefined)) return true;
  const { type } = decision;
  const known = typeof type === "string" ? nearest(type, decisionTypes) : undefined;
  return known === undefined || known === wanted;
}

const anyGate: HiddenGate = { orgs: "any", actions: "any" };

/** The gates that a broken file may declare. */
function hiddenGates(text: string, documents: readonly unknown[] | undefined): readonly HiddenGate[] {
  if (documents === undefined) return [{ orgs: valuesOf("org", text), actions: valuesOf("name", text) }];
  return documents.filter((document) => mayBeOfType("gate", document)).flatMap(hiddenGate);
}

function hiddenGate(document: unknown): readonly HiddenGate[] {
  const decision = isObject(document) ? document["decision"] : undefined;
  if (!isObject(decision)) return [anyGate];
  const key = Object.keys(decision).find((each) => nearest(each, ["action"]) !== undefined);
  if (key === undefined) return [];
  const action = decision[key];
  const { org, name } = isObject(action) ? action : {};
  return [
    {
      orgs: typeof org === "string" ? [org] : "any",
      actions: typeof name === "string" ? [name] : "any",
    },
  ];
}

/** Returns the values of a key in text that is not YAML; `any` where there is none, or one cannot be read. */
function valuesOf(key: "org" | "name", text: string): readonly string[] | "any" {
  const found = text.matchAll(keyValues[key]);
  const values = [...found].map(([, value]) => value);
  // A backslash may be part of an escape sequence.
  const isReadable = (value: string | undefined): value is string => value?.includes("\\") === false;
  return values.length > 0 && values.every(isReadable) ? [...new Set(values)] : "any";
}

const keyValues = {
  org: /(?<![A-Za-z0-9_-])org["']?[ \t]{0,8}:(?:[ \t]{0,8}["']?([A-Za-z0-9][^\s"',{}[\]]{0,127}))?/g,
  name: /(?<![A-Za-z0-9_-])name["']?[ \t]{0,8}:(?:[ \t]{0,8}["']?([A-Za-z0-9][^\s"',{}[\]]{0,127}))?/g,
};

/** The `targets` key of a document, even misspelt; in a document in braces, of any map. */
const targetsKey = /(?:^["']?targ[a-z]{0,8}|(?:^[ \t]{0,80}"|[{,][ \t]{0,8}["']?)targets)["']?[ \t]{0,8}:/m;
const disabledKey = /(?<![A-Za-z0-9_-])disabled["']?[ \t]{0,8}:/;

type HiddenDeclarations = Pick<
  FileSummary,
  "hidesPolicy" | "hidesGates" | "hidesGuardrails" | "hidesTargets" | "hidesEndpoints"
>;

/** Whether a document or an item of it has no content. Most likely it was lost while the file was saved. */
function isEmpty(document: unknown): boolean {
  if (typeof document !== "object" || document === null) return document === null;
  const values = Object.values(document);
  return values.length === 0 || (Array.isArray(document) && values.some(isEmpty));
}

function hiddenDeclarations(text: string, result: ReadResult): HiddenDeclarations {
  const { isRead = true, documents } = result;
  const isPartial = result.isPartial === true || documents?.some(isEmpty) === true;
  const hidesTargets = targetsKey.test(text);
  const isGuarding =
    isPartial || mayHoldGuardrails(text, documents) || (hidesTargets && disabledKey.test(text));
  const guards = isGuarding ? { hidesGuardrails: true as const } : {};
  if (!isRead)
    return { hidesPolicy: true, hidesGates: [anyGate], hidesTargets: true, hidesEndpoints: true, ...guards };
  const gates = isPartial ? [anyGate] : mayDeclare("gate", text, documents) && hiddenGates(text, documents);
  return {
    ...(mayDeclare("policy", text, documents) && { hidesPolicy: true }),
    ...(gates !== false && { hidesGates: gates }),
    ...guards,
    ...(hidesTargets && { hidesTargets: true }),
    ...(mayContainEndpoints(text, documents) && { hidesEndpoints: true }),
  };
}

const topLevelKeys = ["decision", "guardrails", "endpoints", "targets", "masks", "observers", "tests"];

/** Returns the top-level key that a key is, even misspelt. */
const topLevelKey = (key: string): string | undefined => nearest(key.replaceAll(/[_-]/g, ""), topLevelKeys);

const isGuardingKey = (key: string): boolean => ["guardrails", "masks"].includes(topLevelKey(key) ?? "");

/**
 * Whether a broken file may contain guardrails or masks for every decision. It may, unless it can be shown to
 * contain something else: as YAML, maps without these keys; as other text, another top-level key, and these keys only
 * within it.
 */
function mayHoldGuardrails(text: string, documents: readonly unknown[] | undefined): boolean {
  if (documents !== undefined)
    return !documents.flat().every((each) => isObject(each) && !Object.keys(each).some(isGuardingKey));
  const keys = braces.test(text) ? bracedKeysOf(text) : outerKeysOf(text);
  return keys.some(isGuardingKey) || !keys.some((key) => topLevelKey(key) !== undefined);
}

function mayContainEndpoints(text: string, documents: readonly unknown[] | undefined): boolean {
  const keys =
    documents === undefined
      ? [
          ...[...text.matchAll(firstKeys)].map(([, key = ""]) => key),
          ...(braces.test(text) ? bracedKeysOf(text) : []),
        ]
      : documents.flatMap(keysOf);
  return keys.some((key) => topLevelKey(key) === "endpoints");
}

/** The keys of a document; for a list, those of its items. */
function keysOf(document: unknown): readonly string[] {
  if (Array.isArray(document)) return document.flatMap(keysOf);
  return typeof document === "object" && document !== null ? Object.keys(document) : [];
}

const firstKeys = /^(?:\?[ \t]{1,8})?["']?([A-Za-z_-]{1,32})["']?[ \t]{0,8}(?::|$)/gm;

const braces = /^(?:---)?\s{0,64}\{/m;
const bracedKeys = /([A-Za-z_-]{1,32})["']?\s{0,8}:/g;

/** All keys of text with braces: their nesting is not known. */
const bracedKeysOf = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(bracedKeys)].map(([, key = ""]) => key)),
];

/** A line that starts with a key, with its indentation; dashes, tags and anchors before the key count as such. */
const keyLine =
  /^((?:---)?[ \t]{0,256}(?:[-?][ \t]{1,256}|[!&][^\s]{0,64}[ \t]{1,256}){0,8})["']?([A-Za-z_-]{1,32})["']?[ \t]{0,8}(?::|$)/;

/** The keys of text that is not YAML, without those that are clearly nested in a top-level key. */
function outerKeysOf(text: string): readonly string[] {
  const keys = new Set<string>();
  let outer = Infinity;
  let inner = Infinity;
  for (const line of text.split(/\r\n?|\n/)) {
    if (/^(?:---|\.\.\.)/.test(line)) outer = inner = Infinity;
    const [, { length: indentation } = "", key] = keyLine.exec(line) ?? [];
    if (key === undefined) continue;
    if (indentation > outer) {
      // The first key within another one sets the indentation of all its keys.
      if (inner === Infinity) inner = indentation;
      if (indentation >= inner) continue;
      keys.add(key);
    } else {
      keys.add(key);
      outer = topLevelKey(key) === undefined || isGuardingKey(key) ? Infinity : indentation;
      inner = Infinity;
    }
  }
  return [...keys];
}
