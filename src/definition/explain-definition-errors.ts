import type { ErrorObject } from "ajv";
import { didYouMean, nearest } from "../text.js";
import { authTypes, decisionTypes, guardrailTypes, observerTypes, workModes } from "./decision-types.js";
import type { Finding } from "./diagnostics.js";
import type { AjvParams, SchemaError, SchemaWording } from "./explain-schema-errors.js";
import { explainSchemaErrors, listValues, maxShownLength, pathOf, valueAt } from "./explain-schema-errors.js";
import { schema } from "./schema.js";
import type { Path } from "./yaml-source.js";
import { quoted, writeHint } from "./written-lines.js";
import { isObject } from "../expression/equal.js";
import type { JsonObject } from "../model/json.js";

/** Explains the errors of the definition schema about one document. */
export function explainDefinitionErrors(
  errors: readonly ErrorObject[],
  document: unknown,
): readonly Finding[] {
  const findings = [
    ...explainSchemaErrors(withoutJoinedKeys(errors, document), document, definitionWording),
    ...unknownKeysWithoutType(document),
  ];
  const seen = new Set<string>();
  return findings.filter(({ path, message }) => {
    const text = `${path.join("/")} ${message}`;
    return !seen.has(text) && seen.add(text);
  });
}

/** Leaves out what seems to be missing only because a key and its value were joined. */
function withoutJoinedKeys(errors: readonly ErrorObject[], document: unknown): readonly ErrorObject[] {
  const joined = errors.filter(({ keyword, params, instancePath }) => {
    const { additionalProperty: key = "" } = params as Partial<AjvParams>;
    if (keyword !== "additionalProperties" || !joinedEntry.test(key)) return false;
    return valueAt(document, [...pathOf(instancePath, document), key]) === null;
  });
  const places = new Set(joined.map(({ instancePath }) => instancePath));
  const isMissing = ({ keyword }: ErrorObject): boolean => keyword === "required" || keyword === "anyOf";
  return errors.filter((error) => !isMissing(error) || !places.has(error.instancePath));
}

/** A key and its value without a colon or a space between them, which are one key in braces. */
const joinedEntry = /^([A-Za-z_][\w-]*)(:| +)(\S.*)$/;

/** Finds unknown keys of a decision without a type, which the schema checks no further. */
function unknownKeysWithoutType(document: unknown): readonly Finding[] {
  const decision = valueAt(document, ["decision"]);
  if (!isObject(decision) || "type" in decision) return [];
  const unknown = Object.keys(decision).filter((key) => !decisionKeys.has(key));
  return unknown.map((key) => ({
    path: ["decision"],
    key,
    message: `unknown key \`${key}\``,
    hint: didYouMean(key, decisionKeys),
  }));
}

/** The keys of decisions of any type. */
const decisionKeys: ReadonlySet<string> = new Set(
  schema.properties.decision.oneOf.flatMap((each) => Object.keys(each.properties)),
);

/** Returns a hint for a key of the document in the decision, or the reverse. */
function misplacedKeyHint(path: Path, key: string): string | undefined {
  if (path.length === 0 && decisionKeys.has(key)) return "indent it below `decision:`";
  const isOfDocument = key !== "decision" && Object.hasOwn(schema.properties, key);
  return isDecision(path) && isOfDocument
    ? "move it to the top of the document, next to `decision:`"
    : undefined;
}

const isDecision = (path: Path): boolean => path.length === 1 && path[0] === "decision";

/** Returns a hint for several decisions as a list, or as a map by their ids. */
function severalDecisionsHint(value: unknown): string | undefined {
  const isSeveral = typeof value === "object" && value !== null && Object.values(value).every(isObject);
  return isSeveral
    ? "write one `decision:` per document, and separate documents with a line `---`"
    : undefined;
}

/** Returns the document with its misspelt type corrected, so that the rest of it can be checked too. */
export function withCorrectedType(document: unknown): unknown {
  const type = valueAt(document, ["decision", "type"]);
  const isType = decisionTypes.some((each) => each === type);
  const corrected = typeof type === "string" && !isType ? nearest(type, decisionTypes) : undefined;
  if (corrected === undefined) return undefined;
  const { decision, ...rest } = document as { readonly decision: object };
  return { ...rest, decision: { ...decision, type: corrected } };
}

const definitionWording: SchemaWording = {
  objectName: "a map",
  nameOf,
  describeValue({ keyword, path, value }) {
    const isEmpty = keyword === "minItems" || keyword === "minProperties";
    return isEmpty || mayBeSecret(path) ? undefined : describeValue(value);
  },
  explain: explainSpecially,
  requirement,
  hint: hintFor,
  isRedundant,
};

