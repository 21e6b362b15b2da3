import type { Diagnostic } from "../model/diagnostic.js";
import type { Json } from "../model/json.js";
import type { Ratio } from "../testing/coverage.js";
import type { CaseDocument, CaseReport, LocatedMissed, TestReport } from "../testing/run-tests.js";
import { githubAnnotations } from "./diagnostics-view.js";
import type { Style, View } from "./format.js";
import { fieldLine, hangingText, headline } from "./format.js";
import { truncateWords } from "./text-width.js";
import { plural } from "./text.js";
import { oneLine } from "../text.js";

export function testView(report: TestReport): View {
  const document = toDocument(report);
  return {
    value: document,
    items: document.cases,
    plain: () => report.cases.map(plainCase).join("\n"),
    table: async (style) =>
      [
        verdict(report, style),
        ...failures(report, style),
        ...(await coverageLines(report, style)),
        ...mutationLines(report, style),
      ].join("\n"),
  };
}

/**
 * Shows what differs from an earlier report: tests that fail now, or in another way, tests that pass now, and the coverage
 * if it changed. Without an earlier report, shows everything.
 */
export function testChangesView(report: TestReport, earlier: TestReport | undefined): View {
  const view = testView(report);
  if (earlier === undefined) return view;
  const before = new Map(earlier.cases.map((test) => [caseKey(test), mismatchKey(test)]));
  const changed = report.cases.filter((test) => {
    const key = before.get(caseKey(test));
    return test.passed ? key !== undefined && key !== noMismatch : key !== mismatchKey(test);
  });
  const coverage = JSON.stringify(report.coverage) === JSON.stringify(earlier.coverage);
  return {
    ...view,
    plain: () => changed.map(plainCase).join("\n"),
    table: async (style) =>
      [
        ...changed.flatMap((test) =>
          test.passed ? [nowPassing(test, style)] : [...describeFailure(test, style), ""],
        ),
        verdict(report, style),
        ...(coverage ? [] : await coverageLines(report, style)),
      ].join("\n"),
  };
}

/** Names of tests are unique in a file, but an edit can move them to other lines. */
const caseKey = ({ file, decision, name }: CaseReport): string => JSON.stringify([file, decision, name]);

const mismatchKey = ({ mismatches }: CaseReport): string => JSON.stringify(mismatches);
const noMismatch = "[]";

const nowPassing = ({ name, file, line }: CaseReport, { paint }: Style): string =>
  oneLine(`${paint("green", "✓")} ${name}  ${paint("dim", `${file}:${line}`)}`);

/** Leaves out what only texts need. */
const toDocument = ({ cases, ...report }: TestReport): { readonly cases: readonly CaseDocument[] } => ({
  ...report,
  cases: cases.map(({ name, decision, file, line, passed, expected, actual }) => ({
    name,
    decision,
    file,
    line,
    passed,
    expected,
    actual,
  })),
});

/** What is measured of tests, and can have a lower bound. */
export type Measure = "branches" | "conditions" | "mutations";

/** A bound that a run did not reach. */
export interface MissedBound {
  readonly measure: Measure;
  /** In percent. */
  readonly bound: number;
  readonly message: string;
}

/** Annotates the lines of failed tests and of what no test reaches in a pull request: errors where that is too much. */
export function testAnnotations(report: TestReport, tooLow: readonly MissedBound[], cwd: string): string {
  const { coverage, mutation } = report;
  const severity = (measure: Measure): Diagnostic["severity"] =>
    tooLow.some((each) => each.measure === measure) ? "error" : "note";
  const missed = Object.values(coverage?.decisions ?? {}).flatMap((each) => each.missed);
  const annotated: readonly Diagnostic[] = [
    ...failedCases(report).map(toDiagnostic),
    ...missed.map((each): Diagnostic => ({
      file: each.file,
      line: each.line,
      column: 1,
      severity: severity(each.kind === "branch" ? "branches" : "conditions"),
      message: `${neverText(each)}: ${whatWasMissed(each)}`,
    })),
    ...(mutation?.survivors ?? []).map(
      ({ file, line, mutation: text, example_input: input }): Diagnostic => ({
        file,
        line,
        column: 1,
        severity: severity("mutations"),
        message: `no test notices this change: ${text}`,
        ...(input !== null && { hint: `test the input ${JSON.stringify(input)}` }),
      }),
    ),
  ];
  return githubAnnotations(annotated, cwd);
}

const failedCases = ({ cases }: TestReport): readonly CaseReport[] => cases.filter(({ passed }) => !passed);

function toDiagnostic(test: CaseReport): Diagnostic {
  const { name, file, line } = test;
  const fields = mismatchesOf(test).map(
    ({ field, expected, actual }) => `${field}: expected ${expected}, got ${actual}`,
  );
  return { file, line, column: 1, severity: "error", message: `${name}: ${fields.join("; ")}` };
}

function plainCase(test: CaseReport): string {
  const { name, decision, file, line, passed } = test;
  const fields = mismatchesOf(test).map(
    ({ field, expected, actual }) => `${field}: ${expected} != ${actual}`,
  );
  const cells = [
    passed ? "passed" : "failed",
    `${file}:${line}`,
    decision,
    name,
    ...(passed ? [] : [fields.join("; ")]),
  ];
  return cells.map(oneLine).join("\t");
}

function verdict({ passed, failed, cases }: TestReport, { paint }: Style): string {
  const decisions = plural(new Set(cases.map(({ decision }) => decision)).size, "decision");
  const tests = plural(cases.length, "test");
  return failed === 0
    ? `${paint("green", `✓ ${tests} passed`)}  ${decisions}`
    : `${paint("red", `✗ ${failed} of ${tests} failed`)}  ${passed} passed, ${decisions}`;
}

