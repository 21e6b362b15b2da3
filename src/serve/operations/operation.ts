import type { Permissions, Scope } from "../auth/authenticate.js";
import { hasScope } from "../auth/authenticate.js";
import type { Composed } from "../../compose.js";
import type { ContextValidator, SchemaViolation } from "../../definition/context-schema.js";
import { compileContextSchema } from "../../definition/context-schema.js";
import { DecisionError } from "../../errors.js";
import type { JsonObject } from "../../model/json.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import { didYouMean } from "../../text.js";
import type { Records } from "../../record/records.js";
import { isObject } from "../../expression/equal.js";

/** The dependencies of all operations. A reload of the definitions makes a new one. */
export type ServedWorld = Composed & { readonly records: Records };

/** Who sent a request, as far as it is known before its body is read. */
export interface RequestIdentity {
  /** Undefined: the server runs without authentication. */
  readonly caller: AuthenticatedCaller | undefined;
  /** A correlation id in the body takes precedence over this one. */
  readonly correlationId: string | undefined;
}

/** The identity and the dependencies of one call of an operation. */
export interface Invocation extends RequestIdentity, Pick<Permissions, "offered"> {
  readonly world: ServedWorld;
}

/** An operation that every transport offers: as a route over HTTP, as a tool over MCP. */
export interface Operation<Input = unknown, Answer = unknown> {
  /** The name of the MCP tool. */
  readonly name: string;
  readonly title: string;
  /** Tells an agent when to use it. */
  readonly description: string;
  readonly scope: Scope;
  /** Whether it records nothing. */
  readonly readOnly: boolean;
  readonly input: InputSchema;
  readonly output: OutputSchema;
  readonly run: (input: Input, invocation: Invocation) => Promise<Answer>;
}

/** The JSON Schema of an object that allows no other keys. */
export interface InputSchema extends JsonObject {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** The JSON Schema of an object that allows other keys. */
export interface OutputSchema extends JsonObject {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
}

/** Adds the checks that all operations need: the scope of the caller, and the schema of the input. */
export function defineOperation<Input, Answer>(
  operation: Operation<Input, Answer>,
): Operation<unknown, Answer> {
  let check: ContextValidator | undefined;
  return {
    ...operation,
    async run(input, invocation) {
      assertScope(operation, invocation);
      check ??= compileContextSchema(operation.input, "the request");
      const issues = check(input as JsonObject);
      if (issues.length > 0) throw invalidInput(issues, input, operation.input);
      return await operation.run(input as Input, invocation);
    },
  };
}

function assertScope({ name, scope }: Pick<Operation, "name" | "scope">, invocation: Invocation): void {
  if (hasScope(invocation, scope)) return;
  const requires = `\`${name}\` requires the scope \`${scope}\``;
  if (invocation.caller === undefined)
    throw new DecisionError("forbidden", `${requires}, which this server does not offer`, {
      hint: "use another tool, or start the server with this scope",
      details: { scope },
    });
  throw new DecisionError("forbidden", `${requires}, which the token does not have`, {
    hint: "request a token with this scope from the issuer",
    details: { scope },
  });
}

/** Reports all problems of the input at once. */
function invalidInput(
  issues: readonly SchemaViolation[],
  input: unknown,
  { properties }: InputSchema,
): DecisionError {
  const accepted = Object.keys(properties);
  const unused = accepted.filter((key) => !isValidKey(key, input, issues));
  const suggestion = unknownKeys(input, accepted).flatMap((key) => didYouMean(key, unused) ?? [])[0];
  return new DecisionError("input_invalid", issues.map(({ message }) => message).join("; "), {
    hint:
      suggestion ??
      missingKeysHint(issues) ??
      contextHint(issues, unknownKeys(input, accepted)) ??
      acceptedKeysHint(unused, input, accepted),
    details: { errors: issues },
  });
}

/** Whether the input has the key, with a valid value; a key from the path of a URL counts as well. */
function isValidKey(key: string, input: unknown, issues: readonly SchemaViolation[]): boolean {
  if (!isObject(input) || !Object.hasOwn(input, key)) return false;
  return !issues.some(({ path }) => path === key || path.startsWith(`${key}.`));
}

/** Names the keys to add, if that is all that is wrong. */
function missingKeysHint(issues: readonly SchemaViolation[]): string | undefined {
  const missing = issues.flatMap(({ path, missing: key }) => (path === "" && key !== undefined ? [key] : []));
  if (missing.length < issues.length) return undefined;
  return `add ${missing.map((key) => `\`${key}\``).join(", ")}`;
}

/** Shows where the values to decide on belong, if they were sent as the whole request. */
function contextHint(issues: readonly SchemaViolation[], unknown: readonly string[]): string | undefined {
  const isWithout = issues.some(({ path, missing }) => path === "" && missing === "context");
  if (!isWithout || unknown.length === 0) return undefined;
  const values = unknown.slice(0, maxShownKeys).map((key) => `${JSON.stringify(key)}: …`);
  if (unknown.length > maxShownKeys) values.push("…");
  return `send {"context": {${values.join(", ")}}}`;
}

const maxShownKeys = 3;

function acceptedKeysHint(unused: readonly string[], input: unknown, accepted: readonly string[]): string {
  if (!isObject(input)) return "send a JSON object";
  if (unused.length === 0) return "no other keys are accepted";
  const other = unused.length === accepted.length ? "" : "other ";
  return `${other}accepted keys: ${unused.map((key) => `\`${key}\``).join(", ")}`;
}

const maxUnknownKeys = 10;

function unknownKeys(input: unknown, accepted: readonly string[]): readonly string[] {
  if (!isObject(input)) return [];
  return Object.keys(input)
    .filter((key) => !accepted.includes(key))
    .slice(0, maxUnknownKeys);
}

/** Returns the id of the record that an answer refers to, for the request log; of a tool call, its first record. */
export function recordIdOf(answer: unknown): string | undefined {
  const { record_id, decisions } = answer as WithRecordId & { readonly decisions?: readonly WithRecordId[] };
  const id = record_id ?? decisions?.[0]?.record_id;
  return typeof id === "string" ? id : undefined;
}

interface WithRecordId {
  readonly record_id?: unknown;
}
