import type { CaseReport, TestReport } from "../testing/run-tests.js";

/** Writes a report as JUnit XML: a suite for each file. */
export function junitReport({ cases, failed }: TestReport): string {
  const files = [...new Set(cases.map(({ file }) => file))];
  const suites = files.map((file) =>
    suiteOf(
      file,
      cases.filter((each) => each.file === file),
    ),
  );
  const counts = { name: "agent-33", tests: cases.length, failures: failed, errors: 0, skipped: 0, time: 0 };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", counts, suites, "")}`;
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
    (each) => `${each.field}: expected ${JSON.stringify(each.expected)}, got ${JSON.stringify(each.actual)}`,
  );
  const details = [`${file}:${line}`, ...differences, `actual: ${JSON.stringify(actual)}`].join("\n");
  const message = escapeXml(differences.join("; "));
  const failure = `      <failure message="${message}" type="mismatch">${escapeXml(details)}</failure>\n`;
  return element("testcase", attributes, [failure], "    ");
}

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
