import type { ErrorObject } from "ajv";
import { decisionTypes, authTypes, guardrailTypes } from "./decision-types.js";
import { typePhrase, describeValue, listNames, pathOf, textAt, valueAt } from "./explain-schema-errors.js";
import { schema } from "./schema.js";
import type { Path } from "./yaml-source.js";
import { didYouMean, nearest } from "../text.js";

/** A breach of the schema in our words: which place, what was expected, what was found. */
export interface Finding {
  readonly path: Path;
  /** Set where a key is at fault and not the value under it. */
  readonly key?: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

export function explainDefinitionErrors(errors: readonly ErrorObject[], value: unknown): readonly Finding[] {
  const faults = [
    ...errors.filter((error) => !isRedundant(error)).map((error) => explain(error, value)),
    ...unknownKeysWithoutType(value),
  ];
  const seen = new Set<string>();
  return faults.filter((fault) => {
    const text = `${fault.path.join("/")} ${fault.message}`;
    return !seen.has(text) && seen.add(text);
  });
}

/** Without a type the schema looks no further; a misspelt key is often why. */
function unknownKeysWithoutType(value: unknown): readonly Finding[] {
  const decision = valueAt(value, ["decision"]);
  if (typeof decision !== "object" || decision === null || Array.isArray(decision) || "type" in decision)
    return [];
  const known = new Set(schema.properties.decision.oneOf.flatMap((each) => Object.keys(each.properties)));
  const unknown = Object.keys(decision).filter((key) => !known.has(key));
  return unknown.map((key) => ({
    path: ["decision"],
    key,
    message: `unknown key \`${key}\``,
    hint: didYouMean(key, known),
  }));
}

/** The document with its misspelt type put right, so that the rest of it can be checked too. */
export function withCorrectedType(value: unknown): unknown {
  const type = valueAt(value, ["decision", "type"]);
  const meant = typeof type === "string" && !isType(type) ? nearest(type, decisionTypes) : undefined;
  if (meant === undefined) return undefined;
  const document = value as { readonly decision: object };
  return { ...document, decision: { ...document.decision, type: meant } };
}

const isType = (type: string): boolean => decisionTypes.some((each) => each === type);

/** What is said already: a missing type by `required`, a missing choice by `oneOf`, an `if` by its own check, a name. */
function isRedundant(error: ErrorObject): boolean {
  if (error.propertyName !== undefined) return true;
  if (error.keyword === "discriminator")
    return (error.params as { tagValue?: unknown }).tagValue === undefined;
  if (/\/rules\/\d+\/if(?:\/|$)/.test(error.instancePath)) return true;
  return error.keyword === "required" && /.\/oneOf\/\d+\/.*oneOf\/\d+\/required$/.test(error.schemaPath);
}

function explain(error: ErrorObject, value: unknown): Finding {
  const path = pathOf(error.instancePath, value);
  const got = mayBeSecret(path) ? "" : ` (got ${describeValue(valueAt(value, path))})`;
  const name = nameOf(path);
  switch (error.keyword) {
    case "additionalProperties":
      return unknownKey(
        path,
        (error.params as { additionalProperty: string }).additionalProperty,
        error.schemaPath,
      );
    case "required":
      return missingKey(path, (error.params as { missingProperty: string }).missingProperty);
    case "discriminator":
      return wrongType([...path, "type"], valueAt(value, [...path, "type"]));
    case "oneOf":
      return { path, message: oneOfMessage(path) };
    case "propertyNames":
      return wrongName(path, (error.params as { propertyName: string }).propertyName);
    case "type":
      return {
        path,
        message: `${name} must be ${typesOf(error).map(typePhrase).join(" or ")}${got}`,
        hint: secretHint(path) ?? quoteHint(error, path, value),
      };
    case "enum": {
      const allowed = (error.params as { allowedValues: string[] }).allowedValues;
      const hint = didYouMean(textAt(value, path), allowed);
      return {
        path,
        message: `${name} must be one of ${listNames(allowed)}${got}`,
        hint: hint ?? reservedModeHint(path, value),
      };
    }
    case "minItems":
    case "minProperties":
      return { path, message: `${name} must not be empty` };
    case "minLength":
      return { path, message: `${name} must not be empty${got}` };
    case "minimum":
      return { path, message: `${name} ${minimumMessage(error)}${got}` };
    case "exclusiveMinimum":
      return {
        path,
        message: `${name} must be more than ${(error.params as { limit: number }).limit}${got}`,
      };
    case "maxLength":
      return { path, message: `${name} is too long${got}` };
    case "maximum":
      return { path, message: `${name} ${maximumMessage(error)}${got}` };
    case "pattern":
      return {
        path,
        message: `${name} ${patternMessage(path)}${got}`,
        hint: secretHint(path) ?? durationHint(path, valueAt(value, path)),
      };
    default:
      return { path, message: `${name} ${error.message ?? "is not valid"}${got}` };
  }
}

function unknownKey(path: Path, key: string, schemaPath: string): Finding {
  const allowed = Object.keys(propertiesAt(schemaPath));
  const hint = foreignKeyHint(path, key) ?? didYouMean(key, allowed) ?? `known here: ${allowed.join(", ")}`;
  return { path, key, message: `unknown key \`${key}\``, hint };
}

function wrongName(path: Path, key: string): Finding {
  return { path, key, message: `${keyNameMessage(path)} (got ${describeValue(key)})` };
}

function missingKey(path: Path, key: string): Finding {
  return { path, message: `\`${key}\` is missing in ${nameOf(path)}` };
}

function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "the document";
  return typeof last === "number" ? `\`${String(path.at(-2))}[${last}]\`` : `\`${last}\``;
}

