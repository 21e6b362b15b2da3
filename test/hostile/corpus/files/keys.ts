import type { HostileFiles } from "./parts.js";
import { after, cases, header, lines, list, otherwise, sound, testOf } from "./parts.js";

export const keys: HostileFiles = {
  title: "with keys",
  files: [
    {
      name: "100,000 in one map",
      content: () => after(lines(100_000, (index) => `k${index}: 1\n`)),
      is: "broken",
    },
    {
      name: "100,000 between braces",
      content: () => after(`{${lines(100_000, (index) => `k${index}: 1, `)}}`),
      is: "broken",
    },
    {
      name: "100,000 without values",
      content: () => after(`{${lines(100_000, (index) => `k${index},`)}}`),
      is: "broken",
    },
    {
      name: "100,000 with question marks",
      content: () => after(lines(100_000, (index) => `? k${index}\n: 1\n`)),
      is: "broken",
    },
    {
      name: "50,000 after a list that ends by indentation",
      content: () => after(`a: [\n${lines(50_000, (index) => `k${index}: 1\n`)}`),
      is: "broken",
    },
    {
      name: "50,000 after a map that ends with its document",
      content: () => after(`{\n---\n${lines(50_000, (index) => `k${index}: 1\n`)}`),
      is: "broken",
    },
    {
      name: "1,900 in each of 100 maps",
      content: () =>
        `${sound}${testOf(`[${list(100, () => `{${list(1_900, (index) => `k${index}`).join(",")}}`).join(",")}]`)}`,
      is: "sound or broken",
    },
    {
      name: "1,900 that are all the same",
      content: () => `${header}${"  name: x\n".repeat(1_900)}${cases}${otherwise}`,
      is: "broken",
      at: "5:3",
    },
    { name: "decision twice", content: () => sound + sound, is: "broken", at: "7:1" },
    { name: "id twice", content: () => sound.replace("  type", "  id: y\n  type"), is: "broken", at: "3:3" },
    {
      name: "condition twice",
      content: () => sound.replace("target: t", 'target: t, condition: "true"'),
      is: "broken",
      at: "5:40",
    },
    {
      name: "id twice in JSON",
      file: "x.json",
      content: () =>
        `{"decision": {"id": "x", "id": "y", "type": "switch", "cases": [{"condition": "a == 1", "target": "t"}], "default": {"target": "d"}}}`,
      is: "broken",
      at: "1:26",
    },
    {
      name: "a merge key",
      content: () => `${header}  <<: {name: merged}\n${cases}${otherwise}`,
      is: "broken",
      at: "4:3",
    },
    { name: "a list as key", content: () => `${sound}? [a, {b: c}]\n: 1\n`, is: "broken" },
    {
      name: "true and 1 as keys",
      content: () => `${sound}true: 1\n1: 1\n`,
      is: "broken",
      at: "7:1",
    },
    { name: "a key of 1 MB", content: () => `${sound}${"k".repeat(1_000_000)}: 1\n`, is: "broken" },
    {
      name: "a quoted key of 1,000 characters",
      content: () => `${sound}"${"k".repeat(1_000)}": 1\n`,
      is: "broken",
      at: "7:1",
    },
  ],
};
