import { branchesOf } from "./branches.js";
import {
  brokenFile,
  emptyFile,
  limitDiagnostics,
  maxFileBytes,
  tooLargeMessage,
  undecodableFile,
  unreadableFile,
} from "./broken-file.js";
export { maxFileBytes, tooLargeMessage, unreadableFile };
import type {
  TargetEntry,
  DeclaredEndpoint,
  DeclaredTarget,
  DefinitionFile,
  DefinitionSummary,
  LocatedGuardrail,
  LocatedObserver,
  LocatedTest,
  EndpointReference,
  TargetReference,
} from "./definition-file.js";
import { addTargets } from "./definition-file.js";
import { lookupKeys } from "./lookup-keys.js";
import { checkColumns } from "./checks/check-columns.js";
import { checkEndpoints } from "./checks/check-endpoints.js";
import { definitionHash } from "./loaded-definition.js";
import { checkExpressions } from "./expressions.js";
import { checkFetches } from "./checks/check-fetches.js";
import { allFetches } from "./fetches.js";
import { checkGate } from "./checks/check-gate.js";
import { checkGuardrail, checkOwnGuardrails } from "./checks/check-guardrails.js";
import { checkLabels } from "./checks/check-names.js";
import { checkOutputs } from "./checks/check-outputs.js";
import { checkPolicies } from "./checks/check-policies.js";
import type { Finding } from "./diagnostics.js";
import { diagnosticAt, locateFinding, sortDiagnostics } from "./diagnostics.js";
import { explainDefinitionErrors, withCorrectedType } from "./explain-definition-errors.js";
import { checkRuleConditions, checkScored } from "./checks/check-scored.js";
import { schema } from "./schema.js";
import { validate as validateSchema } from "./validate-schema.generated.js";
import type { Path, SourceDocument, YamlSource } from "./yaml-source.js";
import { readYaml } from "./yaml-source.js";
import type { Definition, DefinitionTest, Guardrail, Observer } from "../model/definition.js";
import type { Endpoints } from "../model/endpoint.js";
import type { Diagnostic } from "../model/diagnostic.js";

export { editDocument, readYaml, writeYaml } from "./yaml-source.js";

/** A valid definition with its file and source, for checks that report where something is written. */
export interface LocatedDefinition {
  readonly file: string;
  readonly summary: DefinitionSummary;
  readonly definition: Definition;
  readonly source: SourceDocument;
  /** The fields that the contexts of its tests have; absent: not known. */
  readonly testedFields?: readonly string[];
}

/** Reads the content of one file. `inspect` receives each definition of a valid file with its source. */
export function readDefinitions(
  file: string,
  content: Uint8Array,
  inspect?: (located: LocatedDefinition) => void,
): DefinitionFile {
  const text = decodeDefinitions(content);
  if (typeof text !== "string")
    return content.byteLength > maxFileBytes
      ? unreadableFile(file, text.message)
      : undecodableFile(file, text.message, decodeLeniently(content));
  const yaml = readYaml(text);
  if (yaml.documents.length === 0 && yaml.errors.length === 0) return emptyFile(file);
  const reader = new DefinitionReader(file);
  for (const [index, document] of yaml.documents.entries()) reader.read(document, index);
  const ofYaml = yamlDiagnostics(file, yaml.errors);
  const diagnostics = [...ofYaml, ...reader.diagnostics];
  if (diagnostics.length > 0) {
    const documents = ofYaml.length > 0 ? undefined : yaml.documents.map(({ value }) => value);
    return brokenFile(file, text, diagnostics, { documents });
  }
  for (const located of reader.located) inspect?.(located);
  return reader.finish();
}

const yamlDiagnostics = (file: string, errors: YamlSource["errors"]): readonly Diagnostic[] =>
  errors.map(({ line, column, ...error }) => diagnosticAt({ file, line, column }, error));

/** Reads a file that contains tests only. Whatever is wrong with it, it declares nothing else. */
export function readTests(file: string, content: Uint8Array): DefinitionFile {
  const text = decodeDefinitions(content);
  if (typeof text !== "string") return testsOf(file, [], [diagnosticAt(startOf(file), text)]);
  const { documents, errors } = readYaml(text);
  const diagnostics = [...yamlDiagnostics(file, errors)];
  const tests = documents.flatMap((source, document) => {
    const findings = [...checkSchema(source.value), ...misplacedKeys(source.value)];
    diagnostics.push(...findings.map((finding) => locateFinding(finding, source, { file })));
    return findings.length > 0 ? [] : locateTests(source, document);
  });
  if (tests.length === 0 && diagnostics.length === 0) {
    const hint = "add `tests:`, or delete the file";
    diagnostics.push(diagnosticAt(startOf(file), { message: "the file has no tests", hint }));
  }
  return testsOf(file, tests, diagnostics);
}

