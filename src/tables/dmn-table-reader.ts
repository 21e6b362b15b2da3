import { canonicalJson } from "../digest/canonical-json.js";
import type { Segments } from "../expression/column-path.js";
import { isSamePath, toPath } from "../expression/column-path.js";
import { isForbiddenKey } from "../expression/path.js";
import { pathText } from "../expression/syntax.js";
import { compileInput } from "../expression/template.js";
import type { Answer, ColumnType, HitPolicy } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Cell } from "./cell.js";
import { cellText, InvalidCell } from "./cell.js";
import type { OutputPart, RankedValues } from "./dmn-columns.js";
import {
  distinct,
  implicitDefault,
  inputType,
  outputPart,
  outputParts,
  outputType,
  rankOutputs,
  sortByRank,
} from "./dmn-columns.js";
import type { DmnDecision, DmnExpression, DmnInput, DmnOutput, DmnRule, DmnTable } from "./dmn-model.js";
import { readFeelValue, readFeelValues, readPath, readUnaryTests } from "./feel.js";
import type { ElementFinding } from "./reduce-dmn.js";
import { ownPrefix } from "./reduce-dmn.js";
import type { InputColumn, OutputColumn, Place, Table, TableRule, TableSettings } from "./table.js";
import { aggregates, hitPolicies, maxColumns, maxRules } from "./table.js";

/** What all decisions of a model share. */
export interface DmnModel {
  /** The names of inputs and decisions. */
  readonly names: readonly string[];
  readonly types: ReadonlyMap<string, { readonly type?: ColumnType; readonly values?: string }>;
  /** Whether this tool wrote the model, so that it is known what its names and texts mean. */
  readonly isOwn: boolean;
  readonly expressionLanguage: string | undefined;
  placeOf(ordinal: number): Place;
}

/** An element with the attributes that this tool added. */
interface Attributed {
  readonly $attrs?: Readonly<Record<string, string>>;
}

export const ordinalOf = (element: Attributed): number =>
  Number(element.$attrs?.[`${ownPrefix}:ordinal`] ?? 1);

const ownAttribute = (element: Attributed, name: string): string | undefined =>
  element.$attrs?.[`${ownPrefix}:${name}`];

/** Runs a reader of an element, and reports its error. */
export function attempt<Result>(
  problems: ElementFinding[],
  element: Attributed,
  what: string,
  read: () => Result,
): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidCell)) throw error;
    const { message, hint } = error;
    problems.push({
      ordinal: ordinalOf(element),
      message: `${what}: ${message}`,
      ...(hint !== undefined && { hint }),
    });
    return undefined;
  }
}

const baseTypes: Readonly<Partial<Record<string, ColumnType>>> = {
  string: "string",
  number: "number",
  integer: "number",
  long: "number",
  double: "number",
  boolean: "boolean",
  date: "date",
  time: "time",
  dateTime: "dateTime",
  "date and time": "dateTime",
};

/** Returns the type that a name in DMN stands for, such as `feel:string`. */
export const baseType = (name: string | undefined): ColumnType | undefined =>
  baseTypes[(name ?? "").replace(/^feel:/, "")];

/** Reads one decision table. */
export class DmnTableReader {
  readonly #decision: DmnDecision;
  readonly #table: DmnTable;
  readonly #model: DmnModel;
  readonly #problems: ElementFinding[];
  /** The types of the dates that the cells of each input have. */
  readonly #dates: ColumnType[][] = [];

  constructor(decision: DmnDecision, table: DmnTable, model: DmnModel, problems: ElementFinding[]) {
    this.#decision = decision;
    this.#table = table;
    this.#model = model;
    this.#problems = problems;
  }

