import { canonicalJson } from "../../digest/canonical-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import { DecisionError } from "../../errors.js";
import type { ApprovalLock, LockEntry, LockHead } from "../../model/approval.js";
import { isObject } from "../../expression/equal.js";
import type { LoadedDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import { decisionTypes } from "../decision-types.js";

type FieldTest = (value: unknown) => boolean;
type Shape = Readonly<Record<string, FieldTest>>;

const matches =
  (pattern: RegExp): FieldTest =>
  (value) =>
    typeof value === "string" && pattern.test(value);
const oneOf =
  (...known: readonly unknown[]): FieldTest =>
  (value) =>
    known.includes(value);

const isSerial: FieldTest = (value) => Number.isSafeInteger(value) && Number(value) > 0;
const isHash = matches(/^[0-9a-f]{64}$/);
const isLockId = matches(/^[0-9a-f]{32}$/);
const isSignature = matches(/^[A-Za-z0-9+/]{86}==$/);

const lockShape: Shape = { format: isSerial, lock_id: isLockId, head: isObject, entries: Array.isArray };

const headShape: Shape = { serial: isSerial, entries_hash: isHash, key: isHash, signature: isSignature };

const retiredShape: Shape = {
  serial: isSerial,
  decision_id: matches(/^[A-Za-z0-9._-]{1,128}$/),
  type: oneOf(...decisionTypes),
  status: oneOf("approved", "retired"),
  definition_hash: isHash,
  environment_hash: isHash,
  at: matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  key: isHash,
  signature: isSignature,
};

const approvedShape: Shape = { ...retiredShape, definition: isObject, environment: isObject };

/** Parses a lock; `verifyLock` verifies it. */
export function parseLock(text: string, file: string): ApprovalLock {
  const lock = parseJson(text, file);
  const refuse = (what: string): never => {
    throw lockError(file, what);
  };
  if (!isObject(lock)) return refuse("is not a JSON object");
  if (lock["format"] !== 1) {
    return refuse(
      `has the format \`${JSON.stringify(lock["format"])}\`, which this version does not support`,
    );
  }
  const { lock_id, head, entries } = lock;
  if (head === undefined) return refuse("has no head");
  if (!Array.isArray(entries)) return refuse("has no list of entries");
  const invalid =
    shapeError(lock, lockShape, "") ??
    shapeError(head, headShape, "head") ??
    entries.map((entry, index) => shapeError(entry, shapeOf(entry), `entries/${index}`)).find(Boolean) ??
    duplicateEntryError(entries as readonly LockEntry[]);
  if (invalid !== undefined) return refuse(invalid);
  return {
    format: 1,
    lock_id: lock_id as string,
    head: head as unknown as LockHead,
    entries: entries as readonly LockEntry[],
  };
}

const mergeConflictHint = "take one side unchanged, then approve again what changed on the other side";

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^<{7}/m.test(text))
      throw lockError(file, "contains merge conflict markers", mergeConflictHint, error);
    throw lockError(file, "is not JSON", undefined, error);
  }
}

const shapeOf = (entry: unknown): Shape =>
  isObject(entry) && entry["status"] === "retired" ? retiredShape : approvedShape;

function shapeError(value: unknown, shape: Shape, place: string): string | undefined {
  if (!isObject(value)) return `must have an object at \`${place}\``;
  const within = (key: string): string => (place === "" ? key : `${place}/${key}`);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(shape, key));
  if (unknown !== undefined) return `has an unknown field \`${within(unknown)}\``;
  const wrong = Object.entries(shape).find(([key, test]) => !Object.hasOwn(value, key) || !test(value[key]));
  if (wrong === undefined) return undefined;
  const [key] = wrong;
  return `${Object.hasOwn(value, key) ? "has an invalid" : "has no"} \`${within(key)}\``;
}

