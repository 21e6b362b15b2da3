import { parseIsoDuration } from "../../expression/iso-duration.js";
import { parseInstant } from "../../expression/instant.js";
import type { Node } from "../../expression/syntax.js";
import { children } from "../../expression/syntax.js";
import type { Definition, RuleCondition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { Finding } from "../diagnostics.js";
import { expressionsIn } from "../expressions.js";
import type { Path } from "../yaml-source.js";

/** Finds durations, and dates of different forms, whose order is compared as text. */
export function reviewTextOrder(definition: Definition): readonly Finding[] {
  const ofExpressions = expressionsIn(definition).flatMap(({ path, text, compile }) => {
    const { tree } = compile(text);
    return tree === undefined ? [] : orderingsIn(tree).map((texts) => ({ path, texts }));
  });
  return [...ofExpressions, ...ruleOrderings(definition)].flatMap(({ path, texts }) => {
    const message = textOrderWarning(texts);
    return message === undefined ? [] : [{ path, severity: "warning" as const, ...message }];
  });
}

/** Returns the literal texts of each comparison by order. */
function orderingsIn(node: Node): readonly (readonly string[])[] {
  const inner = children(node).flatMap(orderingsIn);
  if (!isOrdering(node)) return inner;
  const texts = children(node).flatMap((each) =>
    each.kind === "literal" && typeof each.value === "string" ? [each.value] : [],
  );
  return [texts, ...inner];
}

function isOrdering(node: Node): boolean {
  if (node.kind === "compare") return node.rest.some(({ operator }) => /[<>]/.test(operator));
  return node.kind === "call" && node.name === "between";
}

function textOrderWarning(texts: readonly string[]): Pick<Finding, "message" | "hint"> | undefined {
  const duration = texts.find((text) => parseIsoDuration(text) !== undefined);
  if (duration !== undefined) {
    return {
      message: `\`${duration}\` looks like a duration, but is compared as text`,
      hint: `in an expression, compare lengths: \`duration(…) > duration('${duration}')\``,
    };
  }
  const [first, ...others] = texts.filter((text) => parseInstant(text) !== undefined);
  const other = others.find((text) => formOf(text) !== formOf(first ?? ""));
  if (first === undefined || other === undefined) return undefined;
  return {
    message: `\`${first}\` and \`${other}\` are dates of different forms, but are compared as text`,
    hint: "write both in the same form and zone, or compare instants with `before`, `after` or `date`",
  };
}

/** Two dates of the same form and zone have the same order as texts and as instants. */
const formOf = (date: string): string =>
  date.slice(0, "2026-01-31".length).replaceAll(/\d/g, "0") +
  date.slice("2026-01-31".length).replace(/^(.[\d:.,]+)/, (time) => time.replaceAll(/\d/g, "0"));

interface LocatedTexts {
  readonly path: Path;
  readonly texts: readonly string[];
}

/** The same for the conditions of scored rules, which compare with operators such as `gt`. */
function ruleOrderings(definition: Definition): readonly LocatedTexts[] {
  if (definition.type !== "scored") return [];
  return definition.evaluators.flatMap((evaluator, at) =>
    "rules" in evaluator
      ? evaluator.rules.flatMap((rule, index) =>
          rule.if === undefined ? [] : conditionOrderings(rule.if, ["evaluators", at, "rules", index, "if"]),
        )
      : [],
  );
}

const orderingOperators: ReadonlySet<string> = new Set(["gt", "gte", "lt", "lte", "between"]);

function conditionOrderings(condition: RuleCondition, path: Path): readonly LocatedTexts[] {
  if ("field" in condition) {
    const { op, value = null } = condition;
    if (!orderingOperators.has(op)) return [];
    // The bounds of `between` are a list or a map.
    const values: readonly Json[] = typeof value === "object" ? Object.values(value ?? {}) : [value];
    return [{ path: [...path, "value"], texts: values.filter((each) => typeof each === "string") }];
  }
  return Object.entries(condition).flatMap(([key, group]: [string, readonly RuleCondition[]]) =>
    group.flatMap((each, index) => conditionOrderings(each, [...path, key, index])),
  );
}
