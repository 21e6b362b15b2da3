import type { Composed } from "../compose.js";
import type { ContextCheck, SchemaIssue } from "../definition/gate/context-schema.js";
import { compileContextSchema } from "../definition/gate/context-schema.js";
import { DecisionError } from "../errors.js";
import type { AuthenticatedCaller } from "../model/caller.js";
import type { JsonObject } from "../model/json.js";
import { didYouMean } from "../nearest.js";
import type { Records } from "../record/records.js";
import type { Scope } from "./auth/scopes.js";
import { permits } from "./auth/scopes.js";

/** The world as it is at the moment: what changes is another one. */
export type ServedWorld = Composed & { readonly records: Records };

/** Who asks, and whom. */
export interface Asker {
  readonly world: ServedWorld;
  /** Undefined: whoever can reach us may ask. */
  readonly caller: AuthenticatedCaller | undefined;
  /** Of the request, unless its body names another. */
  readonly correlationId: string | undefined;
}

/** Something that can be asked through every door: a route of HTTP, a tool of MCP. */
export interface Question<Input = unknown, Answer = unknown> {
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
  readonly output: AnswerSchema;
  readonly answer: (input: Input, asker: Asker) => Promise<Answer>;
}

/** The JSON Schema of an object without further keys. */
export interface InputSchema extends JsonObject {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** The JSON Schema of an object that may have further keys. */
export interface AnswerSchema extends JsonObject {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
}

/** A question that only sees what fits its schema, from callers who may ask it. */
export function question<Input, Answer>(written: Question<Input, Answer>): Question<unknown, Answer> {
  let check: ContextCheck | undefined;
  return {
    ...written,
    async answer(given, asker) {
      refuseUnpermitted(written, asker);
      check ??= compileContextSchema(written.input, "the request");
      const issues = check(given as JsonObject);
      if (issues.length > 0) throw misshapen(issues, given, written.input);
      return await written.answer(given as Input, asker);
    },
  };
}

function refuseUnpermitted({ name, scope }: Pick<Question, "name" | "scope">, { caller }: Asker): void {
  if (permits(caller, scope)) return;
  throw new DecisionError("forbidden", `\`${name}\` needs the scope \`${scope}\`, which the token lacks`, {
    hint: "ask the issuer of the token for it",
    details: { scope },
  });
}

/** What is wrong with a request, all of it at once. */
function misshapen(
  issues: readonly SchemaIssue[],
  given: unknown,
  { properties }: InputSchema,
): DecisionError {
  const known = Object.keys(properties);
  const open = known.filter((key) => !isGiven(key, given, issues));
  const meant = strayKeys(given, known).flatMap((key) => didYouMean(key, open) ?? [])[0];
  return new DecisionError("input_invalid", issues.map(({ message }) => message).join("; "), {
    hint: meant ?? takes(open, given),
    details: { errors: issues },
  });
}

/** Whether nothing is left to say of it; what stands in a path is given, too. */
function isGiven(key: string, given: unknown, issues: readonly SchemaIssue[]): boolean {
  if (!isObject(given) || !Object.hasOwn(given, key)) return false;
  return !issues.some(({ path }) => path === key || path.startsWith(`${key}.`));
}

function takes(open: readonly string[], given: unknown): string {
  if (!isObject(given)) return "send a JSON object";
  return open.length === 0
    ? "it takes nothing else"
    : `it takes ${open.map((key) => `\`${key}\``).join(", ")}`;
}

const mostStrays = 10;

function strayKeys(given: unknown, known: readonly string[]): readonly string[] {
  if (!isObject(given)) return [];
  return Object.keys(given)
    .filter((key) => !known.includes(key))
    .slice(0, mostStrays);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