const startOf = (file: string): { file: string; line: number; column: number } => ({
  file,
  line: 1,
  column: 1,
});

const testsOf = (
  file: string,
  tests: readonly LocatedTest[],
  diagnostics: readonly Diagnostic[],
): DefinitionFile => ({
  summary: {
    file,
    definitions: [],
    ...(tests.length > 0 && { tests: tests.length }),
    diagnostics: limitDiagnostics(sortDiagnostics(diagnostics)),
    claimedIds: [],
  },
  body: { definitions: [], tests },
});

/** Only the name of the file decides that it has no definitions, so one in it would silently be missing. */
function misplacedKeys(value: unknown): readonly Finding[] {
  const keys = Object.keys(Object(value) as object).filter(
    (key) => key !== "tests" && Object.hasOwn(schema.properties, key),
  );
  return keys.map((key) => ({
    path: [],
    key,
    message: `\`${key}\` has no effect in a test file`,
    hint: "a file named *.test.yaml has only `tests`; rename it, or move this to another file",
  }));
}

function locateTests(source: SourceDocument, document: number): readonly LocatedTest[] {
  const { tests = [] } = source.value as RawDocument;
  return tests.map((test, index) => {
    const path = ["tests", index];
    const rows = test.each?.map((_, row) => source.locate([...path, "each", row]).line);
    return { test, ...source.locate(path), document, index, ...(rows && { rows }) };
  });
}

/** Returns the position of each finding about a document of a file, as it is now. */
export function locateInFile(
  file: string,
  content: Uint8Array,
  findings: readonly (Finding & { readonly document: number })[],
): readonly Diagnostic[] {
  const text = decodeDefinitions(content);
  const { documents } = typeof text === "string" ? readYaml(text) : { documents: [] };
  return findings.map(({ document, ...finding }) => {
    const source = documents[document];
    return source === undefined
      ? diagnosticAt(startOf(file), finding)
      : locateFinding(finding, source, { file });
  });
}

/** Returns a function that finds the line of a part of a decision in the content of its file. */
export function decisionLocator(content: Uint8Array): (id: string, path: Path) => number {
  const text = decodeDefinitions(content);
  const { documents } = typeof text === "string" ? readYaml(text) : { documents: [] };
  return (id, path) => {
    const source = documents.find(({ value }) => (value as RawDocument | null)?.decision?.id === id);
    return source?.locate(["decision", ...path]).line ?? 1;
  };
}

