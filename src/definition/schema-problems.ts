import type { ErrorObject } from "ajv";
import { didYouMean, nearest } from "../nearest.js";
import type { Path } from "./yaml-source.js";
import { decisionTypes } from "./decision-types.js";
import { schema } from "./schema.js";
import {
  choiceMeaning,
  knownTypes,
  leastMeaning,
  mostMeaning,
  nameMeaning,
  patternMeaning,
  propertiesAt,
  reservedHint,
} from "./schema-meanings.js";
import { durationHint, foreignKeyHint, mayBeSecret, secretHint } from "./schema-hints.js";
import { article, describe, listing, pathOf, textAt, valueAt } from "./schema-words.js";

/** A breach of the schema in our words: which place, what was expected, what was found. */
export interface SchemaFault {
  readonly path: Path;
  /** Set where a key is at fault and not the value under it. */
  readonly key?: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

export function explainSchemaErrors(errors: readonly ErrorObject[], value: unknown): readonly SchemaFault[] {
  const faults = [
    ...errors.filter((error) => !isEcho(error)).map((error) => explain(error, value)),
    ...keysWithoutType(value),
  ];
  const seen = new Set<string>();
  return faults.filter((fault) => {
    const text = `${fault.path.join("/")} ${fault.message}`;
    return !seen.has(text) && seen.add(text);
  });
}

/** Without a type the schema looks no further; a misspelt key is often why. */
function keysWithoutType(value: unknown): readonly SchemaFault[] {
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
export function withMeantType(value: unknown): unknown {
  const type = valueAt(value, ["decision", "type"]);
  const meant = typeof type === "string" && !isType(type) ? nearest(type, decisionTypes) : undefined;
  if (meant === undefined) return undefined;
  const document = value as { readonly decision: object };
  return { ...document, decision: { ...document.decision, type: meant } };
}

const isType = (type: string): boolean => decisionTypes.some((each) => each === type);

/** What is said already: a missing type by `required`, a missing choice by `oneOf`, an `if` by its own check, a name. */
function isEcho(error: ErrorObject): boolean {
  if (error.propertyName !== undefined) return true;
  if (error.keyword === "discriminator")
    return (error.params as { tagValue?: unknown }).tagValue === undefined;
  if (/\/rules\/\d+\/if(?:\/|$)/.test(error.instancePath)) return true;
  return error.keyword === "required" && /.\/oneOf\/\d+\/.*oneOf\/\d+\/required$/.test(error.schemaPath);
}

function explain(error: ErrorObject, value: unknown): SchemaFault {
  const path = pathOf(error.instancePath, value);
  const got = mayBeSecret(path) ? "" : ` (got ${describe(valueAt(value, path))})`;
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
      return { path, message: choiceMeaning(path) };
    case "propertyNames":
      return wrongName(path, (error.params as { propertyName: string }).propertyName);
    case "type":
      return {
        path,
        message: `${name} must be ${typesOf(error).map(article).join(" or ")}${got}`,
        hint: secretHint(path) ?? quoteHint(error, path, value),
      };
    case "enum": {
      const allowed = (error.params as { allowedValues: string[] }).allowedValues;
      const hint = didYouMean(textAt(value, path), allowed);
      return {
        path,
        message: `${name} must be one of ${listing(allowed)}${got}`,
        hint: hint ?? reservedHint(path, value),
      };
    }
    case "minItems":
    case "minProperties":
      return { path, message: `${name} must not be empty` };
    case "minLength":
      return { path, message: `${name} must not be empty${got}` };
    case "minimum":
      return { path, message: `${name} ${leastMeaning(error)}${got}` };
    case "exclusiveMinimum":
      return {
        path,
        message: `${name} must be more than ${(error.params as { limit: number }).limit}${got}`,
      };
    case "maxLength":
      return { path, message: `${name} is too long${got}` };
    case "maximum":
      return { path, message: `${name} ${mostMeaning(error)}${got}` };
    case "pattern":
      return {
        path,
        message: `${name} ${patternMeaning(path)}${got}`,
        hint: secretHint(path) ?? durationHint(path, valueAt(value, path)),
      };
    default:
      return { path, message: `${name} ${error.message ?? "is not valid"}${got}` };
  }
}

function unknownKey(path: Path, key: string, schemaPath: string): SchemaFault {
  const allowed = Object.keys(propertiesAt(schemaPath));
  const hint = foreignKeyHint(path, key) ?? didYouMean(key, allowed) ?? `known here: ${allowed.join(", ")}`;
  return { path, key, message: `unknown key \`${key}\``, hint };
}

function wrongName(path: Path, key: string): SchemaFault {
  return { path, key, message: `${nameMeaning(path)} (got ${describe(key)})` };
}

function missingKey(path: Path, key: string): SchemaFault {
  return { path, message: `\`${key}\` is missing in ${nameOf(path)}` };
}

function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "the document";
  return typeof last === "number" ? `\`${String(path.at(-2))}[${last}]\`` : `\`${last}\``;
}

function wrongType(path: Path, value: unknown): SchemaFault {
  const types = knownTypes(path);
  const close = typeof value === "string" ? nearest(value, types) : undefined;
  const hint = close === undefined ? undefined : `did you mean \`${close}\`?`;
  return { path, message: `\`type\` must be one of ${listing(types)} (got ${describe(value)})`, hint };
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
