import type { Scope } from "../auth/authenticate.js";
import { hasScope } from "../auth/authenticate.js";
import type { Composed } from "../../compose.js";
import type { ContextValidator, SchemaIssue } from "../../definition/context-schema.js";
import { compileContextSchema } from "../../definition/context-schema.js";
import { DecisionError } from "../../errors.js";
import type { JsonObject } from "../../model/json.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import { didYouMean } from "../../text.js";
import type { Records } from "../../record/records.js";

/** The world as it is at the moment: what changes is another one. */
export type ServedWorld = Composed & { readonly records: Records };

/** Who asks, and whom. */
export interface Invocation {
  readonly world: ServedWorld;
  /** Undefined: whoever can reach us may ask. */
  readonly caller: AuthenticatedCaller | undefined;
  /** Of the request, unless its body names another. */
  readonly correlationId: string | undefined;
}

/** Something that can be asked through every door: a route of HTTP, a tool of MCP. */
export interface Operation<Input = unknown, Answer = unknown> {
  /** As the tool is called. */
  readonly name: string;
  readonly title: string;
  /** For an agent that has to choose. */
  readonly description: string;
  readonly scope: Scope;
  /** Whether nothing is kept of it. */
  readonly readOnly: boolean;
  /** The JSON Schema of what is given. */
  readonly input: InputSchema;
  /** The JSON Schema of what is answered. */
  readonly output: OutputSchema;
  readonly answer: (input: Input, asker: Invocation) => Promise<Answer>;
}

/** The JSON Schema of an object without further keys. */
export interface InputSchema extends JsonObject {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** The JSON Schema of an object that may have further keys. */
export interface OutputSchema extends JsonObject {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
}

/** A question that only sees what fits its schema, from callers who may ask it. */
export function defineOperation<Input, Answer>(
  written: Operation<Input, Answer>,
): Operation<unknown, Answer> {
  let check: ContextValidator | undefined;
  return {
    ...written,
    async answer(given, asker) {
      assertScope(written, asker);
      check ??= compileContextSchema(written.input, "the request");
      const issues = check(given as JsonObject);
      if (issues.length > 0) throw invalidInput(issues, given, written.input);
      return await written.answer(given as Input, asker);
    },
  };
}

function assertScope({ name, scope }: Pick<Operation, "name" | "scope">, { caller }: Invocation): void {
  if (hasScope(caller, scope)) return;
  throw new DecisionError("forbidden", `\`${name}\` needs the scope \`${scope}\`, which the token lacks`, {
    hint: "ask the issuer of the token for it",
    details: { scope },
  });
}

/** What is wrong with a request, all of it at once. */
function invalidInput(
  issues: readonly SchemaIssue[],
  given: unknown,
  { properties }: InputSchema,
): DecisionError {
  const known = Object.keys(properties);
  const open = known.filter((key) => !isValidKey(key, given, issues));
  const meant = unknownKeys(given, known).flatMap((key) => didYouMean(key, open) ?? [])[0];
  return new DecisionError("input_invalid", issues.map(({ message }) => message).join("; "), {
    hint: meant ?? acceptedKeysHint(open, given),
    details: { errors: issues },
  });
}

/** Whether nothing is left to say of it; what stands in a path is given, too. */
function isValidKey(key: string, given: unknown, issues: readonly SchemaIssue[]): boolean {
  if (!isObject(given) || !Object.hasOwn(given, key)) return false;
  return !issues.some(({ path }) => path === key || path.startsWith(`${key}.`));
}

function acceptedKeysHint(open: readonly string[], given: unknown): string {
  if (!isObject(given)) return "send a JSON object";
  return open.length === 0
    ? "it takes nothing else"
    : `it takes ${open.map((key) => `\`${key}\``).join(", ")}`;
}

const maxUnknownKeys = 10;

function unknownKeys(given: unknown, known: readonly string[]): readonly string[] {
  if (!isObject(given)) return [];
  return Object.keys(given)
    .filter((key) => !known.includes(key))
    .slice(0, maxUnknownKeys);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The record that an answer tells of, so that the log of requests leads to it; of a call, that of its first decision. */
export function recordIdOf(answer: unknown): string | undefined {
  const { record_id, decisions } = answer as WithRecordId & { readonly decisions?: readonly WithRecordId[] };
  const id = record_id ?? decisions?.[0]?.record_id;
  return typeof id === "string" ? id : undefined;
}

interface WithRecordId {
  readonly record_id?: unknown;
}