/** Collects what the documents of one file declare, and the diagnostics about them. */
class DefinitionReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly located: LocatedDefinition[] = [];
  readonly #file: string;
  readonly #tests: LocatedTest[] = [];
  readonly #testDiagnostics: Diagnostic[] = [];
  readonly #guardrails: LocatedGuardrail[] = [];
  readonly #endpoints: DeclaredEndpoint[] = [];
  readonly #masks: string[] = [];
  readonly #observers: LocatedObserver[] = [];
  #targets: Map<string, DeclaredTarget> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  read(source: SourceDocument, document: number): void {
    const all = checkSchema(source.value);
    // No test changes a decision, not even one that is wrong.
    const ofTests = all.filter(isAboutTests);
    const violations = all.filter((finding) => !isAboutTests(finding));
    this.#report(source, violations);
    const declared = source.value as RawDocument | null;
    const decision = declared?.decision;
    const isBeforeComment = (path: Path): boolean => source.isBeforeComment(["decision", ...path]);
    const ofExpressions = [...checkExpressions(decision, isBeforeComment), ...checkRuleConditions(decision)];
    // An expression that has a violation of its own is not the one that was meant.
    const isViolation = ({ path }: Finding): boolean =>
      violations.some((each) => each.key === undefined && equalPaths(each.path, ["decision", ...path]));
    this.#report(
      source,
      ofExpressions.filter((each) => !isViolation(each)),
      ["decision"],
    );
    if (violations.length > 0 || declared === null) return;

    this.#readGuardrails(source, declared.guardrails ?? []);
    this.#readEndpoints(source, declared.endpoints ?? {});
    if (declared.targets)
      addTargets((this.#targets ??= new Map<string, DeclaredTarget>()), source, declared.targets);
    this.#masks.push(...(declared.masks ?? []));
    for (const [index, observer] of (declared.observers ?? []).entries())
      this.#observers.push({ observer, ...source.locate(["observers", index]) });
    this.#testDiagnostics.push(
      ...ofTests.map((finding) => locateFinding(finding, source, { file: this.#file })),
    );
    if (ofTests.length === 0) this.#tests.push(...locateTests(source, document));
    if (decision) this.#readDecision(source, decision);
  }

  #readGuardrails(source: SourceDocument, guardrails: readonly Guardrail[]): void {
    for (const [index, guardrail] of guardrails.entries()) {
      const path = ["guardrails", index];
      this.#report(source, checkGuardrail(guardrail, path));
      this.#guardrails.push({ guardrail, ...source.locate(path) });
    }
  }

  #readEndpoints(source: SourceDocument, endpoints: Endpoints): void {
    this.#report(source, checkEndpoints(endpoints));
    for (const [name, endpoint] of Object.entries(endpoints)) {
      this.#endpoints.push({ name, endpoint, ...source.locateKey(["endpoints"], name) });
    }
  }

  #readDecision(source: SourceDocument, definition: Definition): void {
    this.#report(source, checkDefinition(definition), ["decision"]);
    const summary = summarizeDefinition(definition, source);
    this.located.push({ file: this.#file, summary, definition, source });
  }

  #report(source: SourceDocument, findings: readonly Finding[], within: Path = []): void {
    const place = { file: this.#file, within };
    this.diagnostics.push(...findings.map((finding) => locateFinding(finding, source, place)));
  }

  finish(): DefinitionFile {
    const definitions = this.located.map(({ summary }) => summary);
    const declared = {
      ...(this.#targets && { targets: [...this.#targets.values()] }),
      ...(this.#guardrails.length > 0 && { guardrails: this.#guardrails }),
      ...(this.#endpoints.length > 0 && { endpoints: this.#endpoints }),
      ...(this.#masks.length > 0 && { masks: this.#masks }),
      ...(this.#observers.length > 0 && { observers: this.#observers }),
      ...(this.#tests.length > 0 && { tests: this.#tests.length }),
      ...(this.#testDiagnostics.length > 0 && {
        testDiagnostics: limitDiagnostics(sortDiagnostics(this.#testDiagnostics)),
      }),
    };
    return {
      summary: { file: this.#file, definitions, ...declared, diagnostics: [], claimedIds: [] },
      body: { definitions: this.located.map(({ definition }) => definition), tests: this.#tests },
    };
  }
}

const equalPaths = (a: Path, b: Path): boolean =>
  a.length === b.length && a.every((step, index) => step === b[index]);

const isAboutTests = ({ path }: Finding): boolean => path[0] === "tests";

function checkSchema(value: unknown): readonly Finding[] {
  if (validateSchema(value)) return [];
  const findings = explainDefinitionErrors(validateSchema.errors ?? [], value);
  const corrected = withCorrectedType(value);
  if (corrected === undefined || validateSchema(corrected)) return findings;
  return [...findings, ...explainDefinitionErrors(validateSchema.errors ?? [], corrected)];
}

interface RawDocument {
  readonly decision?: Definition;
  readonly targets?: readonly TargetEntry[];
  readonly guardrails?: readonly Guardrail[];
  readonly endpoints?: Endpoints;
  readonly masks?: readonly string[];
  readonly observers?: readonly Observer[];
  readonly tests?: readonly DefinitionTest[];
}

/** Returns the text of a file, or why it is none that is read. */
export function decodeDefinitions(content: Uint8Array): string | Error {
  if (content.byteLength > maxFileBytes) return new Error(tooLargeMessage);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return new Error("the file is not UTF-8 text");
  }
  return text.includes("\0") ? new Error("the file contains NUL bytes, so it is not text") : text;
}

/** Decodes as much of a file that is not UTF-8 as is needed to find the ids it declares. */
function decodeLeniently(content: Uint8Array): string {
  // In UTF-16 text, every other byte is NUL.
  return new TextDecoder().decode(content).replaceAll(/\0|^\ufffd+/g, "");
}

/** Returns the part of a definition that is known without loading it. */
export function summarizeDefinition(definition: Definition, source: SourceDocument): DefinitionSummary {
  const fetches = referencedEndpoints(definition, source);
  return {
    id: definition.id,
    definition_hash: definitionHash(definition),
    position: source.locateKey([], "decision"),
    reached: reachedTargets(definition, source),
    ...(fetches.length > 0 && { fetches }),
    ...lookupKeys(definition, (path) => source.locate(path)),
  };
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

/** Checks a definition that fits the schema; paths are relative to the definition. */
export function checkDefinition(definition: Definition): readonly Finding[] {
  return [
    ...checkByType(definition),
    ...checkOutputs(definition),
    ...checkOwnGuardrails(definition),
    ...checkFetches(definition),
  ];
}

function checkByType(definition: Definition): readonly Finding[] {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
      return checkLabels(definition);
    case "rule_table":
      return [...checkLabels(definition), ...checkColumns(definition)];
    case "scored":
      return checkScored(definition);
    case "policy":
      return checkPolicies(definition);
    case "gate":
      return checkGate(definition);
  }
}