  read(): Table {
    const { input = [], output = [], rule = [] } = this.#table;
    this.#checkSize(input.length + output.length, rule.length);
    const settings = this.#settings();
    const paths = input.map((each, index) => this.#path(each, index, settings.input));
    const parts = this.#parts(settings.hit_policy ?? "unique");
    const rules = rule.map((each, index) => this.#rule(each, index, paths.map(headingOf), parts));
    const fallback = this.#default(parts);
    const table: Table = {
      ...settings,
      columns: input.map((each, index) => this.#column(each, index, paths[index] ?? [], rules)),
      answers: [],
      rules: this.#withLabels(rules),
      ...(fallback !== undefined && { default: fallback }),
      implicitDefault: implicitDefault(settings),
    };
    return this.#withOutputs(this.#ranked(table, parts), parts);
  }

  #report(element: Attributed, message: string, hint?: string): void {
    this.#problems.push({ ordinal: ordinalOf(element), message, ...(hint !== undefined && { hint }) });
  }

  #attempt<Result>(element: Attributed, what: string, read: () => Result): Result | undefined {
    return attempt(this.#problems, element, what, read);
  }

  #checkSize(columns: number, rules: number): void {
    if (columns > maxColumns)
      this.#report(this.#table, `a table may have at most ${maxColumns} columns (got ${columns})`);
    if (rules > maxRules)
      this.#report(this.#table, `a table may have at most ${maxRules} rules (got ${rules})`);
    if (rules === 0) this.#report(this.#table, "the table has no rules");
    if ((this.#table.output ?? []).length === 0) this.#report(this.#table, "the table has no output");
  }

  #settings(): TableSettings & { readonly id?: string } {
    const { id, name, description } = this.#decision;
    const ownId = ownAttribute(this.#decision, "id") ?? id?.replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 128);
    const { hitPolicy = "UNIQUE", aggregation } = this.#table;
    const policy = hitPolicies.find((each) => each === hitPolicy.toLowerCase().replace(" ", "_"));
    if (policy === undefined) this.#report(this.#table, `unknown hit policy \`${hitPolicy}\``);
    const aggregate = aggregates.find((each) => each === aggregation?.toLowerCase());
    if (aggregation !== undefined && (aggregate === undefined || policy !== "collect"))
      this.#report(this.#table, `the aggregation \`${aggregation}\` cannot be used with \`${hitPolicy}\``);
    const own = (key: string): string | undefined => ownAttribute(this.#decision, key);
    const [version, input, onError] = [own("version"), own("input"), own("on_error")];
    return {
      ...(ownId !== undefined && ownId !== "" && { id: ownId }),
      ...(name !== undefined && name !== ownId && { name }),
      ...(version !== undefined && { version }),
      ...(description !== undefined && { description }),
      ...(input !== undefined && { input }),
      ...(onError === "fail" || onError === "no_match" ? { on_error: onError } : {}),
      ...(policy !== undefined && { hit_policy: policy }),
      ...(aggregate !== undefined && { aggregate }),
    };
  }

  #path(input: DmnInput, index: number, inputTemplate: string | undefined): Segments | undefined {
    const { inputExpression } = input;
    const what = `input ${index + 1}`;
    if (inputExpression?.text === undefined || inputExpression.text.trim() === "") {
      this.#report(input, `${what}: it has no input expression`);
      return undefined;
    }
    this.#checkLanguage(inputExpression, what);
    const { text } = inputExpression;
    return this.#attempt(inputExpression, what, () => {
      const segments = readPath(text, this.#model.names);
      if (segments.some(isForbiddenKey)) throw new InvalidCell(`\`${text}\` cannot be read`);
      return this.#toOwnPath(segments, inputTemplate);
    });
  }

  /** Converts a path of DMN, whose names are keys of the context. */
  #toOwnPath(segments: Segments, inputTemplate: string | undefined): Segments {
    const input = inputTemplate === undefined ? undefined : inputPath(inputTemplate);
    if (input !== undefined && isSamePath(segments.slice(0, input.length), input))
      return ["input", ...segments.slice(input.length)];
    const isReserved = !this.#model.isOwn && ["input", "facts", "system"].includes(segments[0] ?? "");
    return isReserved ? ["context", ...segments] : toPath(segments);
  }

  #checkLanguage(element: DmnExpression, what: string): void {
    const { expressionLanguage = this.#model.expressionLanguage } = element;
    if (expressionLanguage === undefined || isFeel(expressionLanguage)) return;
    this.#report(element, `${what}: the expression language \`${expressionLanguage}\` is not FEEL`);
  }

  /** Returns the part of the answers that each output is. */
  #parts(policy: HitPolicy): readonly OutputPart[] {
    const { output = [], rule = [] } = this.#table;
    const targetIndex = output.findIndex(({ name }) => name === "target");
    const isTarget =
      policy !== "output_order" &&
      targetIndex !== -1 &&
      rule.every(({ outputEntry = [] }) => /^\s*(?:"|$)/.test(outputEntry[targetIndex]?.text ?? ""));
    const others = output.length - (isTarget ? 1 : 0);
    const names = new Set<string>();
    const parts = output.map((each, index) => {
      const then = ownAttribute(each, "maps") ?? (isTarget && index === targetIndex ? "target" : undefined);
      if (then !== undefined) return outputPart(then);
      const name = each.name ?? each.label;
      if (others === 1) return outputPart("output");
      if (name === undefined || name === "__proto__")
        this.#report(each, `output ${index + 1}: it has no name, and the table has several outputs`);
      return outputPart(pathText(["output", name ?? ""]));
    });
    for (const [index, { name }] of parts.entries()) {
      if (names.has(name))
        this.#report(
          output[index] ?? this.#table,
          `output ${index + 1}: another output has the name \`${name}\``,
        );
      names.add(name);
    }
    return parts;
  }

  #rule(rule: DmnRule, index: number, headings: readonly string[], parts: readonly OutputPart[]): TableRule {
    const { inputEntry = [], outputEntry = [], annotationEntry = [], description } = rule;
    const what = `rule ${index + 1}`;
    if (inputEntry.length !== headings.length)
      this.#report(rule, `${what}: it has ${inputEntry.length} input entries for ${headings.length} inputs`);
    if (outputEntry.length !== parts.length)
      this.#report(rule, `${what}: it has ${outputEntry.length} output entries for ${parts.length} outputs`);
    const cells = headings.map((heading, at) =>
      this.#cell(inputEntry[at] ?? {}, at, `${what}, input \`${heading}\``),
    );
    const values = parts.map((part, at) =>
      this.#value(outputEntry[at] ?? {}, `${what}, output \`${part.name}\``),
    );
    const answer = answerOf(parts, values);
    if (answer.target !== undefined && typeof answer.target !== "string")
      this.#report(rule, `${what}: the target is not a text`);
    const notes = [description, ...annotationEntry.map(({ text }) => text)].filter((note) => note?.trim());
    return {
      cells,
      answer,
      ...(rule.label !== undefined && { label: rule.label }),
      ...(notes.length > 0 && { description: notes.join("\n") }),
      place: () => this.#model.placeOf(ordinalOf(rule)),
    };
  }

