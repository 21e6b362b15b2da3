import type { HostileFiles } from "./parts.js";
import { after, header, lines, list, otherwise, sound, testOf } from "./parts.js";

/** Each level holds the one before it several times. */
function laughs(levels: number, width: number, form: (aliases: string) => string): string {
  const level = (index: number): string =>
    `  l${index}: &l${index} ${index === 0 ? form("lol") : form(list(width, () => `*l${index - 1}`).join(", "))}\n`;
  return `laughs:\n${lines(levels, level)}`;
}

export const aliases: HostileFiles = {
  title: "with aliases",
  spawned: true,
  files: [
    {
      name: "a billion laughs in lists",
      content: () => after(laughs(9, 9, (all) => `[${all}]`)),
      is: "broken",
    },
    {
      name: "laughs in pairs, 60 levels",
      content: () => after(laughs(60, 2, (all) => `[${all}]`)),
      is: "broken",
    },
    {
      name: "a billion laughs in maps",
      content: () =>
        after(
          laughs(
            9,
            9,
            (all) =>
              `{${all
                .split(", ")
                .map((alias, index) => `k${index}: ${alias}`)
                .join(", ")}}`,
          ),
        ),
      is: "broken",
    },
    {
      name: "a billion laughs where any value is allowed",
      content: () =>
        `${sound}${testOf(`[&a [lol], ${list(9, (index) => `&${"bcdefghij"[index] ?? ""} [${list(9, () => `*${"abcdefghi"[index] ?? ""}`).join(", ")}]`).join(", ")}]`)}`,
      is: "broken",
    },
    {
      name: "a billion laughs by merge keys of YAML 1.1",
      content: () =>
        `%YAML 1.1\n---\n${sound}laughs:\n  l0: &l0 {a: 1}\n${lines(9, (index) => `  l${index + 1}: &l${index + 1} {<<: [${list(9, () => `*l${index}`).join(", ")}]}\n`)}`,
      is: "broken",
    },
    {
      name: "a large list that is repeated 99 times",
      content: () => `${sound}${testOf(`[&a [${"1,".repeat(10_000)}], ${"*a,".repeat(99)}]`)}`,
      is: "sound",
    },
    {
      name: "40,000 anchors of one name, each used once",
      content: () => `${sound}${testOf(`[${"&a 1,*a,".repeat(40_000)}]`)}`,
      is: "sound or broken",
    },
    { name: "a list that holds itself", content: () => after("&a [*a]\n"), is: "broken" },
    {
      name: "cases that hold themselves",
      content: () => `${header}  cases: &a [*a]\n${otherwise}`,
      is: "broken",
    },
    { name: "a map that holds itself", content: () => after("&a {decision: *a}\n"), is: "broken" },
    {
      name: "a list that holds itself where any value is allowed",
      content: () => `${sound}${testOf("&a [*a]")}`,
      is: "broken",
    },
    { name: "a key that holds itself", content: () => after("? &a [*a]\n: 1\n"), is: "broken" },
    {
      name: "an alias of nothing",
      content: () => `${header}  cases: *nothing\n${otherwise}`,
      is: "broken",
    },
    {
      name: "an alias of an anchor further down",
      content: () => `${header}  cases: *c\n  default: &c {target: d}\n`,
      is: "broken",
    },
    { name: "200,000 anchors on one node", content: () => after("&a ".repeat(200_000)), is: "broken" },
  ],
};
