import type { Command } from "commander";
import { nearest } from "../text.js";

/** Commands that remove or overwrite something; a typing error must never lead to one of them. */
const destructiveCommands: ReadonlySet<string> = new Set(["prune", "retire", "clear", "invalidate", "reset"]);

/** Words of other tools, and the commands of `agent-33 decision` that do the same. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  run: ["evaluate"],
  exec: ["evaluate"],
  eval: ["evaluate"],
  decide: ["evaluate"],
  coverage: ["test"],
  mutate: ["test"],
  analyse: ["analyze"],
  analysis: ["analyze"],
  gaps: ["analyze"],
  overlaps: ["analyze"],
  format: ["fmt"],
  create: ["new"],
  add: ["new"],
  lint: ["validate"],
  server: ["serve"],
  start: ["serve"],
  history: ["log"],
  records: ["log"],
  ls: ["list"],
};

/** Returns the commands that a word could mean: synonyms, then commands that it abbreviates, then the closest one. */
export function suggestCommands(word: string, names: readonly string[]): readonly string[] {
  const safe = names.filter((name) => !destructiveCommands.has(name) && !name.startsWith("_"));
  const meant = Object.hasOwn(synonyms, word) ? (synonyms[word] ?? []) : [];
  const known = meant.filter((name) => safe.includes(name));
  if (known.length > 0) return known;
  const abbreviated = word.length < 2 ? [] : safe.filter((name) => name.startsWith(word));
  if (abbreviated.length > 0) return abbreviated.slice(0, 3);
  const closest = word.length < 3 ? undefined : nearest(word, safe);
  return closest === undefined ? [] : [closest];
}

/** Returns the hint for a word that is not a command of the last command in the path. */
export function unknownCommandHint(word: string, path: readonly Command[]): string | undefined {
  if (word === "version") return "did you mean `agent-33 --version`?";
  if (word === "init") return "did you mean `agent-33 init`?";
  const [program, group] = path;
  const names = path.at(-1)?.commands.map((each) => each.name()) ?? [];
  if (group !== undefined) return didYouMeanOneOf(suggestCommands(word, names));
  const decision = program?.commands.find((each) => each.name() === "decision");
  const inner = decision?.commands.map((each) => each.name()) ?? [];
  if (destructiveCommands.has(word) && inner.includes(word))
    return `see \`agent-33 decision ${word} --help\``;
  const ofDecision = inner.includes(word) ? [word] : suggestCommands(word, inner);
  const ofProgram = suggestCommands(word, names);
  return didYouMeanOneOf(
    ofProgram.length > 0 ? ofProgram : ofDecision.map((name) => `agent-33 decision ${name}`),
  );
}

function didYouMeanOneOf(names: readonly string[]): string | undefined {
  const quoted = names.map((name) => `\`${name}\``);
  if (quoted.length < 2) return quoted.length === 0 ? undefined : `did you mean ${quoted[0]}?`;
  return `did you mean ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}?`;
}