function wrongType(path: Path, value: unknown): Finding {
  const types = allowedTypes(path);
  const close = typeof value === "string" ? nearest(value, types) : undefined;
  const hint = close === undefined ? undefined : `did you mean \`${close}\`?`;
  return { path, message: `\`type\` must be one of ${listNames(types)} (got ${describeValue(value)})`, hint };
}

const typesOf = (error: ErrorObject): readonly string[] =>
  [(error.params as { type: string | string[] }).type].flat();

function quoteHint(error: ErrorObject, path: Path, value: unknown): string | undefined {
  const wantsText = typesOf(error).includes("string");
  const found = valueAt(value, path);
  if (wantsText && typeof found === "object" && found !== null)
    return 'put it in quotes, as in "{{ artifact.type }}"';
  if (path.at(-1) === "default" && typeof found === "string") return `write default: { target: ${found} }`;
  if (path.at(-1) === "version" && typeof found === "number")
    return 'write all three parts in quotes, as in "1.2.0"';
  if (!wantsText || (typeof found !== "number" && typeof found !== "boolean")) return undefined;
  const duration = durationHint(path, found);
  if (duration !== undefined) return duration;
  if (mayBeSecret(path)) return "put it in quotes";
  return `put it in quotes: "${String(found)}"`;
}

/** What a keyword of the schema means at a place, in our words. */
function oneOfMessage(path: Path): string {
  const parent = path.at(-2);
  if (parent === "evaluators") return "an evaluator has either `rules` or `static`, and never both";
  if (parent === "rules") return "a rule has either `if` or `when`, and never both";
  return "a rule table needs either `rules` or `cases`, and never both";
}

function minimumMessage(error: ErrorObject): string {
  const { limit } = error.params as { limit: number };
  if (limit !== 0) return `must be at least ${limit}`;
  return isZeroToOne(error) ? "must be from 0 to 1" : "must not be negative";
}

const maximumMessage = (error: ErrorObject): string =>
  isZeroToOne(error) ? "must be from 0 to 1" : `must be at most ${(error.params as { limit: number }).limit}`;

/** Of a weight that is a confidence, a threshold and the like. */
const isZeroToOne = (error: ErrorObject): boolean =>
  (schemaAt(error.schemaPath) as { maximum?: unknown } | undefined)?.maximum === 1;

/** Modes of aggregation that have a name already but no meaning yet. */
const reservedModes = ["vote_of_n", "weighted_sum_threshold"];

