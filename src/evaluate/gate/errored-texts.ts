import { missingPath } from "../../expression/failure.js";
import type { ErroredPredicate } from "../../model/result.js";

/** Returns the message for something that could not be evaluated. */
export function describeErrored({ source, name = "", error }: ErroredPredicate): string {
  switch (source) {
    case "enrich":
      return `no data from \`${name}\`: ${error}`;
    case "context_schema":
      return `the context does not match the schema: ${error}`;
    case "input":
      return `the input could not be evaluated: ${error}`;
    case "computed":
      return `the computed value \`${name}\` could not be evaluated: ${error}`;
    case "applies_when":
      return `\`applies_when\` of \`${name}\` could not be evaluated: ${error}`;
    case "when":
      return `\`${name}\` could not be evaluated: ${error}`;
    case "output":
      return `the output of \`${name}\` could not be evaluated: ${error}`;
  }
}

/** Sums up the errors of a gate in one sentence that names the required data which is missing. */
export function summariseErrored(errors: readonly ErroredPredicate[]): string {
  const of = (...sources: readonly ErroredPredicate["source"][]): readonly ErroredPredicate[] =>
    errors.filter(({ source }) => sources.includes(source));
  const [unfetched, mismatches] = [of("enrich"), of("context_schema")];
  const fetches = unfetched.map(({ name = "", missing = name }) => `\`${missing}\` from \`${name}\``);
  const fields = mismatches.flatMap(({ missing }) => (missing === undefined ? [] : [`\`${missing}\``]));
  const absent = fields.length === 0 ? "" : `: ${areMissing(fields)}`;
  const computed = of("computed").map(({ name = "" }) => `\`${name}\``);
  const rules = of("applies_when", "when").length;
  const notEvaluated = [
    ...(of("input").length > 0 ? ["the input"] : []),
    ...(computed.length > 0
      ? [`the computed ${computed.length === 1 ? "value" : "values"} ${listOf(computed)}`]
      : []),
    ...(rules > 0 ? [`${rules} ${rules === 1 ? "condition" : "conditions"}`] : []),
    ...(of("output").length > 0 ? ["the output"] : []),
  ];
  const parts = [
    ...(fetches.length > 0 ? [`required data could not be fetched: ${listOf(fetches)}`] : []),
    ...(mismatches.length > 0 ? [`the context does not match the schema${absent}`] : []),
    ...(notEvaluated.length > 0 ? [`${listOf(notEvaluated)} could not be evaluated`] : []),
  ];
  return parts.join(", and ");
}

const maxNamed = 10;

/** Names the first of many. */
function listOf(names: readonly string[]): string {
  const all = [...new Set(names)];
  const rest = all.length - maxNamed;
  const shown = rest > 0 ? [...all.slice(0, maxNamed), `${rest} more`] : all;
  return [shown.slice(0, -1).join(", "), ...shown.slice(-1)].filter((each) => each !== "").join(" and ");
}

const areMissing = (fields: readonly string[]): string =>
  `${listOf(fields)} ${fields.length === 1 ? "is" : "are"} missing`;

/** Replaces the message that a computed value is missing by the reason why it could not be evaluated. */
export function explainMissing(message: string, errors: readonly ErroredPredicate[]): string {
  const name = missingPath(message)?.split(".")[0];
  const cause = errors.find((each) => each.source === "computed" && each.name === name);
  return cause === undefined ? message : `computed value \`${cause.name}\`: ${cause.error}`;
}
