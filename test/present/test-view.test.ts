import { describe, expect, it } from "vitest";
import { testChangesView, testView } from "../../src/present/test-view.js";
import type { CaseReport, TestReport } from "../../src/testing/run-tests.js";

const style = { columns: 80, paint: (_: string, text: string): string => text };

/** A report of tests, each with the target that it got instead of the expected one; null: it passed. */
function reportOf(
  targets: Readonly<Record<string, string | null>>,
  more: Partial<TestReport> = {},
): TestReport {
  const cases = Object.entries(targets).map(([name, got], index): CaseReport => ({
    name,
    decision: "d",
    file: "d.test.yaml",
    line: index + 2,
    passed: got === null,
    expected: { target: "x" },
    actual: { target: got ?? "x" },
    input: {},
    mismatches: got === null ? [] : [{ field: "target", expected: "x", actual: got }],
  }));
  const failed = cases.filter(({ passed }) => !passed).length;
  return { passed: cases.length - failed, failed, cases, ...more };
}

const coverage = (covered: number): Partial<TestReport> => {
  const ratio = { covered, total: 2, percent: covered * 50 };
  return {
    coverage: {
      branches: ratio,
      conditions: ratio,
      decisions: { d: { branches: ratio, conditions: ratio, missed: [] } },
    },
  };
};

describe("the mutation score", () => {
  it.each([
    { equivalent: 0, shown: "mutation score 50 %  1 of 2 mutations noticed" },
    { equivalent: 1, shown: "mutation score 50 %  1 of 2 mutations noticed, 1 changes nothing" },
    { equivalent: 2, shown: "mutation score 50 %  1 of 2 mutations noticed, 2 change nothing" },
  ])("counts changes without an effect: $equivalent", async ({ equivalent, shown }) => {
    const mutation = { killed: 1, total: 2, equivalent, score: 50, survivors: [] };
    const text = await testView(reportOf({ a: null }, { mutation })).table(style);
    expect(text.split("\n").at(-1)).toBe(shown);
  });
});

describe("the changes of a report", () => {
  it.each<{
    name: string;
    before: TestReport;
    after: TestReport;
    shown: readonly RegExp[];
    hidden?: readonly RegExp[];
  }>([
    {
      name: "are the tests that fail now",
      before: reportOf({ a: null, b: "y" }),
      after: reportOf({ a: "y", b: "y" }),
      shown: [/^✗ a\n {2}at {9}d\.test\.yaml:2\n/m, /^✗ 2 of 2 tests failed/m],
      hidden: [/✗ b/],
    },
    {
      name: "are the tests that pass now",
      before: reportOf({ a: "y", b: null }),
      after: reportOf({ a: null, b: null }),
      shown: [/^✓ a {2}d\.test\.yaml:2$/m, /^✓ 2 tests passed/m],
      hidden: [/✓ b/],
    },
    {
      name: "are the tests that fail in another way",
      before: reportOf({ a: "y" }),
      after: reportOf({ a: "z" }),
      shown: [/^✗ a$/m, /got {6}z/],
    },
    {
      name: "are new tests that fail",
      before: reportOf({ a: null }),
      after: reportOf({ a: null, b: "y", c: null }),
      shown: [/^✗ b$/m, /^✗ 1 of 3 tests failed {2}2 passed/m],
      hidden: [/✓ c/],
    },
    {
      name: "are not the tests that moved or were removed",
      before: reportOf({ a: null, b: "y" }),
      after: reportOf({ b: "y" }),
      shown: [/^✗ 1 of 1 test failed {2}0 passed, 1 decision\n?$/],
    },
    {
      name: "are the coverage, if it is another one",
      before: reportOf({ a: null }, coverage(1)),
      after: reportOf({ a: null }, coverage(2)),
      shown: [/^d {9}100 % {2}2 of 2/m],
    },
    {
      name: "are not the same coverage",
      before: reportOf({ a: null }, coverage(1)),
      after: reportOf({ a: null }, coverage(1)),
      shown: [/^✓ 1 test passed {2}1 decision$/],
    },
  ])("$name", async ({ before, after, shown, hidden = [] }) => {
    const text = await testChangesView(after, before).table(style);
    for (const pattern of shown) expect(text).toMatch(pattern);
    for (const pattern of hidden) expect(text).not.toMatch(pattern);
  });
});
