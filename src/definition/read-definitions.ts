import type { Definition, DefinitionTest, Target } from "../model/definition.js";
import type { Problem } from "../model/problem.js";
import { printable } from "../printable.js";
import { definitionHash } from "./definition-hash.js";
import { casesOf, expressionFaults } from "./expressions.js";
import { largestFile } from "./limits.js";
import { labelFaults } from "./names.js";
import type { SchemaFault } from "./schema-problems.js";
import { explainSchemaErrors, withMeantType } from "./schema-problems.js";
import { validate as validateSchema } from "./validate-schema.generated.js";
import type { Path, Position, SourceDocument } from "./yaml-source.js";
import { readYaml } from "./yaml-source.js";

/** What one file declares, without the definitions themselves. A file with an error declares nothing. */
export interface FileSummary {
  readonly file: string;
  readonly definitions: readonly DefinitionSummary[];
  readonly targets?: readonly Target[];
  readonly problems: readonly Problem[];
  /** The ids that a broken file seems to declare. */
  readonly claimed: readonly string[];
}

export interface DefinitionSummary {
  readonly id: string;
  readonly definition_hash: string;
  readonly position: Position;
  /** Each target it may lead to, with the first place that names it. */
  readonly reached: readonly ReachedTarget[];
}

export interface ReachedTarget extends Position {
  readonly target: string;
}

/** The rest of a file: its definitions, in the order of their summaries, and its tests. */
export interface FileBody {
  readonly definitions: readonly Definition[];
  readonly tests: readonly DefinitionTest[];
}

export interface DefinitionFile {
  readonly summary: FileSummary;
  readonly body: FileBody;
}

/** A definition together with its source, for those who point into it. */
export interface LocatedDefinition {
  readonly summary: DefinitionSummary;
  readonly definition: Definition;
  readonly source: SourceDocument;
}

/** Reads the text of one file; `inspect` sees each sound definition while its source is at hand. */
export function readDefinitions(
  file: string,
  content: Uint8Array,
  inspect?: (located: LocatedDefinition) => void,
): DefinitionFile {
  const text = decode(content);
  if (typeof text !== "string") return broken(file, readable(content), [atStart(file, text.message)]);
  const source = readYaml(text);
  const reader = new Reader(file);
  for (const fault of source.faults) reader.report(fault, fault.message, { hint: fault.hint });
  for (const document of source.documents) reader.read(document);
  if (reader.problems.length > 0) return broken(file, text, reader.problems);
  for (const located of reader.located) inspect?.(located);
  return reader.finish();
}

/** What stands for a file that could not even be read. */
export function unusable(file: string, reason: string, beginning = ""): DefinitionFile {
  return broken(file, beginning, [atStart(file, reason)]);
}

export const tooLarge = `a definition file has at most ${largestFile} bytes`;

class Reader {
  readonly problems: Problem[] = [];
  readonly located: LocatedDefinition[] = [];
  readonly #file: string;
  readonly #tests: DefinitionTest[] = [];
  #targets: Target[] | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  read(source: SourceDocument): void {
    const faults = schemaFaults(source.value);
    for (const fault of faults) this.#reportFault(source, fault, []);
    const document = source.value as RawDocument | null;
    const decision = document?.decision;
    this.#checkExpressions(source, decision);
    if (faults.length > 0 || document === null) return;