  #cell(entry: DmnExpression, index: number, what: string): Cell | undefined {
    this.#checkLanguage(entry, what);
    return this.#attempt(entry, what, () => {
      const { cell, types } = readUnaryTests(entry.text ?? "");
      (this.#dates[index] ??= []).push(...types);
      return cell;
    });
  }

  #value(entry: DmnExpression, what: string): Json | undefined {
    const { text = "" } = entry;
    this.#checkLanguage(entry, what);
    if (text.trim() === "") return undefined;
    return this.#attempt(entry, what, () => {
      const { value } = readFeelValue(text);
      if (!this.#model.isOwn && /\{\{|\$\{/.test(canonicalJson(value)))
        throw new InvalidCell("the text contains `{{` or `${`, which start a template here");
      return value;
    });
  }

  #default(parts: readonly OutputPart[]): Answer | undefined {
    const { output = [] } = this.#table;
    const values = output.map(
      ({ defaultOutputEntry }, at) =>
        defaultOutputEntry &&
        this.#value(defaultOutputEntry, `default of output \`${parts[at]?.name ?? ""}\``),
    );
    return values.every((value) => value === undefined) ? undefined : answerOf(parts, values);
  }

  #column(input: DmnInput, index: number, path: Segments, rules: readonly TableRule[]): InputColumn {
    const { label, inputExpression, inputValues } = input;
    const what = `input \`${headingOf(path)}\``;
    const cells = rules.map(({ cells: all }) => all[index]);
    const named = this.#typeOf(inputExpression?.typeRef);
    const dates = new Set((this.#dates[index] ?? []).filter((type) => type !== "dateTime"));
    if (dates.size > 1) this.#report(input, `${what}: its cells have both dates and texts`);
    const [date] = dates;
    const type = date === "date" || date === "time" ? date : named.type;
    const read =
      inputValues && this.#attempt(inputValues, what, () => readUnaryTests(inputValues.text ?? "").cell);
    const values = read === undefined ? named.values : cellText(read);
    const heading = label ?? inputExpression?.label;
    return {
      path,
      ...(heading !== undefined && { label: heading }),
      ...(type !== undefined && type !== inputType(cells) && { type }),
      ...(values !== undefined && { values }),
    };
  }

  #typeOf(name: string | undefined): { readonly type?: ColumnType; readonly values?: string } {
    const type = baseType(name);
    return type === undefined ? (this.#model.types.get(name ?? "") ?? {}) : { type };
  }

  /** Keeps the labels of rules that can be labels here. */
  #withLabels(rules: readonly TableRule[]): readonly TableRule[] {
    const labels = rules.flatMap(({ label }) => label ?? []);
    const areUsable =
      new Set(labels).size === labels.length && !labels.includes("default") && !labels.includes("");
    return areUsable ? rules : rules.map((rule) => without(rule, "label"));
  }

  /** Adds the ranks of the rules, for the hit policies that rank outputs. */
  #ranked(table: Table, parts: readonly OutputPart[]): Table {
    if (table.hit_policy !== "priority" && table.hit_policy !== "output_order") return table;
    const { output = [] } = this.#table;
    const ranked = output.map(({ outputValues }, at): RankedValues => {
      if (outputValues?.text === undefined) return [];
      const { text } = outputValues;
      return (
        this.#attempt(outputValues, `output \`${parts[at]?.name ?? ""}\``, () => readFeelValues(text)) ?? []
      );
    });
    if (ranked.every((values) => values.length === 0))
      this.#report(this.#table, `the hit policy needs output values, which rank the outputs`);
    for (const [index, rule] of table.rules.entries()) this.#checkRank(rule, index, parts, ranked);
    const valuesOf = ({ answer }: { readonly answer: Answer }): readonly (Json | undefined)[] =>
      parts.map((part) => part.valueOf(answer));
    const sorted = sortByRank(table.rules, valuesOf, ranked);
    if (table.hit_policy === "output_order") {
      const [only, ...others] = ranked;
      const listed =
        others.length === 0 && only !== undefined
          ? only
          : sorted.flatMap(({ answer }) => answer.output ?? []);
      return { ...table, output_values: distinct(listed) };
    }
    const keyOf = (rule: TableRule): string =>
      canonicalJson(
        valuesOf(rule).map((value, at) => ((ranked[at] ?? []).length > 0 ? (value ?? null) : null)),
      );
    const ranks = [...new Set(sorted.map(keyOf))];
    return {
      ...table,
      rules: table.rules.map((rule) => ({ ...rule, priority: ranks.indexOf(keyOf(rule)) + 1 })),
    };
  }

  #checkRank(
    { answer }: TableRule,
    index: number,
    parts: readonly OutputPart[],
    ranked: readonly RankedValues[],
  ): void {
    for (const [at, part] of parts.entries()) {
      const values = ranked[at] ?? [];
      const value = part.valueOf(answer);
      const isListed =
        value !== undefined && values.some((each) => canonicalJson(each) === canonicalJson(value));
      if (values.length === 0 || isListed) continue;
      const rule = this.#table.rule?.[index] ?? {};
      this.#report(
        rule,
        `rule ${index + 1}, output \`${part.name}\`: it is not one of the output values, which rank the outputs`,
      );
    }
  }

  /** Adds what is known of the outputs, and what the rules do not show. */
  #withOutputs(table: Table, parts: readonly OutputPart[]): Table {
    const { output = [] } = this.#table;
    const derived = outputParts(table);
    const ranked = rankOutputs(table, derived);
    const answers = output.map((each, at): OutputColumn => {
      const part = parts[at];
      const then = part?.then ?? "";
      const column = this.#outputColumn(each, part, table);
      const rankedHere =
        "message" in ranked ? undefined : ranked[derived.findIndex((other) => other.then === then)];
      return column.values === valuesText(rankedHere ?? []) ? without(column, "values") : column;
    });
    return { ...table, answers };
  }

  #outputColumn(
    output: DmnOutput,
    part: OutputPart | undefined,
    { rules, default: fallback }: Table,
  ): OutputColumn {
    const { name, label, typeRef, outputValues } = output;
    const what = `output \`${part?.name ?? ""}\``;
    const values = [...rules.map(({ answer }) => answer), ...(fallback === undefined ? [] : [fallback])].map(
      (answer) => part?.valueOf(answer),
    );
    const named = this.#typeOf(typeRef);
    const text = outputValues?.text;
    const cell =
      outputValues && text !== undefined
        ? this.#attempt(outputValues, what, () => valuesCell(text))
        : undefined;
    const allowed = cell ?? named.values;
    return {
      then: part?.then ?? "",
      ...(name !== undefined && name !== part?.name && { name }),
      ...(label !== undefined && { label }),
      ...(named.type !== undefined && named.type !== outputType(values) && { type: named.type }),
      ...(allowed !== undefined && { values: allowed }),
    };
  }
}

