import type { LocatedTest } from "../definition/definition-file.js";
import type { Finding } from "../definition/diagnostics.js";
import { checkExpectedValue, expectationOf } from "../definition/expectations.js";
import { textsAt } from "../definition/expressions.js";
import type { Path } from "../definition/yaml-source.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { DecisionError } from "../errors.js";
import type { DocumentLocation, DocumentTemplate } from "../expression/document-template.js";
import { compileDocument, DocumentFailure } from "../expression/document-template.js";
import { isObject } from "../expression/equal.js";
import { parseInstant } from "../expression/instant.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** A test with the values of one row filled in: one decision with one expectation. */
export interface TestCase {
  readonly name: string;
  readonly decision: string;
  readonly file: string;
  /** The line of the row, or of the test if it has no rows. */
  readonly line: number;
  /** The test in its file. */
  readonly place: TestPlace;
  readonly context: JsonObject;
  readonly expect: JsonObject;
  readonly facts: TestFacts;
  /** Absent: the time of the run. */
  readonly now?: string;
  readonly strict: boolean;
  readonly workflow_id?: string;
  readonly session_id?: string;
}

/** The place of a test: the number of the document in the file, and that of the test in the document. */
export interface TestPlace {
  readonly document: number;
  readonly index: number;
}

/** What a decision would read from the store or fetch. */
export interface TestFacts {
  readonly session?: { readonly results?: readonly (string | SessionCall)[]; readonly state?: Json };
  readonly counts?: Readonly<Record<string, number>>;
  readonly sums?: Readonly<Record<string, number>>;
  readonly fetched?: JsonObject;
  readonly caller?: JsonObject;
  readonly distribution?: { readonly sample: number; readonly p_value?: number; readonly e_value?: number };
  readonly votes?: Readonly<
    Record<string, { readonly decision: string; readonly weight?: number; readonly reason?: string } | null>
  >;
}

/** An earlier call of a session. */
export interface SessionCall {
  readonly tool: string;
  readonly ok?: boolean;
  readonly params?: JsonObject;
}

/** A finding about one of the tests of a file. */
export interface TestFinding extends Finding {
  /** The number of the document in the file. */
  readonly document: number;
}

/** The tests of one file. */
export interface TestFile {
  readonly file: string;
  readonly tests: readonly LocatedTest[];
}

/** Reads a JSON file that a test names, relative to the file of the test; throws if that is impossible. */
export type ReadTestData = (testFile: string, path: string) => unknown;

export interface ExpandedTests {
  readonly cases: readonly TestCase[];
  readonly findings: readonly TestFinding[];
}

/** Makes the cases of all tests of a file. */
export function expandTests({ file, tests }: TestFile, readData: ReadTestData): ExpandedTests {
  const findings: TestFinding[] = [];
  const names = new Set<string>();
  const cases = tests.flatMap((located, number) => {
    const { test, document, index } = located;
    const report = (path: Path, message: string, more: Partial<Finding> = {}): void => {
      findings.push({ document, path: ["tests", index, ...path], message, ...more });
    };
    if (test.name !== undefined && names.has(test.name)) {
      report(["name"], `the name \`${test.name}\` is used twice in this file`);
    }
    names.add(test.name ?? "");
    return expandTest(located, { file, place: { document, index }, number, report, readData });
  });
  return { cases, findings };
}

type Report = (path: Path, message: string, more?: Partial<Finding>) => void;

interface Expansion {
  readonly file: string;
  readonly place: TestPlace;
  /** The number of the test in the file. */
  readonly number: number;
  readonly report: Report;
  readonly readData: ReadTestData;
}

