import { expressionKindAt } from "../definition/expressions.js";
import type { Path, TextNode } from "../definition/yaml-source.js";
import { functionTable, signature } from "../expression/function-table.js";
import { operatorTable } from "../expression/operator-table.js";
import { ruleOperators } from "../expression/rule/rule-operators.js";

/** A word of the language of expressions, with its documentation in Markdown. */
export interface LanguageWord {
  readonly word: string;
  readonly kind: "function" | "operator";
  readonly about: string;
}

const example = ({ expression, answer }: { readonly expression: string; readonly answer: unknown }): string =>
  `\`\`\`\n${expression}\n\`\`\`\n\nis \`${JSON.stringify(answer)}\``;

/** Returns the functions and the operators that are words, such as `and`. */
export function languageWords(): readonly LanguageWord[] {
  const functions = Array.from(functionTable().values(), (entry) => ({
    word: entry.name,
    kind: "function" as const,
    about: `\`${signature(entry)}\`\n\n${entry.summary}\n\n${example(entry.example)}`,
  }));
  const operators = operatorTable.flatMap((entry) => {
    const words = [
      ...(entry.spelling + entry.summary.replaceAll(/[^`]*(`\w+`)?/g, "$1")).matchAll(/[a-z]{2,}/g),
    ];
    const about = `\`${entry.spelling.replaceAll(/\s+/g, " ")}\`\n\n${entry.summary}\n\n${example(entry.example)}`;
    return words.map(([word]) => ({ word, kind: "operator" as const, about }));
  });
  return [...new Map([...operators, ...functions].map((each) => [each.word, each])).values()];
}

/** Returns the documentation of an operator of rule conditions, in Markdown. */
export function aboutRuleOperator(name: string): string | undefined {
  const entry = ruleOperators().get(name);
  if (entry === undefined) return undefined;
  const { condition, context, answer } = entry.example;
  const shown = `\`${JSON.stringify(condition)}\` with \`${JSON.stringify(context)}\` is \`${answer}\``;
  return `\`${entry.name}\`: ${entry.summary}\n\n\`value\`: ${entry.takes}\n\n${shown}`;
}

/** Returns where the expression starts that a position of a text is in; undefined: it is in none. */
export function expressionStart(path: Path, before: string): number | undefined {
  const open = before.lastIndexOf("{{");
  if (open !== -1 && !before.slice(open).includes("}}")) return open + 2;
  const isExpression = path[0] === "decision" && expressionKindAt(path.slice(1)) === "expression";
  return isExpression && open === -1 ? 0 : undefined;
}

/** Whether a position of an expression is in a text, a pattern or the like. */
export const isInText = (before: string): boolean => (before.match(/'/g)?.length ?? 0) % 2 === 1;

/** Returns the paths of the context that the expressions of a document read. */
export function readPaths(root: TextNode): ReadonlySet<string> {
  const found = new Set<string>();
  collectPaths(root, [], found);
  return found;
}

const identifiers = /'[^']*'|(?<![\w.])[A-Za-z_]\w*(?:\.\w+)*(?![\w.(])/g;

function collectPaths(node: TextNode, path: Path, found: Set<string>): void {
  if (typeof node.value === "string") {
    const isField = path.at(-1) === "field";
    const texts = isField ? [node.value] : expressionsOf(node.value, path);
    for (const [identifier] of texts.flatMap((text) => [...text.matchAll(identifiers)])) {
      if (!identifier.startsWith("'") && !reserved.has(identifier)) found.add(identifier);
    }
  }
  for (const { key, value } of node.entries) {
    if (value !== undefined) collectPaths(value, [...path, String(key.value)], found);
  }
  for (const [index, item] of node.items.entries()) {
    if (item !== undefined) collectPaths(item, [...path, index], found);
  }
}

const reserved: ReadonlySet<string> = new Set(
  "and or not in if then else mod true false null between exists zz9cursor9zz".split(" "),
);

function expressionsOf(text: string, path: Path): readonly string[] {
  const inTemplate = [...text.matchAll(/\{\{(.*?)\}\}/gs)].map(([, expression = ""]) => expression);
  return inTemplate.length === 0 && expressionStart(path, "") === 0 ? [text] : inTemplate;
}
