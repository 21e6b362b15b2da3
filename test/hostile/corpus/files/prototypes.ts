import type { HostileFile, HostileFiles } from "./parts.js";
import { cases, header, otherwise, sound, table, testOf } from "./parts.js";

const inherited = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];

/** Places of a sound definition, each with `KEY` where a key can stand. */
const levels: readonly (readonly [string, string])[] = [
  ["the top", `${sound}KEY: 1\n`],
  ["the decision", `${header}  KEY: 1\n${cases}${otherwise}`],
  ["a case", sound.replace("target: t", "target: t, KEY: 1")],
  ["the default", sound.replace("target: d", "target: d, KEY: 1")],
  ["an entity", `${sound}  entities: [{type: a, id: b, KEY: 1}]\n`],
  ["logging", `${sound}  logging: {KEY: true}\n`],
  ["the cache", `${sound}  cache: {KEY: true}\n`],
  ["a target", `${sound}targets: [t, d, {id: u, KEY: 1}]\n`],
  ["a test", `${sound}tests: [{decision: x, expect: {target: t}, KEY: 1}]\n`],
];

export const prototypes: HostileFiles = {
  title: "that reaches for a prototype",
  files: [
    ...levels.flatMap(([place, text]) =>
      inherited.map((key): HostileFile => ({
        name: `${key} as a key of ${place}`,
        content: () => text.replace("KEY", key),
        is: place === "a test" ? "sound but for a test" : "broken",
      })),
    ),
    ...inherited.map((key): HostileFile => ({
      name: `${key} as the type`,
      content: () => sound.replace("switch", key),
      is: "broken",
      at: "3:9",
    })),
    ...inherited.map((key): HostileFile => ({
      name: `${key} as the hit policy`,
      content: () => `${table(1, () => '{condition: "a == 1", target: t}')}  hit_policy: ${key}\n`,
      is: "broken",
      at: "7:15",
    })),
    {
      name: "__proto__ as a label",
      content: () => sound.replace("target: t", "target: t, label: __proto__"),
      is: "broken",
    },
    {
      name: "__proto__ as a map",
      content: () => `${sound}__proto__: {decision: {id: y}}\n`,
      is: "broken",
      at: "7:1",
    },
    {
      name: "constructor as a label",
      content: () => sound.replace("target: t", "target: t, label: constructor"),
      is: "sound",
    },
    {
      name: "__proto__ in the input of a test",
      content: () => `${sound}${testOf("{__proto__: {a: 1}, constructor: {prototype: 1}}")}`,
      is: "sound",
    },
    {
      name: "a type that cannot be made a text",
      content: () => `${header.replace("switch", "{toString: 1, valueOf: 1}")}${cases}${otherwise}`,
      is: "broken",
      at: "3:9",
    },
    {
      name: "a setting that cannot be made a text",
      content: () => `${header}  on_error: {toString: 1, valueOf: 1}\n${cases}${otherwise}`,
      is: "broken",
      at: "4:13",
    },
    {
      name: "a kind that cannot be made a text",
      content: () => `${sound}targets: [t, d, {id: u, kind: {toString: 1}}]\n`,
      is: "broken",
    },
    {
      name: "a path that reaches for it",
      content: () => sound.replace("a == 1", "a.__proto__ == 1"),
      is: "broken",
      at: "5:20",
    },
  ],
};
