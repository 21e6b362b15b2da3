import type { Json } from "../model/json.js";
import type { CaseReport, TestReport } from "../testing/run-tests.js";
import type { MissedBound } from "./test-view.js";
import { nullText } from "./test-view.js";

/** Writes a report as JUnit XML: a suite for each file, then one for each kind of bound that was not reached. */
export function junitReport({ cases, failed }: TestReport, tooLow: readonly MissedBound[] = []): string {
  const files = [...new Set(cases.map(({ file }) => file))];
  const suites = files.map((file) =>
    suiteOf(
      file,
      cases.filter((each) => each.file === file),
    ),
  );
  const kinds = [...new Set(tooLow.map(kindOf))];
  const bounds = kinds.map((kind) =>
    boundSuite(
      kind,
      tooLow.filter((each) => kindOf(each) === kind),
    ),
  );
  const tests = cases.length + tooLow.length;
  const failures = failed + tooLow.length;
  const counts = { name: "agent-33", tests, failures, errors: 0, skipped: 0, time: 0 };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", counts, [...suites, ...bounds], "")}`;
}

const kindOf = ({ measure }: MissedBound): string => (measure === "mutations" ? "mutation" : "coverage");

/** Returns a suite in which each bound is a failed test: CI servers ignore the exit code. */
function boundSuite(kind: string, tooLow: readonly MissedBound[]): string {
  const number = tooLow.length;
  const counts = { name: kind, tests: number, failures: number, errors: 0, skipped: 0, time: 0 };
  const failed = tooLow.map(({ measure, bound, message }) =>
    element(
      "testcase",
      { name: `${measure} at least ${bound} %`, classname: kind, time: 0 },
      [failureOf("bound", message, message)],
      "    ",
    ),
  );
  return element("testsuite", counts, failed, "  ");
}

function suiteOf(file: string, cases: readonly CaseReport[]): string {
  const failures = cases.filter(({ passed }) => !passed).length;
  const counts = { name: file, tests: cases.length, failures, errors: 0, skipped: 0, time: 0 };
  return element("testsuite", counts, cases.map(caseOf), "  ");
}

function caseOf({ name, decision, file, line, passed, mismatches, actual }: CaseReport): string {
  const attributes = { name, classname: decision, file, line, time: 0 };
  if (passed) return element("testcase", attributes, [], "    ");
  const differences = mismatches.map(
    ({ field, expected, actual: got }) =>
      `${field}: expected ${valueText(expected, field)}, got ${valueText(got, field)}`,
  );
  const details = [`${file}:${line}`, ...differences, `actual: ${JSON.stringify(actual)}`].join("\n");
  const failure = failureOf("mismatch", differences.join("; "), details);
  return element("testcase", attributes, [failure], "    ");
}

const valueText = (value: Json, field: string): string =>
  value === null ? nullText(field) : JSON.stringify(value);

const failureOf = (type: string, message: string, details: string): string =>
  `      <failure message="${escapeXml(message)}" type="${type}">${escapeXml(details)}</failure>\n`;

function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  children: readonly string[],
  indent: string,
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`);
  const opening = `${indent}<${name}${written.join("")}`;
  return children.length === 0 ? `${opening}/>\n` : `${opening}>\n${children.join("")}${indent}</${name}>\n`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** The characters that XML 1.0 does not have, not even as references. */
const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Escapes a text; characters that XML cannot contain are shown as in JSON. */
const escapeXml = (text: string): string =>
  text
    .replace(forbidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/[&<>"'\t\n\r]/g, (character) => entities[character] ?? character);
