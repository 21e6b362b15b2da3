import { describe, expect, it } from "vitest";
import { suggestCommands } from "../../src/cli/suggestions.js";
import { commandNames } from "../../src/cli/program.js";

describe("a word that is no command", () => {
  it.each([
    ["evalute", ["evaluate"]],
    ["eval", ["evaluate"]],
    ["run", ["evaluate"]],
    ["coverage", ["test"]],
    ["analyse", ["analyze"]],
    ["gaps", ["analyze"]],
    ["comapre", ["compare"]],
    ["create", ["new"]],
    ["format", ["fmt"]],
    ["add", ["new"]],
    ["exec", ["evaluate"]],
    ["server", ["serve"]],
    ["history", ["log"]],
    ["re", ["result", "replay"]],
    ["dist", ["distribution"]],
    ["lst", ["list"]],
    ["foo", []],
    ["xy", []],
    ["", []],
  ])("%s suggests %j", (word, names) => {
    expect(suggestCommands(word, commandNames)).toEqual(names);
  });

  it.each(["prun", "prunes", "retir", "retires", "pr", "clea", "invalidat", "rese"])(
    "%s never suggests a destructive command",
    (word) => {
      const names = [...commandNames, "clear", "invalidate", "reset"];
      expect(suggestCommands(word, names)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(prune|retire|clear|invalidate|reset)$/)]),
      );
    },
  );
});