function failures(report: TestReport, style: Style): readonly string[] {
  return failedCases(report).flatMap((test) => ["", ...describeFailure(test, style)]);
}

function describeFailure(test: CaseReport, style: Style): readonly string[] {
  const { paint } = style;
  const { name, decision, file, line, input, actual, mismatches } = test;
  const shown = mismatches.map(({ actual: each }) => each);
  const warnings = textsOf(actual["warnings"]).filter((text) => !shown.includes(text));
  return [
    `${paint("red", "✗")} ${hangingText(paint("bold", oneLine(name)), style, { start: 2, indent: 2 })}`,
    fieldOf("at", `${file}:${line}`, style),
    fieldOf("decision", decision, style),
    fieldOf("input", truncateWords(JSON.stringify(input), style.columns - nameWidth - 3), style),
    ...mismatchesOf(test).flatMap(({ field, expected, actual: got }) => [
      fieldOf(field, `expected ${expected}`, style),
      fieldLine("", `got      ${paint("red", oneLine(got))}`, style, nameWidth),
    ]),
    ...(isUnexpectedError(test) ? [fieldLine("hint", paint("dim", errorHint), style, nameWidth)] : []),
    ...textsOf(actual["because"]).map((text) => fieldOf("because", text, style)),
    ...textsOf(actual["failed_conditions"]).map((text) => fieldOf("failed", text, style)),
    ...warnings.map((text) => fieldOf("warning", text, style)),
  ];
}

const errorHint = "add `error` to `expect` if this is what the test is about";

/** A test whose condition could not be evaluated fails, even if the answer is the expected one. */
const isUnexpectedError = ({ mismatches }: CaseReport): boolean =>
  mismatches.some(({ field, expected }) => field === "error" && expected === null);

/** A row for each decision, then what was missed. */
async function coverageLines({ coverage }: TestReport, style: Style): Promise<readonly string[]> {
  if (coverage === undefined) return [];
  const { grid } = await import("./grid.js");
  const ratioText = ({ covered, total, percent }: Ratio): string => `${percent} %  ${covered} of ${total}`;
  const rows = Object.entries(coverage.decisions).map(([id, { branches, conditions }]) => [
    id,
    ratioText(branches),
    ratioText(conditions),
  ]);
  const columns = [{ title: "decision" }, { title: "branches" }, { title: "conditions" }];
  const total = ["all", ratioText(coverage.branches), ratioText(coverage.conditions)];
  const missed = Object.values(coverage.decisions).flatMap((each) => each.missed);
  return [
    "",
    grid(columns, [...rows, ...(rows.length > 1 ? [total] : [])], style),
    ...(missed.length === 0 ? [] : ["", ...missed.map((each) => missedText(each, style))]),
  ];
}

/** The score, then what no test notices, with an input that shows the difference. */
function mutationLines({ mutation }: TestReport, style: Style): readonly string[] {
  if (mutation === undefined) return [];
  const { killed, total, equivalent, score, survivors } = mutation;
  const same = equivalent === 0 ? "" : `, ${equivalent} ${equivalent === 1 ? "changes" : "change"} nothing`;
  return [
    "",
    `${style.paint("bold", `mutation score ${score} %`)}  ${killed} of ${plural(total, "mutation")} noticed${same}`,
    ...survivors.flatMap(({ decision, mutation: text, file, line, example_input: input }) => [
      headline(style.paint("bold", oneLine(`${file}:${line}`)), oneLine(`${decision}: ${text}`), style),
      ...(input === null ? [] : [fieldOf("test", JSON.stringify(input), style)]),
    ]),
  ];
}

function missedText(missed: LocatedMissed, style: Style): string {
  const place = style.paint("bold", oneLine(`${missed.file}:${missed.line}`));
  return headline(place, oneLine(`${neverText(missed)}  ${whatWasMissed(missed)}`), style);
}

const neverText = ({ never, errored }: LocatedMissed): string =>
  `never ${never}${errored ? " (could not be evaluated)" : ""}`;

const whatWasMissed = ({ label, condition }: LocatedMissed): string =>
  condition === undefined ? label : `${label}: ${condition}`;

/** How many reasons of one kind are shown; a table of many rules has as many failed conditions. */
const maxTexts = 5;

function textsOf(value: Json | undefined): readonly string[] {
  const texts = Array.isArray(value) ? (value as readonly string[]) : [];
  if (texts.length <= maxTexts) return texts;
  return [...texts.slice(0, maxTexts), `… and ${texts.length - maxTexts} more`];
}

const nameWidth = 10;

function fieldOf(name: string, text: string, style: Style): string {
  const title = `  ${style.paint("dim", name.padEnd(nameWidth))} `;
  const start = Math.max(nameWidth, name.length) + 3;
  return title + hangingText(oneLine(text), style, { start, indent: nameWidth + 3 });
}

interface ShownMismatch {
  readonly field: string;
  readonly expected: string;
  readonly actual: string;
}

/** The expected fields that differ, and the errors that were not expected. */
const mismatchesOf = ({ mismatches }: CaseReport): readonly ShownMismatch[] =>
  mismatches.map(({ field, expected, actual }) => ({
    field,
    expected: valueText(expected, field),
    actual: valueText(actual, field),
  }));

function valueText(value: Json, field: string): string {
  if (value === null) return nullText(field);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Names the value of a field that there is none of. */
export const nullText = (field: string): string => (field === "error" ? "no error" : "none");