function duplicateEntryError(entries: readonly LockEntry[]): string | undefined {
  if (entries.length === 0) return "has no entries";
  const serial = firstDuplicate(entries.map((entry) => entry.serial));
  if (serial !== undefined) return `has the serial ${serial} more than once`;
  const id = firstDuplicate(entries.map((entry) => entry.decision_id));
  return id === undefined ? undefined : `has more than one entry of \`${id}\``;
}

const firstDuplicate = <T>(values: readonly T[]): T | undefined =>
  values.find((value, index) => values.indexOf(value) !== index);

/** The file name of the lock, in the directory of the definitions. */
export const lockName = "decisions.lock";

/** Returns the error of an invalid lock. */
export function lockError(file: string, what: string, hint?: string, cause?: unknown): DecisionError {
  return new DecisionError("not_approved", `\`${file}\` ${what}`, {
    hint: hint ?? "restore the signed lock, or remove it and approve the definitions again",
    cause,
  });
}

type LockId = Pick<ApprovalLock, "lock_id">;

/** Returns the text of a lock entry that is signed; it contains the hashes of definition and environment. */
export function signedEntryText({ lock_id }: LockId, entry: Omit<LockEntry, "signature">): string {
  const { serial, decision_id, type, status, definition_hash, environment_hash, at, key } = entry;
  const said = { serial, decision_id, type, status, definition_hash, environment_hash, at, key };
  const signed = { lock_id, ...said };
  return signedText("agent-33 approval entry, format 1", signed);
}

/** Returns the text of the lock head that is signed. */
function signedHeadText(
  { lock_id }: LockId,
  { serial, entries_hash, key }: Omit<LockHead, "signature">,
): string {
  return signedText("agent-33 approval head, format 1", { lock_id, serial, entries_hash, key });
}

/** The purpose is part of the text, so that a signature cannot be used for another purpose. */
const signedText = (purpose: string, signed: JsonObject): string => `${purpose}\n${canonicalJson(signed)}`;

/** Returns the hash of all entries. */
function entriesHash(entries: readonly LockEntry[]): string {
  const bySerial = entries.toSorted((a, b) => a.serial - b.serial);
  return sha256Hex(canonicalJson(bySerial.map(({ signature }) => signature)));
}

interface Signature {
  readonly key: string;
  readonly signature: string;
}

/** Verifies a signature with the trusted keys. */
export type VerifySignature = (text: string, signed: Signature) => "fits" | "unfit" | "untrusted";

/** Throws unless all parts of a lock are as they were signed. Without `verify`, signatures are not checked. */
export function verifyLock(lock: ApprovalLock, file: string, verify: VerifySignature = () => "fits"): void {
  const { head, entries } = lock;
  for (const entry of entries) {
    const what = `the entry with serial ${entry.serial} (\`${entry.decision_id}\`)`;
    assertSigned(verify(signedEntryText(lock, entry), entry), { file, what, key: entry.key });
    assertContentMatchesHashes(entry, file);
  }
  const newest = Math.max(...entries.map(({ serial }) => serial));
  if (head.serial !== newest) {
    throw lockError(file, `has a head with serial ${head.serial}, but its newest entry has ${newest}`);
  }
  if (head.entries_hash !== entriesHash(entries)) {
    throw lockError(file, "has other entries than its head was signed for");
  }
  assertSigned(verify(signedHeadText(lock, head), head), { file, what: "its head", key: head.key });
}

function assertSigned(
  verdict: ReturnType<VerifySignature>,
  { file, what, key }: { readonly file: string; readonly what: string; readonly key: string },
): void {
  switch (verdict) {
    case "fits":
      return;
    case "unfit":
      throw lockError(file, `is forged: the signature of ${what} is invalid`);
    case "untrusted":
      throw lockError(
        file,
        `is not trusted: ${what} is signed by a key that is not trusted (\`${key.slice(0, 16)}…\`)`,
        "trust that key with `agent-33 decision config set trusted_keys …` if you know whose it is",
      );
  }
}

