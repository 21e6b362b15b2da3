import { createRequire } from "node:module";
import { parse } from "junit2json";
import type { TestSuites } from "junit2json";
import { describe, expect, it } from "vitest";
import { junitReport } from "../../src/present/junit.js";
import type { MissedBound } from "../../src/present/test-view.js";
import type { CaseReport } from "../../src/testing/run-tests.js";

// It has no types.
const { JSDOM } = createRequire(import.meta.url)("jsdom") as {
  readonly JSDOM: new (
    text: string,
    options: { readonly contentType: string },
  ) => { readonly window: { readonly document: { readonly documentElement: { readonly tagName: string } } } };
};

const test = (name: string, more: Partial<CaseReport> = {}): CaseReport => ({
  name,
  decision: "d",
  file: "d.test.yaml",
  line: 2,
  passed: true,
  expected: { target: "a" },
  actual: { target: "a" },
  input: {},
  mismatches: [],
  ...more,
});

const failing = (name: string, actual: string, more: Partial<CaseReport> = {}): CaseReport =>
  test(name, {
    passed: false,
    actual: { target: actual },
    mismatches: [{ field: "target", expected: "a", actual }],
    ...more,
  });

/** Reads a report as CI servers do. Throws if it is not well-formed: the parser of browsers knows every forbidden character. */
async function read(cases: readonly CaseReport[], tooLow?: readonly MissedBound[]): Promise<TestSuites> {
  const failed = cases.filter(({ passed }) => !passed).length;
  const xml = junitReport({ passed: cases.length - failed, failed, cases }, tooLow);
  const { document } = new JSDOM(xml, { contentType: "application/xml" }).window;
  expect(document.documentElement.tagName).toBe("testsuites");
  return (await parse(xml, {})) as TestSuites;
}

describe("a JUnit report", () => {
  it("has a suite for each file, with its tests and failures", async () => {
    const cases = [
      test("first"),
      failing("second", "b", { line: 5 }),
      test("third", { file: "e.test.yaml" }),
    ];
    expect(await read(cases)).toEqual({
      name: "agent-33",
      tests: "3",
      failures: "1",
      errors: "0",
      skipped: "0",
      time: "0",
      testsuite: [
        {
          name: "d.test.yaml",
          tests: "2",
          failures: "1",
          errors: "0",
          skipped: "0",
          time: "0",
          testcase: [
            { name: "first", classname: "d", file: "d.test.yaml", line: "2", time: "0" },
            {
              name: "second",
              classname: "d",
              file: "d.test.yaml",
              line: "5",
              time: "0",
              failure: [
                {
                  message: 'target: expected "a", got "b"',
                  type: "mismatch",
                  inner: 'd.test.yaml:5\ntarget: expected "a", got "b"\nactual: {"target":"b"}',
                },
              ],
            },
          ],
        },
        {
          name: "e.test.yaml",
          tests: "1",
          failures: "0",
          errors: "0",
          skipped: "0",
          time: "0",
          testcase: [{ name: "third", classname: "d", file: "e.test.yaml", line: "2", time: "0" }],
        },
      ],
    });
  });

  it("says which errors and values were not expected", async () => {
    const mismatches = [
      { field: "error", expected: null, actual: "`amount` is missing" },
      { field: "target", expected: "a", actual: null },
    ];
    const { testsuite: [suite] = [] } = await read([test("first", { passed: false, mismatches })]);
    expect(suite?.testcase?.[0]?.failure?.[0]?.message).toBe(
      'error: expected no error, got "`amount` is missing"; target: expected "a", got none',
    );
  });

  it("has a failed test for each bound that was not reached", async () => {
    const tooLow: readonly MissedBound[] = [
      { measure: "branches", bound: 90, message: "50 % of branches < 90 %" },
      { measure: "conditions", bound: 90, message: "75 % of conditions" },
      { measure: "mutations", bound: 80.5, message: "10 % of the mutations" },
    ];
    const { testsuite: [, ...suites] = [], ...counts } = await read([test("first")], tooLow);
    expect(counts).toMatchObject({ tests: "4", failures: "3", errors: "0" });
    expect(suites).toMatchObject([
      {
        name: "coverage",
        tests: "2",
        failures: "2",
        testcase: [
          {
            name: "branches at least 90 %",
            classname: "coverage",
            failure: [
              { type: "bound", message: "50 % of branches < 90 %", inner: "50 % of branches < 90 %" },
            ],
          },
          { name: "conditions at least 90 %", classname: "coverage" },
        ],
      },
      {
        name: "mutation",
        tests: "1",
        failures: "1",
        testcase: [{ name: "mutations at least 80.5 %", classname: "mutation" }],
      },
    ]);
  });

  it("may be empty", async () => {
    expect(await read([])).toMatchObject({ tests: "0", failures: "0" });
  });

  it.each<{ name: string; text: string; shown?: string }>([
    { name: "markup", text: `<a href="x">&amp;</a><!-- ' -->` },
    { name: "the end of a CDATA section", text: "a ]]> b <![CDATA[ c" },
    { name: "a declaration", text: '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]>&b;' },
    { name: "line breaks and tabs", text: "a\nb\r\nc\td" },
    { name: "spaces", text: "  a   b  " },
    {
      name: "control characters",
      text: "\u0000\u0007\u001b[31m\u007f",
      shown: "\\u0000\\u0007\\u001b[31m\u007f",
    },
    { name: "emoji", text: "👩‍👩‍👧 🇩🇪 \u{10ffff}" },
    { name: "bidirectional text", text: "\u202eevil\u202c \u2066x\u2069 שלום" },
    { name: "half of a pair", text: "\ud83d x \udc69", shown: "\\ud83d x \\udc69" },
    { name: "no characters", text: "\ufffe\uffff\ufdd0", shown: "\\ufffe\\uffff\ufdd0" },
    { name: "separators of lines", text: "a\u0085b\u2028c\u2029d" },
    { name: "a long text", text: "x<".repeat(50_000) },
    { name: "names of objects", text: "__proto__ constructor" },
  ])("keeps $name of names, files and answers", async ({ text, shown = text }) => {
    const { testsuite: [suite] = [] } = await read([failing(text, text, { file: text, decision: text })]);
    expect(suite?.name).toBe(shown);
    const [{ failure: [failure] = [], ...attributes } = {}] = suite?.testcase ?? [];
    expect(attributes).toMatchObject({ name: shown, classname: shown, file: shown });
    const inJson = JSON.stringify(text).replaceAll("\ufffe", "\\ufffe").replaceAll("\uffff", "\\uffff");
    expect(failure?.message).toBe(`target: expected "a", got ${inJson}`);
    expect(failure?.inner).toContain(`actual: {"target":${inJson}}`);
  });
});
