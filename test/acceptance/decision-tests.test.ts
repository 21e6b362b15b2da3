import { describe, expect, it } from "vitest";
import { run } from "./command.js";

describe("the tests of the samples", () => {
  it("pass, cover every branch and condition, and notice nearly every change", async () => {
    const bounds = ["--coverage", "--threshold", "100", "--mutate", "--min-score", "90"];
    const words = ["decision", "test", "decisions", ...bounds, "--json"];
    const { exitCode, stdout, stderr } = await run(words);
    expect(stderr).toBe("");
    const report = JSON.parse(stdout) as { mutation: { survivors: { example_input: unknown }[] } };
    expect(report.mutation.survivors.filter(({ example_input }) => example_input === null)).toEqual([]);
    expect(report).toMatchObject({
      failed: 0,
      coverage: { branches: { percent: 100 }, conditions: { percent: 100 } },
    });
    expect(exitCode).toBe(0);
  });
});
