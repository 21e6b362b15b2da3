import type { HostileFile, HostileFiles } from "./parts.js";

const start = '{"decision": {"id": "x", "type": "switch", "cases": [{"condition": "a == 1", "target": "t"';

export const json: HostileFiles = {
  title: "in JSON that is almost JSON",
  files: (
    [
      ["trailing commas", `${start},},], "default": {"target": "d"},},}`, "sound"],
      ["comments", `${start}}], /* */ "default": {"target": "d"}}} // done`, "broken"],
      ["no end", start, "broken"],
      ["a second value", `${start}}], "default": {"target": "d"}}} {}`, "broken"],
      ["a list around it", `[${start}}], "default": {"target": "d"}}}]`, "broken"],
      ["a text", '"decision"', "alien"],
      ["a number", "42", "alien"],
      ["null", "null", "alien"],
      ["an empty map", "{}", "alien"],
    ] as const
  ).map(([name, text, is]): HostileFile => ({ name, file: "x.json", content: () => text, is })),
};