/** A missing type is reported by `required`, a missing alternative by `oneOf`, and an `if` by its own check. */
function isRedundant({ keyword, params, instancePath, schemaPath }: ErrorObject): boolean {
  if (keyword === "discriminator") return (params as { tagValue?: unknown }).tagValue === undefined;
  if (/\/rules\/\d+\/if(?:\/|$)/.test(instancePath)) return true;
  return keyword === "required" && /.\/oneOf\/\d+\/.*(?:oneOf|anyOf)\/\d+\/required$/.test(schemaPath);
}

function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "the document";
  return typeof last === "number" ? `\`${String(path.at(-2))}[${last}]\`` : `\`${last}\``;
}

export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "a map";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  const text = JSON.stringify(value);
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength - 1)}…` : text;
}

function explainSpecially({ keyword, params, path, schemaPath, value }: SchemaError): Finding | undefined {
  switch (keyword) {
    case "additionalProperties":
      return unknownKey(params.additionalProperty, { path, schemaPath, value });
    case "required":
      return { path, message: `\`${params.missingProperty}\` is missing in ${nameOf(path)}` };
    case "discriminator":
      return wrongType(path, valueAt(value, ["type"]));
    case "oneOf":
      return { path, message: oneOfMessage(path) };
    case "anyOf":
      return { path, message: `\`target\` or \`output\` is missing in ${nameOf(path)}` };
    case "propertyNames": {
      const { propertyName: key } = params;
      return { path, key, message: `${keyNameMessage(path)} (got ${describeValue(key)})` };
    }
    default:
      return undefined;
  }
}

function unknownKey(
  key: string,
  { path, schemaPath, value }: Pick<SchemaError, "path" | "schemaPath" | "value">,
): Finding {
  const typeWithKey = branchKeyTypes[key];
  if (typeWithKey !== undefined && (path[1] === "cases" || path[1] === "rules") && path.length === 3) {
    const message = `\`${key}\` has no effect in a \`${decisionTypeAt(schemaPath)}\` decision`;
    return { path, key, message, hint: `remove it; only \`${typeWithKey}\` decisions use it` };
  }
  const { properties = {} } = (schemaAt(schemaPath, path) ?? {}) as { readonly properties?: object };
  const allowed = Object.keys(properties);
  const written = isObject(value) ? value : {};
  const placeHint =
    foreignKeyHint(path, key) ?? misplacedKeyHint(path, key) ?? branchesHint(key, allowed, written);
  const types = isDecision(path) && placeHint === undefined ? typesWithKey(key) : [];
  if (types.length > 0) {
    const message = `\`${key}\` has no effect in a \`${decisionTypeAt(schemaPath)}\` decision`;
    return { path, key, message, hint: `remove it; only ${shownTypes(types)} decisions use it` };
  }
  const split = written[key] === null ? splitText(key, written, allowed) : undefined;
  if (split !== undefined) return { ...split, path: [...path, ...(split.path ?? [])] };
  const similar = didYouMean(key, allowed);
  const isDecisions = path.length === 0 && similar === didYouMean("decision", allowed);
  const hint =
    placeHint ??
    (isDecisions ? severalDecisionsHint(written[key]) : undefined) ??
    similar ??
    `known here: ${allowed.join(", ")}`;
  return { path, key, message: `unknown key \`${key}\``, hint };
}

/** Some types of decisions have `cases`, others `rules`. */
function branchesHint(key: string, allowed: readonly string[], value: JsonObject): string | undefined {
  const other = key === "cases" ? "rules" : key === "rules" ? "cases" : undefined;
  if (other === undefined || !allowed.includes(other) || Object.hasOwn(value, other)) return undefined;
  return `did you mean \`${other}\`?`;
}

/** Explains a key without a value that is a part of a text in braces. */
function splitText(
  key: string,
  value: JsonObject,
  allowed: readonly string[],
): (Omit<Finding, "path"> & { readonly path?: Path }) | undefined {
  const [owner] = Object.entries(value).find(([, each]) => typeof each === "string" && isCut(each)) ?? [];
  if (owner !== undefined)
    return {
      path: [owner],
      message: "text with `,` needs quotes within braces",
      hint: `put all of \`${owner}\` in quotes`,
    };
  const [, name = "", separator = "", rest = ""] = joinedEntry.exec(key) ?? [];
  if (nearest(name, allowed) === undefined) return undefined;
  const missing =
    separator === ":" ? `a space is missing after \`${name}:\`` : `\`:\` is missing after \`${name}\``;
  return { key, message: missing, hint: `write \`${name}: ${rest}\`` };
}