function expandTest(located: LocatedTest, expansion: Expansion): readonly TestCase[] {
  const { each, ...rest } = located.test;
  const written = rest as unknown as JsonObject;
  if (each === undefined) {
    warnAboutTemplate(written, expansion.report);
    const found = toCase(written, { at: [], line: located.line }, expansion);
    return found === undefined ? [] : [found];
  }
  const template = compileTest(written, expansion.report);
  if (template === undefined) return [];
  const cases = each.flatMap((row, index) => {
    const at = ["each", index];
    const filled = template.fill(rowScope(row));
    if (filled instanceof DocumentFailure) {
      expansion.report(at, `row ${index + 1} has no value for ${placeOf(filled.pointer)}: ${filled.message}`);
      return [];
    }
    const line = located.rows?.[index] ?? located.line;
    return toCase(filled as JsonObject, { at, line }, expansion) ?? [];
  });
  return withDistinctNames(cases);
}

/** A text that is only a template with a field. */
const templatePattern = /^\s*(\{\{\s*([A-Za-z_]\w*)[^{}]*\}\})\s*$/;

/** Warns about the first text that rows would fill in. It may be meant as it is: decisions can be about such text. */
function warnAboutTemplate(written: JsonObject, report: Report): void {
  for (const { path, text } of textsAt(written, ["**"])) {
    const [, template, field] = templatePattern.exec(text) ?? [];
    if (template === undefined) continue;
    report(path, `no \`each\`, so \`${template}\` is left as text`, {
      severity: "warning",
      hint: `write the value, or add rows with it: \`each: [{ ${field}: … }]\``,
    });
    return;
  }
}

function compileTest(written: JsonObject, report: Report): DocumentTemplate | undefined {
  try {
    return compileDocument(written);
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    const { pointer, at } = error.details as DocumentLocation;
    report(pathOf(pointer), error.message, { offset: at, hint: error.hint });
    return undefined;
  }
}

/** A row is a context of its own: its keys are names in the templates, even those that expressions reserve. */
const rowScope = (row: JsonObject): Scope => ({
  context: row,
  input: row["input"],
  facts: isObject(row["facts"]) ? row["facts"] : {},
  system: isObject(row["system"]) ? row["system"] : {},
});

const pathOf = (pointer: string): Path =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));

const placeOf = (pointer: string): string => `\`${pathOf(pointer).join(".")}\``;

/** Adds the number of the row to names that several rows share. */
function withDistinctNames(cases: readonly TestCase[]): readonly TestCase[] {
  if (cases.length < 2 || new Set(cases.map(({ name }) => name)).size === cases.length) return cases;
  return cases.map((each, index) => ({ ...each, name: `${each.name} (row ${index + 1})` }));
}

/** A name that is a number of the row is shown as it is written there. */
const nameOf = (name: Json | undefined): string | undefined =>
  name === undefined || typeof name === "string" ? name : JSON.stringify(name);

interface CasePlace {
  /** The path of the row, to report what a row makes wrong. */
  readonly at: Path;
  readonly line: number;
}

/** Makes a case, or reports why that is impossible. */
function toCase(
  filled: JsonObject,
  { at, line }: CasePlace,
  { file, place, number, report: reportAt, readData }: Expansion,
): TestCase | undefined {
  const reported: string[] = [];
  const report: Report = (path, message, more) => {
    reported.push(message);
    // Of a row, the row is shown: the rest of the test is right for other rows.
    if (at.length === 0) reportAt(path, message, more);
    else reportAt(at, `${message} (with this row)`);
  };
  const { name, decision, expect, facts = {}, now, strict = false, workflow_id, session_id } = filled;
  if (typeof decision !== "string") report(["decision"], "`decision` must be text");
  if (typeof strict !== "boolean") report(["strict"], "`strict` must be true or false");
  if (now !== undefined && (typeof now !== "string" || parseInstant(now) === undefined)) {
    report(["now"], "`now` must be a time, such as 2026-11-15T10:30:00Z");
  }
  for (const [key, value] of Object.entries({ workflow_id, session_id })) {
    const isText = value === undefined || typeof value === "string";
    if (!isText && !(key === "session_id" && value === null)) report([key], `\`${key}\` must be text`);
  }
  const expectations = toExpectations(expect ?? null, report);
  const read = (value: Json | undefined, path: Path): Json | undefined => {
    if (typeof value !== "string" || !value.startsWith("@")) return value;
    try {
      return readData(file, value.slice(1)) as Json;
    } catch (error) {
      if (!(error instanceof DecisionError)) throw error;
      report(path, error.message, { hint: error.hint });
      return {};
    }
  };
  const context = toContext(filled, { report, read });
  const checkedFacts = toFacts(facts, { report, read });
  if (reported.length > 0 || typeof decision !== "string") return undefined;
  return deepFreeze({
    name: nameOf(name) ?? `${decision} #${number + 1}`,
    decision,
    file,
    line,
    place,
    context,
    expect: expectations,
    facts: checkedFacts,
    ...(typeof now === "string" && { now }),
    strict: strict === true,
    ...(typeof workflow_id === "string" && { workflow_id }),
    ...(session_id !== null && { session_id: typeof session_id === "string" ? session_id : "test" }),
  });
}

