/** The parts of a DMN table; texts are FEEL. */
export interface DmnParts {
  readonly hitPolicy?: string;
  readonly aggregation?: string;
  readonly inputs?: readonly string[];
  /** The names of the outputs, each with the values that it allows. */
  readonly outputs?: readonly {
    readonly name?: string;
    readonly values?: string;
    readonly fallback?: string;
  }[];
  readonly rules: readonly {
    readonly in: readonly string[];
    readonly out: readonly string[];
    readonly note?: string;
  }[];
  readonly namespace?: string;
  /** Elements beside the decision. */
  readonly more?: string;
}

export const dmn13 = "https://www.omg.org/spec/DMN/20191111/MODEL/";

export const escapeXml = (text: string): string =>
  text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);

const element = (name: string, text: string | undefined): string =>
  text === undefined ? "" : `<${name}><text>${escapeXml(text)}</text></${name}>`;

/** Writes a DMN model as other tools do: a line for each part. */
export function dmnFile(parts: DmnParts): string {
  const {
    hitPolicy,
    aggregation,
    inputs = ["n"],
    outputs = [{}],
    rules,
    namespace = dmn13,
    more = "",
  } = parts;
  const attributes = `${hitPolicy === undefined ? "" : ` hitPolicy="${hitPolicy}"`}${aggregation === undefined ? "" : ` aggregation="${aggregation}"`}`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<definitions xmlns="${namespace}" id="model" name="model" namespace="urn:test">`,
    '<decision id="dish" name="Dish">',
    `<decisionTable id="table"${attributes}>`,
    ...inputs.map((input) => `<input>${element("inputExpression", input)}</input>`),
    ...outputs.map(
      ({ name, values, fallback }) =>
        `<output${name === undefined ? "" : ` name="${name}"`}>${element("outputValues", values)}${element("defaultOutputEntry", fallback)}</output>`,
    ),
    ...rules.map(
      (rule) =>
        `<rule>${rule.in.map((text) => element("inputEntry", text)).join("")}${rule.out.map((text) => element("outputEntry", text)).join("")}${element("annotationEntry", rule.note)}</rule>`,
    ),
    "</decisionTable>",
    "</decision>",
    more,
    "</definitions>",
  ].join("\n");
}
