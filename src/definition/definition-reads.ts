import { isRouting } from "./decision-types.js";
import { casesOf } from "./branches.js";
import { outputsOf } from "./outputs.js";
import { compileDocument } from "../expression/document-template.js";
import type { Template } from "../expression/template.js";
import { compileCondition, compileInput } from "../expression/template.js";
import type { Definition } from "../model/definition.js";

/** Returns the paths that the input, the conditions and the outputs of a definition read. Masked outputs read nothing. */
export function definitionReads(definition: Definition, masks: readonly string[] = []): readonly string[] {
  const isMasked = maskedPathTest(inputTemplate(definition), masks);
  const outputs = outputsOf(definition).flatMap(
    ({ output }) =>
      compileDocument(output, ({ reads }) => (reads.some(isMasked) ? maskMarker : undefined)).reads,
  );
  const conditions = casesOf(definition).flatMap(({ each }) =>
    each.condition === undefined || each.condition === "" ? [] : compileCondition(each.condition).reads,
  );
  return [...inputReads(definition), ...conditions, ...outputs];
}

/** Whether the input is masked in the log, so that inputs cannot be distinguished there. */
export function isInputMasked(definition: Definition, pointers: readonly string[]): boolean {
  return pointers.length > 0 && inputReads(definition).some((path) => readsMasked(path, pointers));
}

/** Returns the compiled input of a definition, if it has one. */
export const inputTemplate = ({ input }: Definition): Template | undefined =>
  input === undefined ? undefined : compileInput(input);

const inputReads = ({ input }: Definition): readonly string[] =>
  input === undefined ? ["context"] : compileInput(input).reads;

/** Replaces a masked value. */
export const maskMarker = "[masked]";

/** The step of a mask that matches every item of a list and every value of an object. */
export const wildcardStep = "*";

/** Returns the steps of a JSON pointer (RFC 6901). */
export function pointerSteps(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Whether the value at a path of an expression may contain, or be part of, a masked value. */
export function readsMasked(path: string, pointers: readonly string[]): boolean {
  const steps = path.split(".");
  return pointers.some((pointer) => {
    const masked = pointerSteps(pointer);
    return pathsOverlap(steps, masked) || (steps[0] === "context" && pathsOverlap(steps.slice(1), masked));
  });
}

/** Returns the paths behind a path: `input` stands for what its own expression reads. */
function pathsBehindInput(path: string, input: Template | undefined): readonly string[] {
  const [root, ...rest] = path.split(".");
  if (root !== "input") return [path];
  if (input === undefined) return [["context", ...rest].join(".")];
  if (input.tree?.kind === "path") return [[...input.tree.segments, ...rest].join(".")];
  return input.reads;
}

/** Returns whether a path of an expression may refer to a masked value. */
export const maskedPathTest =
  (input: Template | undefined, masks: readonly string[]) =>
  (path: string): boolean =>
    masks.length > 0 && pathsBehindInput(path, input).some((each) => readsMasked(each, masks));

/** Whether one of the paths may refer to a value at one of the pointers; `input` may, whatever it reads. */
export const mayReadAny = (paths: readonly string[], pointers: readonly string[]): boolean =>
  pointers.length > 0 && paths.some((path) => /^input\b/.test(path) || readsMasked(path, pointers));

/** Whether the value at a path of an expression contains, or is part of, a param of the tool call. */
export function readsParam(path: string, param: string): boolean {
  const steps = path.split(".");
  return pathsOverlap(steps[0] === "context" ? steps.slice(1) : steps, ["params", param]);
}

/** Whether a path of an override refers to the denial in question. */
export const isDenialPath = (path: string): boolean => path === "denial" || path.startsWith("denial.");

const pathsOverlap = (read: readonly string[], masked: readonly string[]): boolean =>
  masked.every((step, index) => step === wildcardStep || read[index] === undefined || read[index] === step);

/** Returns why the answers of a definition cannot be cached; undefined if they can. */
export function uncacheableReason(
  definition: Definition,
  reads: readonly string[],
  pointers: readonly string[],
): string | undefined {
  if (!isRouting(definition))
    return `only routing decisions are cached, and this is a \`${definition.type}\` decision`;
  if (definition.logging?.log_decision === false && definition.cache?.adapter !== "memory")
    return "its decisions are not recorded, and only recorded answers are cached in the store (use `adapter: memory`)";
  if (reads.some(isRequestTime)) return "it reads the request time, which differs for every request";
  // A cache key of masked values could be guessed, and a key without them would mix up different inputs.
  const secret = reads.find((path) => readsMasked(path, pointers));
  return secret === undefined ? undefined : `it reads \`${secret}\`, which is masked`;
}

const isRequestTime = (path: string): boolean => path === "system" || path.startsWith("system.");
