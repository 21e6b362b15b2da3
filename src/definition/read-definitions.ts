import { branchesOf } from "./branches.js";
import { brokenFile, tooLargeMessage, unreadableFile } from "./broken-file.js";
import type {
  TargetEntry,
  DeclaredEndpoint,
  DeclaredTarget,
  DefinitionFile,
  DefinitionSummary,
  LocatedGuardrail,
  EndpointReference,
  TargetReference,
} from "./definition-file.js";
import { addTargets } from "./definition-file.js";
import { checkEndpoints } from "./checks/check-endpoints.js";
import { definitionHash } from "./loaded-definition.js";
import { checkExpressions } from "./expressions.js";
import { checkFetches } from "./checks/check-fetches.js";
import { allFetches } from "./fetches.js";
import { checkGate } from "./checks/check-gate.js";
import { checkGuardrail, checkOwnGuardrails } from "./checks/check-guardrails.js";
import { maxFileBytes } from "./yaml-limits.js";
import { checkLabels } from "./checks/check-names.js";
import { checkPolicies } from "./checks/check-policies.js";
import type { Finding } from "./explain-definition-errors.js";
import { explainDefinitionErrors, withCorrectedType } from "./explain-definition-errors.js";
import { checkRuleConditions, checkScored } from "./checks/check-scored.js";
import { toolsOf } from "./tool-match.js";
import { validate as validateSchema } from "./validate-schema.generated.js";
import type { Path, Position, SourceDocument } from "./yaml-source.js";
import { readYaml } from "./yaml-source.js";
import type { Definition, DefinitionTest, Guardrail } from "../model/definition.js";
import type { Endpoints } from "../model/endpoint.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { printable } from "../text.js";

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
  if (typeof text !== "string") return unreadableFile(file, text.message, decodeLeniently(content));
  const source = readYaml(text);
  const reader = new DefinitionReader(file);
  for (const fault of source.diagnostics) reader.report(fault, fault.message, { hint: fault.hint });
  for (const document of source.documents) reader.read(document);
  if (reader.diagnostics.length > 0) {
    const documents = source.diagnostics.length > 0 ? undefined : source.documents.map(({ value }) => value);
    return brokenFile(file, text, reader.diagnostics, { documents });
  }
  for (const located of reader.located) inspect?.(located);
  return reader.finish();
}

class DefinitionReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly located: LocatedDefinition[] = [];
  readonly #file: string;
  readonly #tests: DefinitionTest[] = [];
  readonly #guardrails: LocatedGuardrail[] = [];
  readonly #endpoints: DeclaredEndpoint[] = [];
  #targets: Map<string, DeclaredTarget> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  read(source: SourceDocument): void {
    const faults = checkSchema(source.value);
    for (const fault of faults) this.#reportFault(source, fault, []);
    const document = source.value as RawDocument | null;
    const decision = document?.decision;
    this.#checkExpressions(source, decision);
    if (faults.length > 0 || document === null) return;

    for (const [index, guardrail] of (document.guardrails ?? []).entries()) {
      const path = ["guardrails", index];
      for (const fault of checkGuardrail(guardrail, path)) this.#reportFault(source, fault, []);
      this.#guardrails.push({ guardrail, ...source.locate(path) });
    }
    this.#readEndpoints(source, document.endpoints ?? {});
    if (document.targets)
      addTargets((this.#targets ??= new Map<string, DeclaredTarget>()), source, document.targets);
    this.#tests.push(...(document.tests ?? []));
    if (decision) this.#readDecision(source, decision);
  }

  #readEndpoints(source: SourceDocument, endpoints: Endpoints): void {
    for (const fault of checkEndpoints(endpoints)) this.#reportFault(source, fault, []);
    for (const [name, endpoint] of Object.entries(endpoints)) {
      this.#endpoints.push({ name, endpoint, ...source.locateKey(["endpoints"], name) });
    }
  }

  #checkExpressions(source: SourceDocument, decision: unknown): void {
    for (const { path, offset, message, hint, excerpt } of checkExpressions(decision)) {
      this.report(source.locateWithin(["decision", ...path], offset), message, { hint, excerpt });
    }
    for (const fault of checkRuleConditions(decision)) this.#reportFault(source, fault, ["decision"]);
  }

  #readDecision(source: SourceDocument, definition: Definition): void {
    for (const fault of checkDefinition(definition)) this.#reportFault(source, fault, ["decision"]);
    this.located.push({ summary: summarizeDefinition(definition, source), definition, source });
  }

  #reportFault(source: SourceDocument, fault: Finding, prefix: Path): void {
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
    this.diagnostics.push({
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
      summary: { file: this.#file, definitions, ...declared, diagnostics: [], claimedIds: [] },
      body: { definitions: this.located.map(({ definition }) => definition), tests: this.#tests },
    };
  }
}

function checkSchema(value: unknown): readonly Finding[] {
  if (validateSchema(value)) return [];
  const faults = explainDefinitionErrors(validateSchema.errors ?? [], value);
  const meant = withCorrectedType(value);
  if (meant === undefined || validateSchema(meant)) return faults;
  return [...faults, ...explainDefinitionErrors(validateSchema.errors ?? [], meant)];
}

interface RawDocument {
  readonly decision?: Definition;
  readonly targets?: readonly TargetEntry[];
  readonly guardrails?: readonly Guardrail[];
  readonly endpoints?: Endpoints;
  readonly tests?: readonly DefinitionTest[];
}

function decode(content: Uint8Array): string | Error {
  if (content.byteLength > maxFileBytes) return new Error(tooLargeMessage);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return new Error("it is not UTF-8 text");
  }
  return text.includes("\0") ? new Error("it holds NUL bytes, so it is no text") : text;
}

/** Enough of a file that is no text to see which ids it meant to declare. */
function decodeLeniently(content: Uint8Array): string {
  // In text of two bytes a character, every other one is NUL.
  return content.byteLength > maxFileBytes
    ? ""
    : new TextDecoder().decode(content).replaceAll(/\0|^\ufffd+/g, "");
}

/** What is known of a definition without loading it. */
export function summarizeDefinition(definition: Definition, source: SourceDocument): DefinitionSummary {
  const fetches = referencedEndpoints(definition, source);
  return {
    id: definition.id,
    definition_hash: definitionHash(definition),
    position: source.locateKey([], "decision"),
    reached: reachedTargets(definition, source),
    ...(fetches.length > 0 && { fetches }),
    ...lookupKeys(definition),
  };
}

/** What it is asked for by, beside its id. */
function lookupKeys(definition: Definition): Pick<DefinitionSummary, "tools" | "action"> {
  if (definition.type === "policy") return { tools: toolsOf(definition) };
  return definition.type === "gate" ? { action: definition.action } : {};
}

function reachedTargets(definition: Definition, source: SourceDocument): readonly TargetReference[] {
  const reached = new Map<string, TargetReference>();
  for (const { path, target } of branchesOf(definition)) {
    if (!reached.has(target)) reached.set(target, { target, ...source.locate(["decision", ...path]) });
  }
  return [...reached.values()];
}

function referencedEndpoints(definition: Definition, source: SourceDocument): readonly EndpointReference[] {
  const named = new Map<string, EndpointReference>();
  for (const { path, endpoint } of allFetches(definition)) {
    const at = ["decision", ...path, "endpoint"];
    if (!named.has(endpoint)) named.set(endpoint, { endpoint, ...source.locate(at) });
  }
  return [...named.values()];
}

/** What is wrong with a definition that fits the schema; places are relative to it. */
export function checkDefinition(definition: Definition): readonly Finding[] {
  return [...checkByType(definition), ...checkOwnGuardrails(definition), ...checkFetches(definition)];
}

function checkByType(definition: Definition): readonly Finding[] {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return checkLabels(definition);
    case "scored":
      return checkScored(definition);
    case "policy":
      return checkPolicies(definition);
    case "gate":
      return checkGate(definition);
  }
}
