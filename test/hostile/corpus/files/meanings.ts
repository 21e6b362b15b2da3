import type { HostileFiles } from "./parts.js";
import { lines, list, otherwise, sound, table } from "./parts.js";

const weights = (...values: readonly string[]): string =>
  `decision:\n  id: x\n  type: weighted\n  default: {target: t}\n  cases:\n${values.map((value, index) => `    - {target: t${index}, weight: ${value}}\n`).join("")}`;

export const meanings: HostileFiles = {
  title: "that means too much",
  spawned: true,
  files: [
    {
      name: "3,000 rules",
      content: () => table(3_000, (index) => `{condition: "a == ${index}", target: t, label: l${index}}`),
      is: "sound",
    },
    {
      name: "10,000 rules to one target, none with a label",
      content: () => table(10_000, (index) => `{condition: "a == ${index}", target: t}`),
      is: "sound",
    },
    {
      name: "300 rules that differ in the last of 300 conditions only",
      content: () =>
        table(
          300,
          (index) =>
            `{condition: "${list(300, (part) => `a${part}==1`).join(" and ")} and a==${index}", target: t${index}}`,
        ),
      is: "sound or broken",
    },
    {
      name: "4,000 rules to targets that are not among 4,000 declared ones",
      content: () =>
        `${table(4_000, (index) => `{condition: "a == ${index}", target: stage-${index}}`)}targets: [${list(4_000, (index) => `other-${index}`).join(", ")}]\n`,
      is: "broken",
    },
    {
      name: "900 weighted decisions on one input",
      content: () =>
        `${sound}${lines(900, (index) => `---\ndecision:\n  id: w${index}\n  type: weighted\n  input: "user.id"\n  cases: [{target: t, weight: 1}]\n${otherwise}`)}`,
      is: "sound",
    },
    {
      name: "a pointer that makes a pattern backtrack",
      content: () => `${sound}  logging: {mask: ["${"/".repeat(60)}~"]}\n`,
      is: "broken",
      at: "7:20",
    },
    {
      name: "a pointer of 100,000 steps",
      content: () => `${sound}  logging: {mask: ["${"/a".repeat(100_000)}"]}\n`,
      is: "sound",
    },
    {
      name: "a duration of 1 MB",
      content: () => `${sound}  cache: {ttl: "${"1ms".repeat(300_000)}x"}\n`,
      is: "broken",
      at: "7:16",
    },
    {
      name: "a version of 1 MB",
      content: () => `${sound}  version: "1.1.1-${"-".repeat(1_000_000)}!"\n`,
      is: "broken",
      at: "7:12",
    },
    { name: "an infinite weight", content: () => weights(".inf"), is: "broken", at: "6:28" },
    { name: "a weight that is no number", content: () => weights(".nan"), is: "broken", at: "6:28" },
    { name: "a negative weight", content: () => weights("-1"), is: "broken", at: "6:28" },
    { name: "a weight beyond all numbers", content: () => weights("1e400"), is: "broken", at: "6:28" },
    {
      name: "a weight of 100,000 digits",
      content: () => weights("9".repeat(100_000)),
      is: "broken",
      at: "6:28",
    },
    {
      name: "weights whose sum is beyond all numbers",
      content: () => weights("1e308", "1e308"),
      is: "broken",
    },
    {
      name: "a condition of 4,200 brackets",
      content: () => sound.replace("a == 1", "(".repeat(4_200)),
      is: "broken",
      at: "5:20",
    },
    {
      name: "a condition that begins with a line break and is too long",
      content: () => sound.replace("a == 1", `\\n${"a".repeat(4_150)}`),
      is: "broken",
    },
    {
      name: "a condition that begins with a line break and has too many operators",
      content: () => sound.replace("a == 1", `\\n${"1+".repeat(400)}1`),
      is: "broken",
    },
    {
      name: "a condition with a bad pattern",
      content: () => sound.replace("a == 1", "a ~= '(('"),
      is: "broken",
      at: "5:25",
    },
    {
      name: "an input of 1 MB",
      content: () => `${sound}  input: "${"a".repeat(1_000_000)}"\n`,
      is: "broken",
    },
    {
      name: "an input with 400,000 expressions in it",
      content: () => `${sound}  input: "${"{{a}}".repeat(400_000)}"\n`,
      is: "sound or broken",
    },
    {
      name: "an input that opens 400,000 expressions",
      content: () => `${sound}  input: "${"{{".repeat(400_000)}"\n`,
      is: "broken",
    },
  ],
};