function toExpectations(expect: Json, report: Report): JsonObject {
  if (!isObject(expect)) {
    report(["expect"], "`expect` must be a map");
    return {};
  }
  for (const [key, value] of Object.entries(expect)) {
    const expectation = expectationOf(key);
    const message = expectation === undefined ? "is unknown" : checkExpectedValue(expectation.kind, value);
    if (message !== undefined) report(["expect", key], `\`${key}\` ${message}`);
  }
  return expect;
}

interface Reading {
  readonly report: Report;
  /** Replaces `@file` by what the file contains. */
  readonly read: (value: Json | undefined, path: Path) => Json | undefined;
}

function toContext({ input, tool, params }: JsonObject, { report, read }: Reading): JsonObject {
  const value = read(input, ["input"]) ?? {};
  if (!isObject(value)) {
    report(["input"], "`input` must be a map, or `@file` with a JSON object");
    return {};
  }
  const readParams = read(params, ["params"]);
  const call = {
    ...(tool !== undefined && { tool }),
    ...(readParams !== undefined && { params: readParams }),
  };
  for (const key of Object.keys(call)) {
    if (Object.hasOwn(value, key)) report([key], `\`${key}\` is given twice: here and in \`input\``);
  }
  return { ...value, ...call };
}

function toFacts(facts: Json, { report, read }: Reading): TestFacts {
  if (!isObject(facts)) {
    report(["facts"], "`facts` must be a map");
    return {};
  }
  for (const key of ["counts", "sums"]) {
    for (const [name, value] of Object.entries(facts[key] ?? {})) {
      const isCount = typeof value === "number" && value >= 0 && (key === "sums" || Number.isInteger(value));
      const what = key === "sums" ? "a number of at least 0" : "a whole number of at least 0";
      if (!isCount) report(["facts", key, name], `\`${name}\` must be ${what}`);
    }
  }
  const { results = [] } = (facts["session"] ?? {}) as NonNullable<TestFacts["session"]>;
  for (const [index, call] of results.entries()) {
    const { ok, params } = typeof call === "string" ? {} : call;
    const isValid =
      (ok === undefined || typeof ok === "boolean") && (params === undefined || isObject(params));
    if (!isValid) {
      report(["facts", "session", "results", index], "`ok` must be true or false, and `params` a map");
    }
  }
  const fetched = Object.entries(facts["fetched"] ?? {}).map(([name, value]): [string, Json] => [
    name,
    read(value as Json, ["facts", "fetched", name]) ?? null,
  ]);
  if (facts["caller"] !== undefined && !isObject(facts["caller"])) {
    report(["facts", "caller"], "`caller` must be a map");
  }
  return {
    ...facts,
    ...(fetched.length > 0 && { fetched: Object.fromEntries(fetched) }),
  };
}