/** Whether a text ends within brackets. */
const isCut = (text: string): boolean =>
  text.replaceAll(/[^([{]/g, "").length > text.replaceAll(/[^)\]}]/g, "").length;

/** The keys of cases that only one type of decision has. */
const branchKeyTypes: Readonly<Partial<Record<string, string>>> = {
  weight: "weighted",
  priority: "rule_table",
};

/** Returns the types of decisions that have a key. */
const typesWithKey = (key: string): readonly string[] =>
  schema.properties.decision.oneOf
    .filter(({ properties }) => Object.hasOwn(properties, key))
    .map(({ properties }) => (properties as { readonly type: { readonly const: string } }).type.const);

const shownTypes = (types: readonly string[]): string =>
  new Intl.ListFormat("en-GB").format(types.map((type) => `\`${type}\``));

/** Returns the type of decision that a part of the schema belongs to. */
function decisionTypeAt(schemaPath: string): string {
  const [decision = ""] = /^#\/properties\/decision\/oneOf\/\d+/.exec(schemaPath) ?? [];
  return (schemaAt(`${decision}/properties/type/const`, []) as { readonly const: string }).const;
}

function wrongType(parent: Path, type: unknown): Finding {
  const path = [...parent, "type"];
  const types = allowedTypes(path);
  const message = `\`type\` must be one of ${listValues(types)} (got ${describeValue(type)})`;
  return { path, message, hint: typeof type === "string" ? didYouMean(type, types) : undefined };
}

function allowedTypes(path: Path): readonly string[] {
  if (path[0] === "endpoints") return authTypes;
  if (path[0] === "observers") return observerTypes;
  return path.includes("guardrails") ? guardrailTypes : decisionTypes;
}

function oneOfMessage(path: Path): string {
  const parent = path.at(-2);
  if (parent === "evaluators") return "an evaluator needs one of `rules`, `static` and `custom`";
  if (parent === "columns") return "a column needs either `if` or `then`, not both";
  if (parent === "rules") return "a rule needs either `if` or `when`, not both";
  return "a rule table needs either `rules` or `cases`, not both";
}

/** What a key must look like that is a name. */
export const keyNameMessage = (path: Path): string =>
  path.at(-1) === "headers"
    ? "the name of a header may contain letters, digits and the like, but no spaces and no `:`"
    : "the name of an endpoint may contain only letters, digits, `_` and `-`, at most 64 characters";

function requirement(error: SchemaError): string | undefined {
  const { keyword, params, path } = error;
  switch (keyword) {
    case "minimum":
      if (isZeroToOne(error)) return "must be from 0 to 1";
      return params.limit === 0 ? "must not be negative" : undefined;
    case "maximum":
      return isZeroToOne(error) ? "must be from 0 to 1" : undefined;
    case "pattern":
      return patternRequirement(path);
    default:
      return undefined;
  }
}

/** Whether the schema asks for a confidence, a threshold or another number from 0 to 1. */
const isZeroToOne = ({ schemaPath, path }: SchemaError): boolean =>
  (schemaAt(schemaPath, path) as { readonly maximum?: unknown } | undefined)?.maximum === 1;

const keyPartRequirement = "may contain no spaces, `/` or `@`, and at most 128 characters";
const noControlCharacters = "must not contain control characters";
const pointerRequirements: Readonly<Record<string, string>> = {
  mask: "must be a JSON pointer such as /customer/email",
  masks: "must be a JSON pointer such as /params/password",
};

function patternRequirement(path: Path): string {
  if (isDuration(path)) return "must be a duration such as 500ms, 30s, 1h or 1h30m";
  if (path[0] === "endpoints") return endpointPatternRequirement(path);
  switch (path.at(-1)) {
    case "id":
      return "may contain only letters, digits, `.`, `_` and `-`, at most 128 characters";
    case "version":
      return path.includes("policies")
        ? "must be a semantic version such as 1.2.0, or a commit hash of 7 to 40 hex digits"
        : "must be a semantic version such as 1.2.0";
    case "per":
      return "must be `session`, `caller`, `org` or a duration such as 1h";
    case "org":
    case "domain":
      return keyPartRequirement;
    case "name":
      return path.at(-2) === "action" ? keyPartRequirement : noControlCharacters;
    default:
      return pointerRequirements[String(path.at(-2))] ?? noControlCharacters;
  }
}

function endpointPatternRequirement(path: Path): string {
  if (path.at(-2) === "headers") return "may contain only printable ASCII characters";
  return path.at(-1) === "header"
    ? "must be the name of a header, such as X-API-Key"
    : "must be the name of an environment variable";
}

