import { compileInput } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Problem } from "../model/problem.js";
import type { LocatedDefinition } from "./read-definitions.js";

interface InFile {
  readonly file: string;
  readonly located: LocatedDefinition;
}

/** Weighted decisions that put the same people into the same buckets. */
export function sharedBuckets(all: readonly InFile[]): readonly Problem[] {
  const byInput = new Map<string, InFile[]>();
  for (const each of all) {
    const { definition } = each.located;
    if (definition.type !== "weighted") continue;
    const key = JSON.stringify([definition.salt, normalised(definition)]);
    byInput.set(key, [...(byInput.get(key) ?? []), each].slice(-mostTwins));
  }
  return [...byInput.values()]
    .filter((twins) => twins.length > 1)
    .flatMap((twins) => twins.map((each) => remark(each, twins)));
}

/** So many that share their buckets are reported; the rest follow when these are mended. */
const mostTwins = 20;

function remark({ file, located: { definition, source } }: InFile, twins: readonly InFile[]): Problem {
  const others = twins.map(({ located }) => located.definition.id).filter((id) => id !== definition.id);
  const names = others.map((id) => `\`${id}\``).join(", ");
  const salted = definition.type === "weighted" && definition.salt !== undefined;
  const how = salted ? "with the same salt" : "without a salt";
  const message = `the same input is rolled ${how} in ${names}: all put the same people into the same buckets`;
  const { line, column } = source.locate(["decision", definition.input === undefined ? "id" : "input"]);
  return {
    file,
    line,
    column,
    severity: "warning",
    message,
    hint: "give each its own `salt`",
    decision_id: definition.id,
  };
}

function normalised({ input }: Definition): string {
  const tree = input === undefined ? undefined : compileInput(input).tree;
  return tree === undefined ? (input ?? "") : JSON.stringify(tree);
}
