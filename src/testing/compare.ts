import type { ExpectationKey } from "../definition/expectations.js";
import { equal, isList, isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Result } from "../model/result.js";
import type { CaseAnswer } from "./run-case.js";

/** A field whose value is not the expected one. */
export interface Mismatch {
  readonly field: string;
  readonly expected: Json;
  readonly actual: Json;
}

export interface Comparison {
  /** The actual values of the expected fields, and the unexpected errors. */
  readonly actual: JsonObject;
  readonly mismatches: readonly Mismatch[];
}

/** Compares an answer with what a test expects. */
export function compareAnswer(expect: JsonObject, answer: CaseAnswer): Comparison {
  const { error, ...fields } = expect;
  const actual: Record<string, Json> = {};
  const mismatches: Mismatch[] = [];
  const note = (field: string, expected: Json, found: Json, matches: boolean): void => {
    actual[field] = found;
    if (!matches) mismatches.push({ field, expected, actual: found });
  };
  for (const [field, expected] of Object.entries(fields)) {
    const found = answer.decision && actualValue(field as ExpectationKey, answer.decision.result);
    const matches = found !== undefined && matchesField(field as ExpectationKey, expected, found);
    note(field, expected, found ?? null, matches);
  }
  const errors = errorsOf(answer);
  if (error !== undefined) note("error", error, shownErrors(errors), matchesError(error, errors));
  else {
    const unexpected = errors.filter(({ message }) => !isExpectedWarning(message, expect, answer));
    if (unexpected.length > 0) note("error", null, shownErrors(unexpected), false);
  }
  return { actual, mismatches };
}

/** A test of the warnings names what could not be evaluated. Each warning about it must be one that the test names. */
function isExpectedWarning(
  message: string,
  { warnings: expected = [] }: JsonObject,
  { decision }: CaseAnswer,
): boolean {
  if (decision === undefined) return false;
  // A warning says in addition what the error led to: `A could not be evaluated, so it did not match: b is missing`.
  const parts = message.split(": ");
  const about = decision.result.warnings.filter((warning) => parts.every((part) => warning.includes(part)));
  const isNamed = (text: string): boolean => textsOf(expected).some((part) => text.includes(part));
  return (about.length === 0 ? [message] : about).every(isNamed);
}

interface ShownError {
  readonly code: string;
  readonly message: string;
}

/** The error that ended the decision, or what could not be evaluated. */
function errorsOf({ decision, error }: CaseAnswer): readonly ShownError[] {
  if (error !== undefined) return [{ code: error.code, message: error.message }];
  return (decision.answer.errors ?? []).map((message) => ({ code: "condition_errored", message }));
}

const shownErrors = (errors: readonly ShownError[]): string | null =>
  errors.length === 0 ? null : errors.map(({ message }) => message).join("; ");

function matchesError(expected: Json, errors: readonly ShownError[]): boolean {
  if (typeof expected !== "string") return errors.length > 0 === expected;
  return errors.some(({ code, message }) => code === expected || message.includes(expected));
}

/** Returns the value of a field in the result; undefined where the result has no such field. */
function actualValue(field: ExpectationKey, result: Result): Json | undefined {
  switch (field) {
    case "target":
      return onlyOne(result.selected_targets);
    case "targets":
      return result.selected_targets;
    case "label":
      return onlyOne(result.selected_labels);
    case "labels":
      return result.selected_labels;
    case "output":
      return result.outputs?.length === 1 ? (result.outputs[0] ?? null) : result.outputs;
    case "outputs":
      return result.outputs;
    case "because":
    case "warnings":
    case "blocked":
    case "escalated":
      return result[field];
    case "decision":
    case "confidence":
      return result.type === "scored" ? result[field] : undefined;
    case "allowed":
    case "outcome":
    case "params":
      return result.type === "policy" ? result[field] : undefined;
    case "status":
      return result.type === "gate" ? result.status : undefined;
    case "work_frame":
      return result.type === "gate" ? (result.work_frame as unknown as JsonObject) : undefined;
    case "reason":
      return result.type === "policy" ? result.reason : (onlyOne(result.because) ?? undefined);
    case "error":
      return undefined;
  }
}

/** Null where there is none; all of them where there are several. */
const onlyOne = (values: readonly string[]): Json => (values.length > 1 ? values : (values[0] ?? null));

function matchesField(field: ExpectationKey, expected: Json, actual: Json): boolean {
  switch (field) {
    case "because":
    case "warnings":
      return matchesTexts(textsOf(expected), textsOf(actual));
    case "reason":
      return textsOf(actual).some((text) => text === expected);
    case "targets":
    case "labels":
      return equal(textsOf(expected), actual);
    case "output":
      // A table that selects several rules answers with a list, even if one matches.
      return equal(expected, actual) || equal(expected, [actual]);
    case "work_frame":
      return isPartOf(expected, actual);
    case "confidence":
      return Math.abs(Number(expected) - Number(actual)) < 1e-9;
    case "target":
    case "label":
    case "outputs":
    case "decision":
    case "allowed":
    case "outcome":
    case "params":
    case "status":
    case "blocked":
    case "escalated":
    case "error":
      return equal(expected, actual);
  }
}

const textsOf = (value: Json): readonly string[] =>
  isList(value) ? (value as readonly string[]) : [value as string];

/** Each text must be part of one; no text means that there must be none. */
const matchesTexts = (expected: readonly string[], actual: readonly string[]): boolean =>
  expected.length === 0
    ? actual.length === 0
    : expected.every((part) => actual.some((text) => text.includes(part)));

/** Whether all named fields have their values, at any depth. */
const isPartOf = (expected: Json, actual: Json): boolean =>
  isObject(expected) && isObject(actual)
    ? Object.entries(expected).every(
        ([key, value]) => Object.hasOwn(actual, key) && isPartOf(value, actual[key] ?? null),
      )
    : equal(expected, actual);
