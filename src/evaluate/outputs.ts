import { maskMarker } from "../definition/definition-reads.js";
import { isLiteralOutput } from "../definition/outputs.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { DecisionError } from "../errors.js";
import { compileDocument, DocumentFailure } from "../expression/document-template.js";
import { Failure, typeName } from "../expression/failure.js";
import type { AggregateFunction } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** A compiled output. */
export interface PreparedOutput {
  readonly written: Json;
  /** The paths that its value depends on; masked texts read nothing. */
  readonly reads: readonly string[];
  /** The same for the lineage: with the keys of `get(a, 'key')`. */
  readonly inputs: readonly string[];
  /** Whether a text of it reads a masked value. */
  readonly isMasked: boolean;
  evaluate(scope: Scope): Json | DocumentFailure;
}

/**
 * Compiles an output. A text that reads a masked value is not evaluated, so that neither the answer nor an error can
 * show the value.
 */
export function prepareOutput(written: Json, isMaskedPath: (path: string) => boolean): PreparedOutput {
  if (isLiteralOutput(written)) {
    return { written, reads: none, inputs: none, isMasked: false, evaluate: () => written };
  }
  let isMasked = false;
  const template = compileDocument(written, (template) => {
    if (!template.reads.some(isMaskedPath)) return undefined;
    isMasked = true;
    return maskMarker;
  });
  const { reads, inputs } = template;
  return { written, reads, inputs, isMasked, evaluate: (scope) => template.fill(scope) };
}

const none: readonly string[] = Object.freeze([]);

/** The output of a branch. */
export interface LabelledOutput {
  readonly label: string;
  readonly output: PreparedOutput | undefined;
}

/** Returns the value of an output, null without one. Throws if it cannot be evaluated: an answer is whole or none. */
export function outputValue({ label, output }: LabelledOutput, scope: Scope, id: string): Json {
  if (output === undefined) return null;
  const value = output.evaluate(scope);
  if (!(value instanceof DocumentFailure)) return value;
  throw outputError(id, `${describeOutput(label, value)} could not be evaluated: ${value.message}`, label);
}

/** Names an output, or the part of it that a failure is about. */
const describeOutput = (label: string, { pointer }: DocumentFailure): string =>
  pointer === "" ? `the output of \`${label}\`` : `\`${pointer}\` in the output of \`${label}\``;

function outputError(id: string, message: string, label: string): DecisionError {
  return new DecisionError("output_errored", `\`${id}\`: ${message}`, {
    hint: "correct these values in the context; for values that may be missing use exists(…) or get(…)",
    details: { decision_id: id, label },
  });
}

/** Returns a text that is equal for outputs that agree. Masked ones agree only if they are written alike. */
export function outputKey(branch: LabelledOutput, scope: Scope, id: string): string {
  const value = outputValue(branch, scope, id);
  const { written = null, isMasked = false } = branch.output ?? {};
  return canonicalJson(isMasked ? [written, value] : [value]);
}

/** Returns the branches sorted by the position of their outputs in a list; equal ones stay in order. */
export function sortByOutput<Each extends LabelledOutput>(
  branches: readonly Each[],
  values: readonly Json[],
  { scope, id }: { readonly scope: Scope; readonly id: string },
): readonly Each[] {
  const positions = new Map(values.map((value, index) => [canonicalJson(value), index]));
  const placed = branches.map((branch) => {
    const value = outputValue(branch, scope, id);
    const position = positions.get(canonicalJson(value));
    if (position !== undefined) return { branch, position };
    const message = `the output of \`${branch.label}\` is not one of \`output_values\` (got ${shown(value)})`;
    throw outputError(id, message, branch.label);
  });
  return placed.toSorted((a, b) => a.position - b.position).map(({ branch }) => branch);
}

const maxShown = 60;

/** Returns a value as a short text for messages. */
export function shown(value: Json): string {
  const text = canonicalJson(value);
  return text.length > maxShown ? `${text.slice(0, maxShown - 1)}…` : text;
}

/**
 * Combines the outputs of all matches into one value, as DMN 1.2 and later do: equal outputs count each time. If one of
 * the numbers is masked, the combined one is too.
 */
export function aggregateOutputs(
  combine: AggregateFunction,
  branches: readonly LabelledOutput[],
  { values, id }: { readonly values: readonly Json[]; readonly id: string },
): Json {
  if (combine === "count") return values.length;
  if (branches.some(({ output }) => output?.isMasked)) return maskMarker;
  const numbers = values.map((value, index) => {
    if (typeof value === "number") return value;
    throw notANumber(value, branches[index]?.label ?? "", id);
  });
  switch (combine) {
    case "min":
      return numbers.reduce((least, each) => Math.min(least, each));
    case "max":
      return numbers.reduce((most, each) => Math.max(most, each));
    case "sum": {
      const sum = decimalSum(numbers);
      if (sum instanceof Failure) throw outputError(id, sum.message, branches[0]?.label ?? "");
      return sum;
    }
  }
}

/** Returns the value of a table in which no rule matched: the output of the default, a number or null. */
export function defaultAggregate({ label, output }: LabelledOutput, value: Json, id: string): Json {
  if (value === null || typeof value === "number" || output?.isMasked) return value;
  throw notANumber(value, label, id);
}

const notANumber = (value: Json, label: string, id: string): DecisionError =>
  outputError(
    id,
    `the output of \`${label}\` must be a number to be aggregated, and is ${typeName(value)}`,
    label,
  );

/** Adds numbers as they are written in decimal, as DMN does: 0.1 and 0.2 are 0.3, in any order. */
export function decimalSum(numbers: readonly number[]): number | Failure {
  const parts = numbers.map(decimalParts);
  const scale = parts.reduce((most, each) => Math.max(most, each.scale), 0);
  const total = parts.reduce((sum, each) => sum + each.digits * 10n ** BigInt(scale - each.scale), 0n);
  const sum = Number(`${total}e-${scale}`);
  const isExact = scale > 0 || (Number.isFinite(sum) && BigInt(sum) === total);
  return isExact && Number.isFinite(sum)
    ? sum
    : new Failure(`the sum ${shown(String(total))} is too large to be represented exactly`);
}

/** Returns a number as `digits / 10 ** scale`. */
function decimalParts(value: number): { readonly digits: bigint; readonly scale: number } {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}
