import { describe, expect, it } from "vitest";
import { run } from "./command.js";

describe("the tests of the samples", () => {
  it("pass, cover every branch and condition, and notice nearly every change", async () => {
    const bounds = ["--coverage", "--threshold", "100", "--mutate", "--min-score", "90"];
    const words = ["decision", "test", "decisions", ...bounds, "--json"];
    const { exitCode, stdout, stderr } = await run(words);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      failed: 0,
      coverage: { branches: { percent: 100 }, conditions: { percent: 100 } },
    });
    expect(exitCode).toBe(0);
  });
});
