import { describe, expect, it } from "vitest";
import { run } from "./command.js";

describe("the tests of the samples", () => {
  it("pass, and cover every branch and every condition", async () => {
    const words = ["decision", "test", "decisions", "--coverage", "--threshold", "100", "--json"];
    const { exitCode, stdout, stderr } = await run(words);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      failed: 0,
      coverage: { branches: { percent: 100 }, conditions: { percent: 100 } },
    });
    expect(exitCode).toBe(0);
  });
});
