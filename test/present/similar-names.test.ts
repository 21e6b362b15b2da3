import { describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.js";
import { namesFor, withSimilarNames } from "../../src/present/similar-names.js";

describe("a warning that a value is missing", () => {
  it.each<{ name: string; path: string; context: Json; input?: Json; similar: string | undefined }>([
    { name: "a letter left out", path: "animal.age", context: { animl: { age: 1 } }, similar: "animl" },
    {
      name: "another style of writing",
      path: "artifact.quality_score",
      context: { artifact: { qualityScore: 1 } },
      similar: "artifact.qualityScore",
    },
    { name: "a shorter name", path: "a.temperature", context: { a: { temp: 40 } }, similar: "a.temp" },
    {
      name: "a longer name",
      path: "params.path",
      context: { params: { file_path: "x" } },
      similar: "params.file_path",
    },
    {
      name: "a part of the input",
      path: "input.severity",
      context: {},
      input: { severty: 1 },
      similar: "input.severty",
    },
    {
      name: "a part of the whole context",
      path: "context.size",
      context: { sizes: 1 },
      similar: "context.sizes",
    },
    {
      name: "a name within a list",
      path: "items.0.name",
      context: { items: [{ nme: 1 }] },
      similar: undefined,
    },
    { name: "another word", path: "animal.age", context: { animal: { weight: 3 } }, similar: undefined },
    { name: "several shorter names", path: "total_net", context: { total: 1, tot: 2 }, similar: undefined },
    { name: "a part of a word", path: "age", context: { message: "", manager: 1 }, similar: undefined },
    { name: "a very long name", path: "sum", context: { [`sum${"m".repeat(100)}`]: 1 }, similar: undefined },
    { name: "text instead of an object", path: "order.id", context: { order: "7" }, similar: undefined },
    { name: "no context", path: "order.id", context: null, similar: undefined },
  ])("suggests the similar name: $name", ({ path, context, input, similar }) => {
    const text = `\`r\` could not be evaluated: \`${path}\` is missing (so it denies)`;
    const suggestion = similar === undefined ? "" : `, but there is \`${similar}\``;
    expect(withSimilarNames(text, namesFor(context, input))).toBe(text.replace(" (so", `${suggestion} (so`));
  });
});
