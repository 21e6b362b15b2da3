import { canonicalJson } from "../digest/canonical-json.js";
import { isObject } from "../expression/equal.js";
import { pathText, splitPath } from "../expression/syntax.js";
import type { Answer, ColumnType } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Cell, Test } from "./cell.js";
import { isInstant } from "./cell.js";
import type { Table, TableRule } from "./table.js";

/** Returns the type of the values that the cells of a column test; undefined if they have several, or none. */
export function inputType(cells: readonly (Cell | undefined)[]): ColumnType | undefined {
  return onlyType(cells.flatMap((cell) => cell?.tests ?? []).flatMap(valuesOf));
}

function valuesOf(test: Test): readonly unknown[] {
  switch (test.kind) {
    case "equals":
      return test.value === null ? [] : [test.value];
    case "order":
      return [test.bound];
    case "range":
      return [test.from, test.to];
    case "call":
      return test.args;
  }
}

function onlyType(values: readonly unknown[]): ColumnType | undefined {
  const types = new Set(
    values.map((value): ColumnType => {
      if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
        return typeof value as "string" | "number" | "boolean";
      return isInstant(value as never) && "instant" in (value as object) ? "dateTime" : "Any";
    }),
  );
  const [only, ...others] = types;
  return others.length === 0 && only !== "Any" ? only : undefined;
}

/** Returns the type of the values of an output. */
export const outputType = (values: readonly (Json | undefined)[]): ColumnType | undefined =>
  onlyType(values.filter((value) => value !== undefined && value !== null));

/** An output of a DMN table: a part of the answers. */
export interface OutputPart {
  /** `target`, `output`, or `output.` and a key. */
  readonly then: string;
  /** The name, if the column has none. */
  readonly name: string;
  valueOf(answer: Answer): Json | undefined;
}

/** Returns the part of the answers that a column shows. */
export function outputPart(then: string): OutputPart {
  if (then === "target") return { then, name: then, valueOf: ({ target }) => target };
  const [, key] = splitPath(then);
  if (key === undefined) return { then, name: then, valueOf: ({ output }) => output };
  return {
    then,
    name: key,
    valueOf: ({ output }) => (isObject(output) && Object.hasOwn(output, key) ? output[key] : undefined),
  };
}

/** Returns the outputs of a table: objects have one for each key. */
export function outputParts(table: Table): readonly OutputPart[] {
  const answers = [...table.rules.map(({ answer }) => answer), ...(hasDefault(table) ? [table.default] : [])];
  const outputs = answers.flatMap(({ output }) => (output === undefined ? [] : [output]));
  const keys = outputs.map((output) => (isObject(output) ? Object.keys(output) : []));
  const haveKeys = keys.every((each) => each.length > 0);
  return [
    ...(answers.some(({ target }) => target !== undefined) ? [outputPart("target")] : []),
    ...(outputs.length === 0
      ? []
      : haveKeys
        ? [...new Set(keys.flat())].map(keyPart)
        : [outputPart("output")]),
  ];
}

const keyPart = (key: string): OutputPart => outputPart(pathText(["output", key]));

/** In DMN, a table without a default answers null, or counts 0. */
export const implicitDefault = ({ aggregate }: Pick<Table, "aggregate">): Answer => ({
  output: aggregate === "count" ? 0 : null,
});

/** Returns whether DMN must be given the default. */
export const hasDefault = (table: Table): table is Table & { readonly default: Answer } =>
  table.default !== undefined &&
  canonicalJson({ ...table.default }) !== canonicalJson({ ...implicitDefault(table) });

/** Returns the distinct values in order. */
export const distinct = (values: readonly Json[]): readonly Json[] => [
  ...new Map(values.map((value) => [canonicalJson(value), value])).values(),
];

/** A table that ranks its rules in a way that DMN, which ranks outputs, cannot express. */
export interface Unrankable {
  readonly index?: number;
  readonly message: string;
}

/** The values of an output in their order, which decides for the hit policies PRIORITY and OUTPUT ORDER. */
export type RankedValues = readonly Json[];

/** Returns the ranked values of each output; empty where it does not decide. */
export function rankOutputs(
  table: Table,
  parts: readonly OutputPart[],
): readonly RankedValues[] | Unrankable {
  switch (table.hit_policy) {
    case "priority":
      return rankByPriority(table.rules, parts);
    case "output_order":
      return rankByOutput(table.output_values ?? [], parts);
    default:
      return parts.map(() => []);
  }
}

/** The first output must have one value for each priority. */
function rankByPriority(
  rules: readonly TableRule[],
  parts: readonly OutputPart[],
): readonly RankedValues[] | Unrankable {
  const [first] = parts;
  const sorted = rules
    .map((rule, index) => ({
      index,
      priority: rule.priority ?? 0,
      answer: rule.answer,
      value: first?.valueOf(rule.answer),
    }))
    .sort((a, b) => a.priority - b.priority || a.index - b.index);
  const values: Json[] = [];
  for (const [position, { index, value, answer }] of sorted.entries()) {
    const before = sorted[position - 1];
    if (value === undefined)
      return { index, message: "DMN ranks outputs, and the rule has none in the first column" };
    const key = canonicalJson(value);
    if (before?.value === undefined || canonicalJson(before.value) !== key) {
      if (values.some((each) => canonicalJson(each) === key))
        return {
          index,
          message: "DMN ranks outputs, and another rule with this output has another priority",
        };
      values.push(value);
    } else if (before.index > index && canonicalJson({ ...before.answer }) !== canonicalJson({ ...answer })) {
      return {
        index,
        message: "DMN ranks outputs, and a rule below with the same first output comes before it",
      };
    }
  }
  return parts.map((_, at) => (at === 0 ? values : []));
}

function rankByOutput(
  outputs: readonly Json[],
  parts: readonly OutputPart[],
): readonly RankedValues[] | Unrankable {
  const ranked = parts.map((part) =>
    part.then === "target" ? [] : distinct(outputs.flatMap((output) => part.valueOf({ output }) ?? [])),
  );
  const sorted = sortByRank(outputs, (output) => parts.map((part) => part.valueOf({ output })), ranked);
  return canonicalJson([...sorted]) === canonicalJson([...outputs])
    ? ranked
    : { message: "DMN orders outputs by their parts, and `output_values` has another order" };
}

/** Sorts by the positions of values in the ranked values, the first output first. */
export function sortByRank<Item>(
  items: readonly Item[],
  valuesOfItem: (item: Item) => readonly (Json | undefined)[],
  ranked: readonly RankedValues[],
): readonly Item[] {
  const positions = ranked.map(
    (values) => new Map(values.map((value, index) => [canonicalJson(value), index])),
  );
  const keyed = items.map((item) => ({
    item,
    key: valuesOfItem(item).map((value, at) =>
      value === undefined ? 0 : (positions[at]?.get(canonicalJson(value)) ?? 0),
    ),
  }));
  return keyed.toSorted((a, b) => compareKeys(a.key, b.key)).map(({ item }) => item);
}

function compareKeys(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
