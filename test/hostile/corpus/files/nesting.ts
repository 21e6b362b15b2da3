import type { HostileFile, HostileFiles } from "./parts.js";
import { after, lines, sound, testOf } from "./parts.js";

const openers: readonly (readonly [string, string])[] = [
  ["[", "open lists"],
  ["{a: ", "open maps"],
  ["[{a: ", "lists and maps in turn"],
  ["[a: ", "lists of pairs"],
  ["- ", "lists in a line"],
  ["? ", "keys of keys in a line"],
  ["- ? ", "lists and keys in turn"],
  ["- a: ", "lists and maps in a line"],
  ["a: ", "maps in a line"],
  [": ", "values of nothing"],
  ["&a [", "anchored lists"],
  ["!!seq [", "tagged lists"],
  ["- !!seq ", "tagged lists in a line"],
  ["? [", "lists as keys"],
  ["{? ", "open maps as keys"],
];

/** What makes a reader who counts brackets lose count. */
const distractions: readonly (readonly [string, string])[] = [
  ["- [\n", "a list that ends by indentation"],
  ["a: {\n", "a map that ends by indentation"],
  ["- [\n- {\n", "two that end by indentation"],
  ["[\n---\n", "a list that ends with its document"],
  ["{\n...\n---\n", "a map that ends with its document"],
  ["]\n", "a bracket that closes nothing"],
  ["a: ]\n", "a value that closes nothing"],
  ['"[', "a quote never closed"],
];

const staircase = (step: string, levels: number): string =>
  lines(levels, (level) => `${" ".repeat(level)}${step}\n`);

export const nesting: HostileFiles = {
  title: "that is nested",
  spawned: true,
  files: [
    ...openers.map(([opener, name]): HostileFile => ({
      name: `100,000 ${name}`,
      content: () => after(opener.repeat(100_000)),
      is: "broken",
    })),
    ...distractions.map(([distraction, name]): HostileFile => ({
      name: `${name}, then 100,000 lists in a line`,
      content: () => after(distraction + "- ".repeat(100_000)),
      is: "broken",
    })),
    {
      name: "a list that ends by indentation, then 50,000 keys of keys",
      content: () => after(`- [\n${"? ".repeat(50_000)}`),
      is: "broken",
    },
    {
      name: "a map that ends by indentation, then 50,000 maps in a line",
      content: () => after(`a: {\n${"a: ".repeat(50_000)}`),
      is: "broken",
    },
    {
      name: "a map that ends with its document, then 1,000 maps in maps",
      content: () => after(`{\n---\n${staircase("b:", 1_000)}`),
      is: "broken",
    },
    {
      name: "100,000 lists that are closed again",
      content: () => after("[".repeat(100_000) + "]".repeat(100_000)),
      is: "broken",
    },
    { name: "1,000 maps in maps", content: () => after(staircase("a:", 1_000)), is: "broken" },
    { name: "1,000 lists in lists", content: () => after(staircase("-", 1_000)), is: "broken" },
    { name: "1,000 keys in keys", content: () => after(staircase("?", 1_000)), is: "broken" },
    { name: "2,000 steps of comments", content: () => `${sound}${staircase("#", 2_000)}`, is: "sound" },
    {
      name: "1,000 steps in a text",
      content: () => `${sound}  description: |\n${lines(1_000, (level) => `${" ".repeat(level + 4)}-\n`)}`,
      is: "sound",
    },
    {
      name: "JSON, 10,000 maps deep",
      file: "x.json",
      content: () => `{"decision": {"id": "x", "type": ${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}}}`,
      is: "broken",
    },
    {
      name: "50 lists where any value is allowed",
      content: () => `${sound}${testOf("[".repeat(50) + "]".repeat(50))}`,
      is: "sound",
    },
  ],
};
