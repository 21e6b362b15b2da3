import type { ErroredPredicate } from "../../model/result.js";

/** What could not be evaluated, in a sentence. */
export function describeErrored({ source, name = "", error }: ErroredPredicate): string {
  switch (source) {
    case "enrich":
      return `no data came from \`${name}\`: ${error}`;
    case "context_schema":
      return `the context does not fit its schema: ${error}`;
    case "input":
      return `the input could not be evaluated: ${error}`;
    case "computed":
      return `the computed \`${name}\` could not be evaluated: ${error}`;
    case "applies_when":
      return `\`applies_when\` of \`${name}\` could not be evaluated: ${error}`;
    case "when":
      return `\`${name}\` could not be evaluated: ${error}`;
  }
}

/** Why a gate is not GREEN that would have been. */
export function summariseErrored(errors: readonly ErroredPredicate[]): string {
  const unfit = errors.some(({ source }) => source === "context_schema");
  const lacks = errors.some(({ source }) => source === "enrich");
  const count = errors.filter(({ source }) => source !== "context_schema" && source !== "enrich").length;
  const parts = [
    ...(lacks ? ["data that it needs did not come"] : []),
    ...(unfit ? ["the context does not fit its schema"] : []),
    ...(count > 0 ? [`${count} ${count === 1 ? "predicate" : "predicates"} could not be evaluated`] : []),
  ];
  return parts.join(", and ");
}
