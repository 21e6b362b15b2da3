import type { ErrorObject } from "ajv";
import { schema } from "./schema.js";
import { textAt } from "./schema-words.js";
import type { Path } from "./yaml-source.js";

/** What a keyword of the schema means at a place, in our words. */
export function choiceMeaning(path: Path): string {
  const parent = path.at(-2);
  if (parent === "evaluators") return "an evaluator has either `rules` or `static`, and never both";
  if (parent === "rules") return "a rule has either `if` or `when`, and never both";
  return "a rule table needs either `rules` or `cases`, and never both";
}

export function leastMeaning(error: ErrorObject): string {
  const { limit } = error.params as { limit: number };
  if (limit !== 0) return `must be at least ${limit}`;
  return isShare(error) ? "must be from 0 to 1" : "must not be negative";
}

export const mostMeaning = (error: ErrorObject): string =>
  isShare(error) ? "must be from 0 to 1" : "is too large";

/** Of a weight that is a confidence, a threshold and the like. */
const isShare = (error: ErrorObject): boolean =>
  (schemaAt(error.schemaPath) as { maximum?: unknown } | undefined)?.maximum === 1;

/** Modes of aggregation that have a name already but no meaning yet. */
const reservedModes = ["vote_of_n", "weighted_sum_threshold"];

export function reservedHint(path: Path, value: unknown): string | undefined {
  const mode = textAt(value, path);
  if (path.at(-1) !== "aggregation" || !reservedModes.includes(mode)) return undefined;
  return `\`${mode}\` is a reserved mode that is not defined yet`;
}

export function patternMeaning(path: Path): string {
  switch (path.at(-1)) {
    case "id":
      return "may hold letters, digits, `.`, `_` and `-` only, at most 128";
    case "version":
      return "must be a semantic version such as 1.2.0";
    case "ttl":
      return "must be a duration such as 500ms, 30s, 1h or 1h30m";
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

export const propertiesAt = (schemaPath: string): object =>
  (schemaAt(schemaPath) as { properties?: object } | undefined)?.properties ?? {};

/** The part of the schema that a keyword of it stands in. */
function schemaAt(schemaPath: string): unknown {
  let at: unknown = schema;
  for (const step of schemaPath.replace(/^#\//, "").split("/").slice(0, -1)) {
    at = (at as Record<string, unknown> | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return at;
}
