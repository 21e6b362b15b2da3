import { printable } from "../text.js";
import { InvalidXml, readXml } from "./xml.js";

/** The namespaces of the models, by version. */
const modelNamespaces: Readonly<Record<string, string>> = {
  "http://www.omg.org/spec/DMN/20151101/dmn.xsd": "1.1",
  "http://www.omg.org/spec/DMN/20151101/MODEL/": "1.1",
  "http://www.omg.org/spec/DMN/20180521/MODEL/": "1.2",
  "https://www.omg.org/spec/DMN/20191111/MODEL/": "1.3",
  "https://www.omg.org/spec/DMN/20211108/MODEL/": "1.4",
  "https://www.omg.org/spec/DMN/20230324/MODEL/": "1.5",
  "https://www.omg.org/spec/DMN/20240513/MODEL/": "1.6",
};

/** The namespace that dmn-moddle reads and writes. */
const dmn13 = "https://www.omg.org/spec/DMN/20191111/MODEL/";

/** The namespace of attributes for what DMN has no place for. */
export const ownNamespace = "urn:agent-33:table";
export const ownPrefix = "agent33";

/** The prefixes of the elements that are read. */
export const prefixes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(modelNamespaces).map((uri) => [uri, "dmn"])),
  [ownNamespace]: ownPrefix,
};

/** What an element may contain. */
interface ElementRule {
  /** The children that are read; `*` follows those that may be repeated. */
  readonly children?: readonly string[];
  readonly attributes?: readonly string[];
  readonly isText?: true;
}

const common = ["id", "label"];
const expression: ElementRule = {
  children: ["description", "text"],
  attributes: [...common, "typeRef", "expressionLanguage"],
};
const text: ElementRule = { isText: true };
const reference: ElementRule = { attributes: ["href"] };

/** The part of DMN that is read. Everything else is left out, or reported. */
const rules: Readonly<Record<string, ElementRule>> = {
  definitions: {
    children: ["itemDefinition*", "inputData*", "decision*"],
    attributes: [...common, "name", "namespace", "expressionLanguage", "exporter"],
  },
  itemDefinition: { children: ["typeRef", "allowedValues"], attributes: [...common, "name", "isCollection"] },
  typeRef: text,
  allowedValues: expression,
  inputData: { children: ["variable"], attributes: [...common, "name"] },
  variable: { attributes: [...common, "name", "typeRef"] },
  decision: {
    children: ["description", "variable", "informationRequirement*", "decisionTable"],
    attributes: [...common, "name"],
  },
  informationRequirement: { children: ["requiredDecision", "requiredInput"], attributes: common },
  requiredDecision: reference,
  requiredInput: reference,
  decisionTable: {
    children: ["description", "input*", "output*", "annotation*", "rule*"],
    attributes: [...common, "typeRef", "hitPolicy", "aggregation", "preferredOrientation", "outputLabel"],
  },
  input: { children: ["description", "inputExpression", "inputValues"], attributes: common },
  inputExpression: expression,
  inputValues: expression,
  output: {
    children: ["description", "outputValues", "defaultOutputEntry"],
    attributes: [...common, "name", "typeRef"],
  },
  outputValues: expression,
  defaultOutputEntry: expression,
  annotation: { attributes: ["name"] },
  rule: { children: ["description", "inputEntry*", "outputEntry*", "annotationEntry*"], attributes: common },
  inputEntry: expression,
  outputEntry: expression,
  annotationEntry: { children: ["text"] },
  description: text,
  text,
};

/** Parts of decisions that say nothing about their answers. */
const ignoredInDecisions: ReadonlySet<string> = new Set([
  "extensionElements",
  "question",
  "allowedAnswers",
  "knowledgeRequirement",
  "authorityRequirement",
  "supportedObjective",
  "impactedPerformanceIndicator",
  "decisionMaker",
  "decisionOwner",
  "usingProcess",
  "usingTask",
]);

/** Parts of a model that are reported because they may have been meant to be imported. */
const reportedInModels: ReadonlySet<string> = new Set([
  "businessKnowledgeModel",
  "decisionService",
  "import",
]);

/** A finding about an element. */
export interface ElementFinding {
  readonly ordinal: number;
  readonly message: string;
  readonly hint?: string;
}

export interface ReducedDmn {
  /** DMN 1.3 with the elements of decision tables only; each has its ordinal. */
  readonly xml: string;
  readonly problems: readonly ElementFinding[];
  /** What is not imported. */
  readonly leftOut: readonly ElementFinding[];
}

/**
 * Reduces DMN 1.1–1.6 to the decision tables in it, in the namespace of 1.3, so that only these reach dmn-moddle: it
 * skips what it does not know, and takes very long for files with many such elements. Throws `InvalidXml`.
 */
export function reduceDmn(document: string): ReducedDmn {
  const reducer = new Reducer();
  readXml(document, prefixes, reducer);
  return { xml: reducer.xml, problems: reducer.problems, leftOut: reducer.leftOut };
}

