import type { Segments } from "../expression/column-path.js";
import { isLiteralOutput } from "../definition/outputs.js";
import type { Answer, ColumnType } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Cell } from "./cell.js";
import { InvalidCell, parseCell } from "./cell.js";
import type { OutputPart } from "./dmn-columns.js";
import { hasDefault, inputType, outputParts, outputType, rankOutputs } from "./dmn-columns.js";
import type { CreateElement } from "./dmn-model.js";
import { serializeDmn } from "./dmn-model.js";
import { inputPath } from "./dmn-table-reader.js";
import { writeFeelValue, writePath, writeUnaryTests } from "./feel-text.js";
import { ownNamespace, ownPrefix } from "./reduce-dmn.js";
import type { InputColumn, OutputColumn, Table } from "./table.js";

/** What DMN cannot express; `index` is that of the rule, `key` the part of the rule or, without one, of the default. */
export interface UnwritablePart {
  readonly index?: number;
  readonly key?: "output";
  readonly message: string;
  readonly hint?: string;
}

export type WrittenDmn = { readonly xml: string } | { readonly unwritable: readonly UnwritablePart[] };

/** Writes a table as a DMN 1.3 model with one decision; or returns all parts that DMN cannot express. */
export async function writeDmn(table: Table & { readonly id: string }): Promise<WrittenDmn> {
  const writer = new DmnWriter(table);
  const inputs = table.columns.map((column, index) => writer.input(column, index));
  const outputs = writer.outputs();
  const rules = table.rules.map((_, index) => writer.rule(index));
  if (hasDefault(table)) writer.refuseTemplate(table.default);
  if (writer.unwritable.length > 0) return { unwritable: writer.unwritable };
  const xml = await serializeDmn((create) => toModel(create, table, { inputs, outputs, rules }));
  return { xml };
}

/** The texts of an input. */
interface Input {
  readonly expression: string;
  readonly root: string;
  readonly label: string | undefined;
  readonly type: ColumnType | undefined;
  readonly values: string | undefined;
}

interface Output {
  readonly then: string;
  readonly name: string;
  readonly label: string | undefined;
  readonly type: ColumnType | undefined;
  readonly values: string | undefined;
  readonly default: string | undefined;
}

interface Rule {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

class DmnWriter {
  readonly unwritable: UnwritablePart[] = [];
  readonly #table: Table;
  readonly #parts: readonly OutputPart[];
  readonly #types: readonly (ColumnType | undefined)[];

  constructor(table: Table) {
    this.#table = table;
    this.#parts = outputParts(table);
    this.#types = this.#parts.map((part) => this.#outputTypeOf(part));
  }

  #attempt<Result>(what: string, write: () => Result, index?: number): Result | undefined {
    try {
      return write();
    } catch (error) {
      if (!(error instanceof InvalidCell)) throw error;
      const { message, hint } = error;
      this.unwritable.push({
        message: `${what}: ${message}`,
        ...(index !== undefined && { index }),
        ...(hint !== undefined && { hint }),
      });
      return undefined;
    }
  }

