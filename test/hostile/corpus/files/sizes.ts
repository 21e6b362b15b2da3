import type { HostileFiles } from "./parts.js";
import { after, cases, header, lines, otherwise, sound } from "./parts.js";

export const sizes: HostileFiles = {
  title: "of a size",
  spawned: true,
  files: [
    { name: "nothing", content: () => "", is: "void" },
    { name: "a line break", content: () => "\n", is: "void" },
    { name: "comments only", content: () => "# nothing\n# here\n", is: "void" },
    { name: "1 MB of blanks", content: () => " ".repeat(1_000_000), is: "void" },
    { name: "a comment of 1 MB", content: () => `# ${"a".repeat(1_000_000)}\n${sound}`, is: "sound" },
    {
      name: "a description of 1 MB in one line",
      content: () => `${sound}  description: ${"a".repeat(1_000_000)}\n`,
      is: "sound",
    },
    {
      name: "a quoted description of 1 MB in one line",
      content: () => `${sound}  description: "${"\\\\".repeat(500_000)}"\n`,
      is: "sound",
    },
    {
      name: "a quote never closed, 1 MB",
      content: () => `${sound}  description: "${'\\"'.repeat(500_000)}a`,
      is: "broken",
    },
    {
      name: "a text of 300,000 lines",
      content: () => `${sound}  description: >\n${"    a\n".repeat(300_000)}`,
      is: "sound",
    },
    {
      name: "a value of 1 MB",
      content: () => sound.replace("switch", "a".repeat(1_000_000)),
      is: "broken",
      at: "3:9",
    },
    {
      name: "an id of 1 MB",
      content: () => after(sound.replace("id: x", `id: ${"y".repeat(1_000_000)}`)),
      is: "broken",
    },
    {
      name: "1 MB of blanks in the middle of a line, and an error",
      content: () => `${header}${cases}${otherwise}tests: ${" ".repeat(1_000_000)}[]]\n`,
      is: "broken",
    },
    { name: "5 MB", content: () => `${sound}# ${"a".repeat(5_000_000)}\n`, is: "broken", at: "1:1" },
    {
      name: "one byte more than 4 MiB",
      content: () => `${sound}#`.padEnd(4 * 1024 * 1024 + 1, "a"),
      is: "broken",
      at: "1:1",
    },
    { name: "4 MiB to the byte", content: () => `${sound}#`.padEnd(4 * 1024 * 1024, "a"), is: "sound" },
    {
      name: "100,000 blanks at the start of a line, and an error",
      content: () => `${sound}]\n${" ".repeat(100_000)}x\n`,
      is: "broken",
    },
    {
      name: "100,000 tabs at the start of a line, and an error",
      content: () => `${sound}]\n${"\t".repeat(100_000)}x\n`,
      is: "broken",
    },
    {
      name: "100,000 open braces at the start of a line",
      content: () => `${sound}]\n${"{".repeat(100_000)}\n`,
      is: "broken",
    },
    { name: "300,000 brackets that close nothing", content: () => after("]".repeat(300_000)), is: "broken" },
    {
      name: "300,000 braces that close nothing, a line each",
      content: () => after("}\n".repeat(300_000)),
      is: "broken",
    },
    { name: "500,000 commas", content: () => after(`[${",".repeat(500_000)}]`), is: "broken" },
    { name: "300,000 quotes", content: () => after('"'.repeat(300_001)), is: "broken" },
    {
      name: "500,000 question marks in a list",
      content: () => after(`[${"? ".repeat(500_000)}]`),
      is: "broken",
    },
    { name: "500,000 colons in a map", content: () => after(`{${": ".repeat(500_000)}}`), is: "broken" },
    { name: "1,000,000 comments", content: () => sound + "#\n".repeat(1_000_000), is: "sound or broken" },
    { name: "2,000,000 line breaks", content: () => sound + "\n".repeat(2_000_000), is: "sound or broken" },
    {
      name: "10,000 documents",
      content: () => sound + "---\ntargets: [t, d]\n".repeat(10_000),
      is: "sound or broken",
    },
    {
      name: "900 documents, each with a decision",
      content: () =>
        lines(900, (index) => `---\n${sound.replace("id: x", index === 0 ? "id: x" : `id: x${index}`)}`),
      is: "sound",
    },
    {
      name: "900 documents that define the same",
      content: () => lines(900, () => `---\n${sound}`),
      is: "broken",
    },
    {
      name: "500,000 documents with nothing in them",
      content: () => after("---\n".repeat(500_000)),
      is: "broken",
    },
    {
      name: "500,000 ends of documents",
      content: () => sound + "...\n".repeat(500_000),
      is: "sound or broken",
    },
    {
      name: "130,000 tests",
      content: () => `${sound}tests:\n${"- {decision: x,expect: {a: 1}}\n".repeat(130_000)}`,
      is: "sound or broken",
    },
    {
      name: "500,000 targets in one line",
      content: () => `${sound}targets: [${"t,".repeat(500_000)}d]\n`,
      is: "sound or broken",
    },
    {
      name: "100,000 cases that are empty",
      content: () => sound.replace(cases, `  cases:\n${"    - {}\n".repeat(100_000)}`),
      is: "broken",
    },
  ],
};