interface OpenElement {
  readonly name: string;
  readonly rule: ElementRule;
  readonly ordinal: number;
  readonly seen: Set<string>;
}

class Reducer {
  xml = "";
  readonly problems: ElementFinding[] = [];
  readonly leftOut: ElementFinding[] = [];
  readonly #open: OpenElement[] = [];
  /** The number of open elements that are left out. */
  #skipped = 0;
  /** The name of the decision that is open. */
  #decision = "";

  open(name: string, attributes: Readonly<Record<string, string>>, ordinal: number): void {
    const local = name.replace(/^dmn:/, "");
    const parent = this.#open.at(-1);
    if (this.#skipped > 0 || (parent !== undefined && !this.#isRead(parent, name, attributes, ordinal))) {
      this.#skipped++;
      return;
    }
    if (parent === undefined && name !== "dmn:definitions") throw notDmn(name, attributes);
    const rule = rules[local] ?? {};
    if (local === "decision") this.#decision = attributes["name"] ?? attributes["id"] ?? "";
    this.#open.push({ name: local, rule, ordinal, seen: new Set() });
    this.xml += `<${local}${this.#attributes(local, rule, attributes, ordinal)}>`;
  }

  text(content: string): void {
    const element = this.#open.at(-1);
    if (element === undefined || this.#skipped > 0) return;
    if (element.rule.isText) this.xml += escapeXml(content);
    else if (content.trim() !== "" && this.#isInTable)
      this.problems.push({
        ordinal: element.ordinal,
        message: `\`${element.name}\` contains text outside of \`<text>\``,
      });
  }

  close(): void {
    if (this.#skipped > 0) {
      this.#skipped--;
      return;
    }
    const element = this.#open.pop();
    if (element !== undefined) this.xml += `</${element.name}>`;
  }

  get #isInTable(): boolean {
    return this.#open.some(({ name }) => name === "decisionTable");
  }

  /** Returns whether an element is read; reports it otherwise, if it matters. */
  #isRead(
    parent: OpenElement,
    name: string,
    attributes: Readonly<Record<string, string>>,
    ordinal: number,
  ): boolean {
    const local = name.startsWith("dmn:") ? name.slice("dmn:".length) : undefined;
    if (local === undefined) return false;
    const { children = [] } = parent.rule;
    const isRepeated = parent.seen.has(local);
    parent.seen.add(local);
    if (children.includes(`${local}*`)) return true;
    if (children.includes(local)) {
      if (isRepeated)
        this.problems.push({ ordinal, message: `\`${parent.name}\` has two elements \`${local}\`` });
      return !isRepeated;
    }
    if (parent.name === "definitions" && reportedInModels.has(local)) {
      const named = attributes["name"] === undefined ? "" : ` \`${printable(attributes["name"])}\``;
      this.leftOut.push({ ordinal, message: `the ${words(local)}${named} is not imported` });
    }
    if (parent.name === "decision" && !ignoredInDecisions.has(local)) {
      this.leftOut.push({
        ordinal,
        message: `the decision \`${printable(this.#decision)}\` is not imported: it is a ${words(local)}, not a decision table`,
      });
    }
    if (this.#isInTable && local !== "extensionElements")
      this.problems.push({ ordinal, message: `\`${local}\` in \`${parent.name}\` cannot be converted` });
    return false;
  }

  /** Writes the attributes that are read, and the ordinal. Unknown ones of tables are reported: they may be misspelt. */
  #attributes(
    name: string,
    { attributes: known = [] }: ElementRule,
    given: Readonly<Record<string, string>>,
    ordinal: number,
  ): string {
    if (name === "text" || name === "description" || name === "typeRef") return "";
    const declared = this.#open.length === 1 ? ` xmlns="${dmn13}" xmlns:${ownPrefix}="${ownNamespace}"` : "";
    const written = Object.entries(given).flatMap(([key, value]) => {
      if (known.includes(key) || key.startsWith(`${ownPrefix}:`)) return [` ${key}="${escapeXml(value)}"`];
      if (this.#isInTable && !key.includes(":") && key !== "xmlns")
        this.problems.push({ ordinal, message: `unknown attribute \`${key}\` of \`${name}\`` });
      return [];
    });
    return `${declared}${written.join("")} ${ownPrefix}:ordinal="${ordinal}"`;
  }
}

/** Writes the name of an element as words. */
const words = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const escapeXml = (content: string): string =>
  content.replace(/[&<>"\n\r\t]/g, (character) => `&#${character.charCodeAt(0)};`);

function notDmn(name: string, attributes: Readonly<Record<string, string>>): InvalidXml {
  const namespace = Object.entries(attributes).find(
    ([key, value]) => key.startsWith("xmlns") && value.includes("DMN"),
  )?.[1];
  const got =
    namespace === undefined ? `\`${printable(name)}\`` : `the namespace \`${printable(namespace)}\``;
  return new InvalidXml(
    `the document is not DMN 1.1 to 1.6 (got ${got})`,
    { line: 1, column: 1 },
    "export the model as DMN 1.3",
  );
}
