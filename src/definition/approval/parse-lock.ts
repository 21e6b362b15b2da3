import type { ApprovalLock, LockEntry, LockHead } from "../../model/approval.js";
import { decisionTypes } from "../decision-types.js";
import { lockFault } from "./lock-fault.js";

type Test = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Test>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fits =
  (pattern: RegExp): Test =>
  (value) =>
    typeof value === "string" && pattern.test(value);
const oneOf =
  (...known: readonly unknown[]): Test =>
  (value) =>
    known.includes(value);

const isSerial: Test = (value) => Number.isSafeInteger(value) && Number(value) > 0;
const isHash = fits(/^[0-9a-f]{64}$/);
const isLockId = fits(/^[0-9a-f]{32}$/);
const isSignature = fits(/^[A-Za-z0-9+/]{86}==$/);

const lockShape: Shape = { format: isSerial, lock_id: isLockId, head: isObject, entries: Array.isArray };

const headShape: Shape = { serial: isSerial, entries_hash: isHash, key: isHash, signature: isSignature };

const retiredShape: Shape = {
  serial: isSerial,
  decision_id: fits(/^[A-Za-z0-9._-]{1,128}$/),
  type: oneOf(...decisionTypes),
  status: oneOf("approved", "retired"),
  definition_hash: isHash,
  environment_hash: isHash,
  at: fits(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  key: isHash,
  signature: isSignature,
};

const approvedShape: Shape = { ...retiredShape, definition: isObject, environment: isObject };

/** The lock that a text is; nothing in it is proven yet. */
export function parseLock(text: string, file: string): ApprovalLock {
  const lock = parseJson(text, file);
  const refuse = (what: string): never => {
    throw lockFault(file, what);
  };
  if (!isObject(lock)) return refuse("is not a JSON object");
  if (lock["format"] !== 1) {
    return refuse(`has the format \`${JSON.stringify(lock["format"])}\`, which this version does not know`);
  }
  const { lock_id, head, entries } = lock;
  if (head === undefined) return refuse("has no head, which signs it as a whole");
  if (!Array.isArray(entries)) return refuse("has no list of entries");
  const fault =
    faultIn(lock, lockShape, "") ??
    faultIn(head, headShape, "head") ??
    entries.map((entry, index) => faultIn(entry, shapeOf(entry), `entries/${index}`)).find(Boolean) ??
    repeatIn(entries as readonly LockEntry[]);
  if (fault !== undefined) return refuse(fault);
  return {
    format: 1,
    lock_id: lock_id as string,
    head: head as LockHead,
    entries: entries as readonly LockEntry[],
  };
}

const ofMerge = "take one side of it as it was, then approve again what changed on the other";

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^<{7}/m.test(text)) throw lockFault(file, "has marks of a merge conflict", ofMerge, error);
    throw lockFault(file, "is not JSON", undefined, error);
  }
}

const shapeOf = (entry: unknown): Shape =>
  isObject(entry) && entry["status"] === "retired" ? retiredShape : approvedShape;

function faultIn(value: unknown, shape: Shape, place: string): string | undefined {
  if (!isObject(value)) return `has something else than an object at \`${place}\``;
  const within = (key: string): string => (place === "" ? key : `${place}/${key}`);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(shape, key));
  if (unknown !== undefined) return `has an unknown field \`${within(unknown)}\``;
  const wrong = Object.entries(shape).find(([key, test]) => !Object.hasOwn(value, key) || !test(value[key]));
  if (wrong === undefined) return undefined;
  const [key] = wrong;
  return `${Object.hasOwn(value, key) ? "has a wrong" : "lacks"} \`${within(key)}\``;
}

function repeatIn(entries: readonly LockEntry[]): string | undefined {
  if (entries.length === 0) return "has no entries";
  const serial = repeated(entries.map((entry) => entry.serial));
  if (serial !== undefined) return `has the serial ${serial} more than once`;
  const id = repeated(entries.map((entry) => entry.decision_id));
  return id === undefined ? undefined : `has more than one entry of \`${id}\``;
}

const repeated = <T>(values: readonly T[]): T | undefined =>
  values.find((value, index) => values.indexOf(value) !== index);