/**
 * The part of the schema that contains a keyword. Paths in a schema that is referred to start there: it has the name of
 * the key that refers to it.
 */
function schemaAt(schemaPath: string, path: Path): unknown {
  const { definitions } = schema as { readonly definitions: Readonly<Record<string, unknown>> };
  const key = path.find((step) => typeof step === "string" && Object.hasOwn(definitions, step));
  let at: unknown = key !== undefined && schemaPath.startsWith("#/items/") ? definitions[key] : schema;
  for (const step of schemaPath.replace(/^#\//, "").split("/").slice(0, -1)) {
    at = (at as Record<string, unknown> | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return at;
}

function hintFor(error: SchemaError): string | undefined {
  const { keyword, params, path, value } = error;
  switch (keyword) {
    case "type":
      return (
        secretHint(path) ??
        (isDecision(path) ? severalDecisionsHint(value) : undefined) ??
        quotesHint(error) ??
        mainKeyHint(error) ??
        listHint(error) ??
        numberHint(error) ??
        exampleHint(error)
      );
    case "enum":
      return misspeltValueHint(value, params.allowedValues as string[]) ?? reservedModeHint(path, value);
    case "pattern":
      return secretHint(path) ?? durationHint(path, value);
    default:
      return undefined;
  }
}

/**
 * Suggests the closest value; for a number, the value with its digits. Values that differ in digits only, as `T4` and
 * `T1`, are not misspellings.
 */
function misspeltValueHint(value: unknown, allowed: readonly string[]): string | undefined {
  const numbered = allowed.find((each) => /\d/.test(each) && each.replaceAll(/\D/g, "") === String(value));
  if (typeof value === "number" && numbered !== undefined) return `did you mean \`${numbered}\`?`;
  if (typeof value !== "string") return undefined;
  const withoutDigits = (text: string): string => text.toLowerCase().replace(/\d/g, "#");
  const isSame = (each: string): boolean => each.toLowerCase() === value.toLowerCase();
  const others = allowed.filter((each) => isSame(each) || withoutDigits(each) !== withoutDigits(value));
  return didYouMean(value, others);
}

function quotesHint({ params, path, value }: SchemaError): string | undefined {
  const isText = [params.type].flat().includes("string");
  if (path[0] === "tests" && Array.isArray(value)) return severalHint(path);
  if (isText && typeof value === "object" && value !== null)
    return 'put it in quotes, as in "{{ artifact.type }}"';
  if (path.at(-1) === "version" && typeof value === "number")
    return path.includes("policies")
      ? 'write all three parts in quotes, as in "1.2.0"; a commit hash needs quotes too'
      : 'write all three parts in quotes, as in "1.2.0"';
  if (!isText || (typeof value !== "number" && typeof value !== "boolean")) return undefined;
  const quoted = mayBeSecret(path) ? "put it in quotes" : `put it in quotes: "${String(value)}"`;
  return durationHint(path, value) ?? quoted;
}

/** Shows where a text belongs that is written instead of a map. */
function mainKeyHint({ params, path, value }: SchemaError): string | undefined {
  const key = String(path.at(-1));
  if (params.type !== "object" || typeof value !== "string" || !Object.hasOwn(mainKeys, key))
    return undefined;
  const main = key === "expect" && Object.hasOwn(workModes, value) ? "status" : mainKeys[key];
  return writeHint(`${key}: { ${main}: ${plainOrQuoted(value)} }`, `write it as a map with \`${main}\``);
}

/** The most important key of maps that are often written as its value alone. */
const mainKeys: Readonly<Record<string, string>> = {
  default: "target",
  expect: "target",
  static: "decision",
  then: "decision",
};

const plainOrQuoted = (text: string): string => (/^[A-Za-z_][\w .-]*$/.test(text) ? text : quoted(text));

/** Shows how to write a list, for a single item without its dash or brackets. */
function listHint({ params, path, schemaPath, value }: SchemaError): string | undefined {
  const key = String(path.at(-1));
  if (params.type !== "array") return undefined;
  const { items } = schemaAt(schemaPath, path) as { readonly items?: { readonly type?: unknown } };
  const isListOfTexts = items?.type === "string";
  if (isObject(value) && !isListOfTexts)
    return `start each ${itemNames[key] ?? "item"} with \`- \`, or write \`${key}: [{ … }]\``;
  if (typeof value !== "string" || !isListOfTexts) return undefined;
  return writeHint(`${key}: [${value.split(/, */).map(plainOrQuoted).join(", ")}]`, "put it in brackets");
}

/** What the items of lists are called. */
const itemNames: Readonly<Partial<Record<string, string>>> = {
  cases: "case",
  each: "row",
  evaluators: "evaluator",
  policies: "policy",
  rules: "rule",
  tests: "test",
};

/** Shows the number that a text contains: a percentage, one in quotes, or one with a decimal comma. */
function numberHint(error: SchemaError): string | undefined {
  const { params, path, value } = error;
  if (params.type !== "number" || typeof value !== "string") return undefined;
  const [, digits, percent] = /^(\d+(?:\.\d+|,\d{1,2})?) ?(%?)$/.exec(value) ?? [];
  if (digits === undefined) return undefined;
  const number = Number(digits.replace(",", ".")) / (percent === "%" && isZeroToOne(error) ? 100 : 1);
  return `write \`${path.at(-1)}: ${Number(number.toPrecision(12))}\``;
}

/** Shows the form of a key whose value is of another kind, such as a number instead of a map. */
function exampleHint({ params, path }: SchemaError): string | undefined {
  const key = String(typeof path.at(-1) === "number" ? path.at(-2) : path.at(-1));
  const isPlain = [params.type].flat().every((type) => type === "object" || type === "array");
  if (!isPlain || !Object.hasOwn(examples, key)) return undefined;
  return `for example \`${key}: ${examples[key] ?? ""}\``;
}

/** Keys that are often written as a single value. */
const examples: Readonly<Record<string, string>> = {
  action: "{ org: acme, domain: payments, name: wire.approve }",
  conditions: '[{ name: small, expression: "params.amount <= 100" }]',
  endpoints: '{ crm: { url: "https://crm.example/customers" } }',
  enrich: "[{ endpoint: crm, into: customer }]",
  entities: '[{ type: customer, id: "{{ customer.id }}" }]',
  guardrails: "[{ type: no_disabled_targets, disabled_stages: [stage-old] }]",
  max_calls: "{ count: 20, per: session }",
  max_sum: "{ of: params.amount, most: 100, per: session }",
  overrides: "[name_of_a_policy]",
  rate_limit: "{ count: 10, per: 1s }",
  requires: "[name_of_a_tool]",
  retry: "{ attempts: 3 }",
  scoring: "{ strategy: weighted_average }",
  static: "{ decision: review, weight: 0.3 }",
};

/** A test names several targets or labels with another key than one. */
const severalHint = (path: Path): string | undefined =>
  ["target", "label"].includes(String(path.at(-1)))
    ? `for several, write \`${String(path.at(-1))}s\``
    : undefined;

/** Aggregation modes that specification 5 reserves without defining them. */
const reservedModes = ["vote_of_n", "weighted_sum_threshold"];

function reservedModeHint(path: Path, mode: unknown): string | undefined {
  if (path.at(-1) !== "aggregation" || typeof mode !== "string" || !reservedModes.includes(mode))
    return undefined;
  return `\`${mode}\` is a reserved mode that is not defined yet`;
}

const durationKeys: readonly unknown[] = ["ttl", "timeout", "base", "max", "per"];

/** Whether only a duration is allowed at a path. */
function isDuration(path: Path): boolean {
  if (path[0] !== "endpoints") {
    return path.at(-1) === "window" || (path.at(-2) === "cache" && path.at(-1) === "ttl");
  }
  return path.length > 2 && path[2] !== "headers" && durationKeys.includes(path.at(-1));
}

/** Suggests a unit for a plain number: many programs read it as seconds. */
function durationHint(path: Path, value: unknown): string | undefined {
  if (!isDuration(path) || !/^[0-9]+(?:\.[0-9]+)?$/.test(String(value))) return undefined;
  return `write ${String(value)}s for that many seconds`;
}

/** Whether the value may be a secret that was written by mistake. Such values are never shown. */
function mayBeSecret(path: Path): boolean {
  const [top, , key, part] = path;
  if (top !== "endpoints") return false;
  return key === "url" || key === "headers" || (key === "auth" && part !== "type" && part !== "header");
}

const secretKeys: readonly unknown[] = ["secret_key", "username_key", "password_key", "token_key"];

function secretHint(path: Path): string | undefined {
  if (path[0] !== "endpoints" || !secretKeys.includes(path.at(-1))) return undefined;
  return "put the secret into an environment variable, and write the name of the variable here";
}

/** Keys of similar tools that do not exist here or have another name. */
const foreignKeys: Readonly<Record<string, string>> = {
  retry_config: "did you mean `retry`?",
  retries: "did you mean `retry`?",
};

const foreignKeyHint = (path: Path, key: string): string | undefined =>
  path[0] === "endpoints" && Object.hasOwn(foreignKeys, key) ? foreignKeys[key] : undefined;