/** The content of an entry must match its hashes, which are signed. */
function assertContentMatchesHashes(entry: LockEntry, file: string): void {
  const { serial, decision_id, type, status, definition, environment } = entry;
  if (status === "retired") return;
  const isProven =
    hashOf(definition) === entry.definition_hash &&
    hashOf(environment) === entry.environment_hash &&
    definition?.["id"] === decision_id &&
    definition["type"] === type;
  if (isProven) return;
  throw lockError(
    file,
    `is forged: what it holds of \`${decision_id}\` is not what was approved with serial ${serial}`,
  );
}

const hashOf = (value: JsonObject | undefined): string | undefined =>
  value === undefined ? undefined : sha256Hex(canonicalJson(value));

/** A private key. */
export interface Signer {
  /** The id of the key. */
  readonly key: string;
  sign(text: string): string;
}

/** A lock entry without serial and signature. */
export type Statement = Omit<LockEntry, "serial" | "key" | "signature">;

export function approvalStatement(loaded: LoadedDefinition, at: string): Statement {
  const { definition, definition_hash, environment, environment_hash } = loaded;
  return {
    decision_id: definition.id,
    type: definition.type,
    status: "approved",
    definition_hash,
    environment_hash,
    at,
    definition: definition as unknown as JsonObject,
    environment,
  };
}

export function retirementStatement(entry: LockEntry, at: string): Statement {
  const { decision_id, type, definition_hash, environment_hash } = entry;
  return { decision_id, type, status: "retired", definition_hash, environment_hash, at };
}

/** Returns the statement of an entry again, to sign it with another key. */
export function resignedStatement(entry: LockEntry, at: string): Statement {
  const { definition, environment } = entry;
  return {
    ...retirementStatement(entry, at),
    status: entry.status,
    ...(definition !== undefined && { definition }),
    ...(environment !== undefined && { environment }),
  };
}

interface RevisionOptions {
  readonly signer: Signer;
  /** The highest serial that is known from elsewhere. */
  readonly above: number;
  /** Creates the random id of a new lock. */
  readonly newLockId: () => string;
}

/**
 * Returns the lock with new statements, which replace older ones of the same decisions. Serials continue from the
 * highest known.
 */
export function reviseLock(
  lock: ApprovalLock | undefined,
  statements: readonly Statement[],
  { signer, above, newLockId }: RevisionOptions,
): ApprovalLock {
  const of = { format: 1, lock_id: lock?.lock_id ?? newLockId() } as const;
  const first = Math.max(above, lock?.head.serial ?? 0) + 1;
  const signed = (statement: Statement, serial: number): LockEntry =>
    signedEntry(statement, serial, { signer, of });
  const added = statements.map((statement, index) => signed(statement, first + index));
  const superseded = new Set(added.map(({ decision_id }) => decision_id));
  const kept = (lock?.entries ?? []).filter(({ decision_id }) => !superseded.has(decision_id));
  const entries = [...kept, ...added].sort((a, b) => (a.decision_id < b.decision_id ? -1 : 1));
  const { key } = signer;
  const serial = Math.max(...entries.map((entry) => entry.serial));
  const head = { serial, entries_hash: entriesHash(entries), key };
  return { ...of, head: { ...head, signature: signer.sign(signedHeadText(of, head)) }, entries };
}

function signedEntry(
  statement: Statement,
  serial: number,
  { signer, of }: { readonly signer: Signer; readonly of: Pick<ApprovalLock, "lock_id"> },
): LockEntry {
  const { definition, environment, ...rest } = statement;
  const entry = { serial, ...rest, key: signer.key };
  return {
    ...entry,
    signature: signer.sign(signedEntryText(of, entry)),
    ...(definition !== undefined && { definition }),
    ...(environment !== undefined && { environment }),
  };
}

/** Formats a lock with one field per line, for readable diffs. */
export const lockText = (lock: ApprovalLock): string => `${JSON.stringify(lock, null, 2)}\n`;
