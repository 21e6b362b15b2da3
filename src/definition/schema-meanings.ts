import type { ErrorObject } from "ajv";
import { authTypes, decisionTypes, guardrailTypes } from "./decision-types.js";
import { schema } from "./schema.js";
import { isDuration } from "./schema-hints.js";
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
  isShare(error) ? "must be from 0 to 1" : `must be at most ${(error.params as { limit: number }).limit}`;

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

/** The types there are of what has one. */
export function knownTypes(path: Path): readonly string[] {
  if (path[0] === "endpoints") return authTypes;
  return path.includes("guardrails") ? guardrailTypes : decisionTypes;
}

/** What a key must be that is a name. */
export const nameMeaning = (path: Path): string =>
  path.at(-1) === "headers"
    ? "the name of a header may hold letters, digits and the like, no blanks and no `:`"
    : "the name of an endpoint may hold letters, digits, `_` and `-` only, at most 64";

export function patternMeaning(path: Path): string {
  if (isDuration(path)) return "must be a duration such as 500ms, 30s, 1h or 1h30m";
  if (path[0] === "endpoints") return endpointPatternMeaning(path);
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

function endpointPatternMeaning(path: Path): string {
  if (path.at(-2) === "headers") return "may hold printable ASCII characters only";
  return path.at(-1) === "header"
    ? "must be the name of a header, such as X-API-Key"
    : "must be the name of an environment variable";
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