  input({ path, label, type, values }: InputColumn, index: number): Input {
    const what = `column ${index + 1}`;
    const cells = this.#table.rules.map((rule) => rule.cells[index]);
    const written = this.#attempt(what, () => {
      const dmnPath = this.#dmnPath(path);
      return { expression: writePath(dmnPath), root: dmnPath[0] ?? "" };
    });
    return {
      expression: "",
      root: "",
      ...written,
      label,
      type: type ?? inputType(cells),
      values:
        values === undefined
          ? undefined
          : this.#attempt(what, () => writeUnaryTests(parseCell(values), type)),
    };
  }

  /** Returns a path from the context: `input` is replaced by what it stands for. */
  #dmnPath(path: Segments): Segments {
    const [root, ...steps] = path;
    const { input } = this.#table;
    if (root === "input" && input !== undefined) {
      const source = inputPath(input);
      if (source !== undefined) return [...source, ...steps];
      throw new InvalidCell(
        "`input` is not a path",
        "in DMN, an input expression is a path, such as artifact.type",
      );
    }
    return root === "context" && steps.length > 0 && !isPlain(steps[0] ?? "") ? steps : path;
  }

  outputs(): readonly Output[] {
    const { aggregate, default: fallback } = this.#table;
    if (this.#parts.length === 0)
      this.unwritable.push({ message: "the rules have no output that DMN can show" });
    if (aggregate !== undefined && this.#parts.length > 1)
      this.unwritable.push({
        message: `\`aggregate: ${aggregate}\` needs one output in DMN, and the rules have several columns`,
      });
    const ranked = rankOutputs(this.#table, this.#parts);
    if ("message" in ranked) this.unwritable.push(ranked);
    return this.#parts.map((part, at) => {
      const column = this.#answer(part);
      const values = "message" in ranked ? [] : (ranked[at] ?? []);
      const type = this.#types[at];
      const value = hasDefault(this.#table) && fallback !== undefined ? part.valueOf(fallback) : undefined;
      return {
        then: part.then,
        name: column?.name ?? part.name,
        label: column?.label,
        type,
        values:
          values.length > 0
            ? values.map((each) => writeFeelValue(each, type)).join(", ")
            : this.#allowed(column, type),
        default: value === undefined ? undefined : writeFeelValue(value, type),
      };
    });
  }

  #answer(part: OutputPart): OutputColumn | undefined {
    return this.#table.answers.find(({ then }) => then === part.then);
  }

  #outputTypeOf(part: OutputPart): ColumnType | undefined {
    const answers = [
      ...this.#table.rules.map(({ answer }) => answer),
      ...(this.#table.default === undefined ? [] : [this.#table.default]),
    ];
    return this.#answer(part)?.type ?? outputType(answers.map((answer) => part.valueOf(answer)));
  }

  #allowed(column: OutputColumn | undefined, type: ColumnType | undefined): string | undefined {
    const values = column?.values;
    if (values === undefined) return undefined;
    return this.#attempt(`\`${column?.then ?? ""}\``, () => writeUnaryTests(parseCell(values), type));
  }

  /** A template would be a constant text in FEEL. */
  refuseTemplate({ output }: Answer, index?: number): void {
    const template = output === undefined ? undefined : findTemplate(output);
    if (template === undefined) return;
    this.unwritable.push({
      message: `${index === undefined ? "the output of the default" : "the output"}: the template \`${template}\` cannot be written in FEEL here`,
      hint: "export the table as CSV, or replace the template by a value",
      key: "output",
      ...(index !== undefined && { index }),
    });
  }

  rule(index: number): Rule {
    const rule = this.#table.rules[index];
    const answer = rule?.answer ?? {};
    this.refuseTemplate(answer, index);
    return {
      inputs: this.#table.columns.map(({ type }, at) => this.#cell(rule?.cells[at], type, index)),
      outputs: this.#parts.map((part, at) => optional(part.valueOf(answer), this.#types[at])),
    };
  }

  #cell(cell: Cell | undefined, type: ColumnType | undefined, index: number): string {
    return this.#attempt("the condition", () => writeUnaryTests(cell, type), index) ?? "";
  }
}

/** Returns the first text of an output that contains an expression. */
function findTemplate(output: Json): string | undefined {
  if (isLiteralOutput(output)) return undefined;
  return typeof output === "object"
    ? Object.values(output ?? {})
        .map(findTemplate)
        .find(Boolean)
    : String(output);
}

const optional = (value: Json | undefined, type: ColumnType | undefined): string =>
  value === undefined ? "" : writeFeelValue(value, type);

const isPlain = (step: string): boolean => /^[A-Za-z_]\w*$/.test(step);

interface TableTexts {
  readonly inputs: readonly Input[];
  readonly outputs: readonly Output[];
  readonly rules: readonly Rule[];
}

/** Identifiers of XML start with a letter or `_`. */
const toXmlId = (id: string): string => (/^[A-Za-z_]/.test(id) ? id : `_${id}`);