function reservedModeHint(path: Path, value: unknown): string | undefined {
  const mode = textAt(value, path);
  if (path.at(-1) !== "aggregation" || !reservedModes.includes(mode)) return undefined;
  return `\`${mode}\` is a reserved mode that is not defined yet`;
}

/** The types there are of what has one. */
function allowedTypes(path: Path): readonly string[] {
  if (path[0] === "endpoints") return authTypes;
  return path.includes("guardrails") ? guardrailTypes : decisionTypes;
}

/** What a key must be that is a name. */
export const keyNameMessage = (path: Path): string =>
  path.at(-1) === "headers"
    ? "the name of a header may hold letters, digits and the like, no blanks and no `:`"
    : "the name of an endpoint may hold letters, digits, `_` and `-` only, at most 64";

function patternMessage(path: Path): string {
  if (isDuration(path)) return "must be a duration such as 500ms, 30s, 1h or 1h30m";
  if (path[0] === "endpoints") return endpointPatternMessage(path);
  switch (path.at(-1)) {
    case "id":
      return "may hold letters, digits, `.`, `_` and `-` only, at most 128";
    case "version":
      return "must be a semantic version such as 1.2.0";
    case "per":
      return "must be `session` or a duration such as 1h";
    case "org":
    case "domain":
      return "may hold no blanks, `/` and `@`, at most 128 characters";
    case "name":
      return path.at(-2) === "action"
        ? "may hold no blanks, `/` and `@`, at most 128 characters"
        : "must not hold control characters";
    default:
      return path.at(-2) === "mask"
        ? "must be a JSON pointer such as /customer/email"
        : "must not hold control characters";
  }
}

function endpointPatternMessage(path: Path): string {
  if (path.at(-2) === "headers") return "may hold printable ASCII characters only";
  return path.at(-1) === "header"
    ? "must be the name of a header, such as X-API-Key"
    : "must be the name of an environment variable";
}

const propertiesAt = (schemaPath: string): object =>
  (schemaAt(schemaPath) as { properties?: object } | undefined)?.properties ?? {};

/** The part of the schema that a keyword of it stands in. */
function schemaAt(schemaPath: string): unknown {
  let at: unknown = schema;
  for (const step of schemaPath.replace(/^#\//, "").split("/").slice(0, -1)) {
    at = (at as Record<string, unknown> | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return at;
}

const durationKeys: readonly unknown[] = ["ttl", "timeout", "base", "max", "per"];

/** Whether a duration stands there, and nothing else may. */
function isDuration(path: Path): boolean {
  if (path[0] !== "endpoints") return path.at(-2) === "cache" && path.at(-1) === "ttl";
  return path.length > 2 && path[2] !== "headers" && durationKeys.includes(path.at(-1));
}

/** Other programs take a number of seconds. */
function durationHint(path: Path, value: unknown): string | undefined {
  if (!isDuration(path) || !/^[0-9]+(?:\.[0-9]+)?$/.test(String(value))) return undefined;
  return `write ${String(value)}s for that many seconds`;
}

const secretKeys: readonly unknown[] = ["secret_key", "username_key", "password_key", "token_key"];

/** Whether somebody may have written a secret there: then it is not shown. */
function mayBeSecret(path: Path): boolean {
  const [top, , key, part] = path;
  if (top !== "endpoints") return false;
  return key === "url" || key === "headers" || (key === "auth" && part !== "type" && part !== "header");
}

function secretHint(path: Path): string | undefined {
  if (path[0] !== "endpoints" || !secretKeys.includes(path.at(-1))) return undefined;
  return "put the secret into an environment variable, and the name of that here";
}

/** What others have that we do not, or call otherwise. */
const foreignKeys: Readonly<Record<string, string>> = {
  adapter: "answers are kept in the store; leave it out",
  retry_config: "did you mean `retry`?",
  retries: "did you mean `retry`?",
};

const foreignKeyHint = (path: Path, key: string): string | undefined =>
  path[0] === "endpoints" && Object.hasOwn(foreignKeys, key) ? foreignKeys[key] : undefined;