    if (document.targets) this.#targets = [...(this.#targets ?? []), ...document.targets.map(asTarget)];
    this.#tests.push(...(document.tests ?? []));
    if (decision) this.#readDecision(source, decision);
  }

  #checkExpressions(source: SourceDocument, decision: unknown): void {
    for (const { path, offset, message, hint, excerpt } of expressionFaults(decision)) {
      this.report(source.locateWithin(["decision", ...path], offset), message, { hint, excerpt });
    }
  }

  #readDecision(source: SourceDocument, definition: Definition): void {
    for (const fault of labelFaults(definition)) this.#reportFault(source, fault, ["decision"]);
    const definition_hash = definitionHash(definition);
    const position = source.locateKey([], "decision");
    const summary = {
      id: definition.id,
      definition_hash,
      position,
      reached: reachedTargets(definition, source),
    };
    this.located.push({ summary, definition, source });
  }

  #reportFault(source: SourceDocument, fault: SchemaFault, prefix: Path): void {
    const path = [...prefix, ...fault.path];
    const position = fault.key === undefined ? source.locate(path) : source.locateKey(path, fault.key);
    this.report(position, fault.message, { hint: fault.hint });
  }

  report(
    { line, column }: Position,
    message: string,
    more: {
      readonly hint?: string | undefined;
      readonly excerpt?: string;
      readonly decision_id?: string;
    } = {},
  ): void {
    const { hint, excerpt } = more;
    this.problems.push({
      file: this.#file,
      line,
      column,
      severity: "error",
      message: printable(message).replaceAll("\n", " "),
      ...(hint && { hint: printable(hint) }),
      ...(excerpt !== undefined && { excerpt: printable(excerpt) }),
    });
  }

  finish(): DefinitionFile {
    const definitions = this.located.map(({ summary }) => summary);
    const targets = this.#targets && { targets: this.#targets };
    return {
      summary: { file: this.#file, definitions, ...targets, problems: [], claimed: [] },
      body: { definitions: this.located.map(({ definition }) => definition), tests: this.#tests },
    };
  }
}

function reachedTargets(definition: Definition, source: SourceDocument): readonly ReachedTarget[] {
  const written = casesOf(definition).map(({ path, each }) => ({
    path: [...path, "target"] as Path,
    target: each.target,
  }));
  written.push({ path: ["default", "target"], target: definition.default.target });
  const reached = new Map<string, ReachedTarget>();
  for (const { path, target } of written) {
    if (!reached.has(target)) reached.set(target, { target, ...source.locate(["decision", ...path]) });
  }
  return [...reached.values()];
}

function schemaFaults(value: unknown): readonly SchemaFault[] {
  if (validateSchema(value)) return [];
  const faults = explainSchemaErrors(validateSchema.errors ?? [], value);
  const meant = withMeantType(value);
  if (meant === undefined || validateSchema(meant)) return faults;
  return [...faults, ...explainSchemaErrors(validateSchema.errors ?? [], meant)];
}

interface RawDocument {
  readonly decision?: Definition;
  readonly targets?: readonly (string | Target)[];
  readonly tests?: readonly DefinitionTest[];
}

const asTarget = (target: string | Target): Target => (typeof target === "string" ? { id: target } : target);

function decode(content: Uint8Array): string | Error {
  if (content.byteLength > largestFile) return new Error(tooLarge);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return new Error("it is not UTF-8 text");
  }
  return text.includes("\0") ? new Error("it holds NUL bytes, so it is no text") : text;
}

/** Enough of a file that is no text to see which ids it meant to declare. */
function readable(content: Uint8Array): string {
  return content.byteLength > largestFile ? "" : new TextDecoder().decode(content);
}

function atStart(file: string, message: string): Problem {
  return { file, line: 1, column: 1, severity: "error", message };
}

/** Nobody reads more at once. */
const mostProblems = 200;

const idLine = /(?<![A-Za-z0-9_-])id["']?[ \t]{0,8}:[ \t]{0,8}["']?([A-Za-z0-9._-]{1,128})/g;

function broken(file: string, text: string, problems: readonly Problem[]): DefinitionFile {
  const claimed = [...text.matchAll(idLine)].map((found) => found[1] ?? "");
  const all = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const last = all.at(mostProblems);
  const more = `there are ${all.length - mostProblems} more problems`;
  const inOrder =
    last === undefined
      ? all
      : [...all.slice(0, mostProblems), { ...last, message: more, hint: "mend these first" }];
  return {
    summary: { file, definitions: [], problems: inOrder, claimed },
    body: { definitions: [], tests: [] },
  };
}