const headingOf = (path: Segments | undefined): string => (path === undefined ? "" : pathText(path));

const isFeel = (language: string): boolean =>
  language === "" || /^(?:s-)?feel$/i.test(language) || /\/(?:S-)?FEEL\/$|\/FEEL\/20140401$/.test(language);

/** Returns the path that an `input` is. */
export function inputPath(template: string): Segments | undefined {
  const { tree } = compileInput(template);
  return tree?.kind === "path" ? tree.segments : undefined;
}

/** Joins the values of the outputs. A rule without any answers null. */
function answerOf(parts: readonly OutputPart[], values: readonly (Json | undefined)[]): Answer {
  let target: string | undefined;
  let output: Json | undefined;
  for (const [at, { then, name }] of parts.entries()) {
    const value = values[at];
    if (value === undefined) continue;
    if (then === "target") target = value as string;
    else if (then === "output") output = value;
    else output = { ...(output as JsonObject | undefined), [name]: value };
  }
  if (target === undefined && output === undefined) return { output: null };
  return { ...(target !== undefined && { target }), ...(output !== undefined && { output }) };
}

/** Returns allowed values as the text of a cell. */
function valuesCell(text: string): string {
  const { cell } = readUnaryTests(text);
  return cellText(cell);
}

const valuesText = (values: RankedValues): string =>
  cellText({ negated: false, tests: values.map((value) => ({ kind: "equals", value: value as never })) });

function without<Item extends object, Key extends keyof Item & string>(
  item: Item,
  key: Key,
): Omit<Item, Key> {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== key)) as Omit<Item, Key>;
}