function toModel(create: CreateElement, table: Table & { readonly id: string }, texts: TableTexts): object {
  const { id: ownId, name = ownId, version, description, input, on_error: onError } = table;
  const id = toXmlId(ownId);
  const roots = [...new Set(texts.inputs.map(({ root }) => root))];
  const own = (key: string): string => `${ownPrefix}:${key}`;
  const inputData = roots.map((root, index) => {
    const [only, ...others] = texts.inputs.filter((each) => each.root === root);
    const typeRef = others.length === 0 && only?.expression === root ? only.type : undefined;
    const variable = create("InformationItem", { id: `${id}_variable_${index + 1}`, name: root, typeRef });
    return create("InputData", { id: `${id}_input_data_${index + 1}`, name: root, variable });
  });
  const decision = create("Decision", {
    id,
    name,
    [own("id")]: id === ownId ? undefined : ownId,
    [own("version")]: version,
    [own("input")]: input,
    [own("on_error")]: onError,
    description,
    variable: create("InformationItem", { id: `${id}_variable`, name }),
    informationRequirement: roots.map((_, index) =>
      create("InformationRequirement", {
        id: `${id}_requirement_${index + 1}`,
        requiredInput: create("DMNElementReference", { href: `#${id}_input_data_${index + 1}` }),
      }),
    ),
    decisionLogic: toDecisionTable(create, table, { ...texts, id }),
  });
  return create("Definitions", {
    id: `${id}_definitions`,
    name,
    namespace: `${ownNamespace}:${ownId}`,
    exporter: "agent-33",
    [`xmlns:${ownPrefix}`]: ownNamespace,
    drgElement: [...inputData, decision],
  });
}

function toDecisionTable(
  create: CreateElement,
  { hit_policy: policy = "first", aggregate, rules: tableRules }: Table,
  { id, inputs, outputs, rules }: TableTexts & { readonly id: string },
): object {
  const hasNotes = tableRules.some(({ description }) => description !== undefined);
  const text = (
    type: string,
    key: string,
    content: string | undefined,
    more: object = {},
  ): object | undefined =>
    content === undefined ? undefined : create(type, { id: `${id}_${key}`, ...more, text: content });
  return create("DecisionTable", {
    id: `${id}_table`,
    hitPolicy: policy.toUpperCase().replace("_", " "),
    aggregation: aggregate?.toUpperCase(),
    input: inputs.map(({ expression, label, type, values }, index) =>
      create("InputClause", {
        id: `${id}_input_${index + 1}`,
        label,
        inputExpression: text("LiteralExpression", `expression_${index + 1}`, expression, { typeRef: type }),
        inputValues: text("UnaryTests", `input_values_${index + 1}`, values),
      }),
    ),
    output: outputs.map(({ then, name, label, type, values, default: fallback }, index) =>
      create("OutputClause", {
        id: `${id}_output_${index + 1}`,
        name,
        label,
        typeRef: type,
        [`${ownPrefix}:maps`]: then,
        outputValues: text("UnaryTests", `output_values_${index + 1}`, values),
        defaultOutputEntry: text("LiteralExpression", `default_${index + 1}`, fallback),
      }),
    ),
    annotation: hasNotes ? [create("RuleAnnotationClause", { name: "Description" })] : undefined,
    rule: rules.map((rule, index) => {
      const key = `rule_${index + 1}`;
      const { label, description } = tableRules[index] ?? {};
      return create("DecisionRule", {
        id: `${id}_${key}`,
        label,
        inputEntry: rule.inputs.map((entry, at) => text("UnaryTests", `${key}_input_${at + 1}`, entry)),
        outputEntry: rule.outputs.map((entry, at) =>
          text("LiteralExpression", `${key}_output_${at + 1}`, entry),
        ),
        annotationEntry: hasNotes ? [create("RuleAnnotation", { text: description ?? "" })] : undefined,
      });
    }),
  });
}
