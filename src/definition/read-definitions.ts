import type { Definition, DefinitionTest } from "../model/definition.js";
import type { Endpoints } from "../model/endpoint.js";
import type { Guardrail } from "../model/guardrail.js";
import type { Problem } from "../model/problem.js";
import { printable } from "../printable.js";
import { definitionFaults } from "./definition-faults.js";
import { expressionFaults } from "./expressions.js";
import { broken, tooLarge, unusable } from "./broken-file.js";
import type { WrittenTarget } from "./declared-targets.js";
import { addTargets } from "./declared-targets.js";
import type {
  DeclaredEndpoint,
  DeclaredTarget,
  DefinitionFile,
  DefinitionSummary,
  PlacedGuardrail,
} from "./definition-file.js";
import { endpointFaults } from "./endpoint-faults.js";
import { guardrailFaults } from "./guardrail-faults.js";
import { largestFile } from "./limits.js";
import { ifFaults } from "./scored-faults.js";
import { summaryOf } from "./summary.js";
import type { SchemaFault } from "./schema-problems.js";
import { explainSchemaErrors, withMeantType } from "./schema-problems.js";
import { validate as validateSchema } from "./validate-schema.generated.js";
import type { Path, Position, SourceDocument } from "./yaml-source.js";
import { readYaml } from "./yaml-source.js";

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
  if (typeof text !== "string") return unusable(file, text.message, readable(content));
  const source = readYaml(text);
  const reader = new Reader(file);
  for (const fault of source.faults) reader.report(fault, fault.message, { hint: fault.hint });
  for (const document of source.documents) reader.read(document);
  if (reader.problems.length > 0) {
    const documents = source.faults.length > 0 ? undefined : source.documents.map(({ value }) => value);
    return broken(file, text, reader.problems, { documents });
  }
  for (const located of reader.located) inspect?.(located);
  return reader.finish();
}

class Reader {
  readonly problems: Problem[] = [];
  readonly located: LocatedDefinition[] = [];
  readonly #file: string;
  readonly #tests: DefinitionTest[] = [];
  readonly #guardrails: PlacedGuardrail[] = [];
  readonly #endpoints: DeclaredEndpoint[] = [];
  #targets: Map<string, DeclaredTarget> | undefined;

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

    for (const [index, guardrail] of (document.guardrails ?? []).entries()) {
      const path = ["guardrails", index];
      for (const fault of guardrailFaults(guardrail, path)) this.#reportFault(source, fault, []);
      this.#guardrails.push({ guardrail, ...source.locate(path) });
    }
    this.#readEndpoints(source, document.endpoints ?? {});
    if (document.targets)
      addTargets((this.#targets ??= new Map<string, DeclaredTarget>()), source, document.targets);
    this.#tests.push(...(document.tests ?? []));
    if (decision) this.#readDecision(source, decision);
  }

  #readEndpoints(source: SourceDocument, endpoints: Endpoints): void {
    for (const fault of endpointFaults(endpoints)) this.#reportFault(source, fault, []);
    for (const [name, endpoint] of Object.entries(endpoints)) {
      this.#endpoints.push({ name, endpoint, ...source.locateKey(["endpoints"], name) });
    }
  }

  #checkExpressions(source: SourceDocument, decision: unknown): void {
    for (const { path, offset, message, hint, excerpt } of expressionFaults(decision)) {
      this.report(source.locateWithin(["decision", ...path], offset), message, { hint, excerpt });
    }
    for (const fault of ifFaults(decision)) this.#reportFault(source, fault, ["decision"]);
  }

  #readDecision(source: SourceDocument, definition: Definition): void {
    for (const fault of definitionFaults(definition)) this.#reportFault(source, fault, ["decision"]);
    this.located.push({ summary: summaryOf(definition, source), definition, source });
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
    const declared = {
      ...(this.#targets && { targets: [...this.#targets.values()] }),
      ...(this.#guardrails.length > 0 && { guardrails: this.#guardrails }),
      ...(this.#endpoints.length > 0 && { endpoints: this.#endpoints }),
    };
    return {
      summary: { file: this.#file, definitions, ...declared, problems: [], claimed: [] },
      body: { definitions: this.located.map(({ definition }) => definition), tests: this.#tests },
    };
  }
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
  readonly targets?: readonly WrittenTarget[];
  readonly guardrails?: readonly Guardrail[];
  readonly endpoints?: Endpoints;
  readonly tests?: readonly DefinitionTest[];
}

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
  // In text of two bytes a character, every other one is NUL.
  return content.byteLength > largestFile
    ? ""
    : new TextDecoder().decode(content).replaceAll(/\0|^\ufffd+/g, "");
}
