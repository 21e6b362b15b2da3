import { expect, it } from "vitest";
import { runInProcess as run } from "./in-process.js";

it("completion offers commands, flags, formats and decision ids", async () => {
  const complete = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await run(["__complete", "--", ...words])).stdout.trimEnd().split("\n");
  expect(await complete("dec")).toEqual(["decision"]);
  expect(await complete("decision", "e")).toEqual(["evaluate", "explain", "export", "endpoints"]);
  expect(await complete("decision", "evaluate", "decision-q")).toEqual(["decision-quality-gate"]);
  expect(await complete("decision", "evaluate", "--str")).toEqual(["--strict"]);
  expect(await complete("decision", "evaluate", "x", "--format", "t")).toEqual(["table", "target"]);
  expect(await complete("decision", "evaluate", "x", "--format", "o")).toEqual(["output"]);
  expect(await complete("decision", "new", "w")).toEqual(["weighted"]);
  expect(await complete("decision", "log", "--decision-id", "decision-q")).toEqual(["decision-quality-gate"]);
  expect(await complete("decision", "log", "--kind", "n")).toEqual(["note"]);
  expect(await complete("decision", "explain", "l")).toEqual(["latest"]);
  expect(await complete("decision", "config", "set", "durability", "f")).toEqual(["full", "fast"]);
  expect([...(await complete("help", "ex"))].sort()).toEqual(["exit-codes", "experiments", "expressions"]);
  expect(await complete("completion", "f")).toEqual(["fish"]);
});
