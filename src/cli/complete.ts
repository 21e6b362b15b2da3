import type { Command, Option } from "commander";
import { decisionTypes } from "../definition/decision-types.js";
import { gateKeyText } from "../definition/gate-key.js";
import type { Library } from "../definition/library.js";
import { formats } from "../present/format.js";
import type { Io } from "./io.js";
import { settingKeys } from "./settings-table.js";
import { topics } from "./topics/topics.js";
import { openReadableWorld } from "./world.js";

/** Returns the completions of the last word. */
export async function complete(
  program: Command,
  words: readonly string[],
  io: Io,
): Promise<readonly string[]> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const { command, args } = findTypedCommand(program, before);
  const candidates = await candidatesFor(command, args, { before, current }, io);
  return candidates.filter((candidate) => candidate.startsWith(current));
}

/** Finds the command that the words select, and its arguments without flags. */
function findTypedCommand(
  program: Command,
  words: readonly string[],
): { command: Command; args: readonly string[] } {
  let command = program;
  const args: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const flag = command.options.find((option) => isNamed(option, word));
    if (flag !== undefined) {
      if (flag.required || flag.optional) index++;
      continue;
    }
    if (word.startsWith("-")) continue;
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) args.push(word);
    else command = next;
  }
  return { command, args };
}

async function candidatesFor(
  command: Command,
  args: readonly string[],
  typed: { readonly before: readonly string[]; readonly current: string },
  io: Io,
): Promise<readonly string[]> {
  const previous = typed.before.at(-1);
  if (previous === "--format") return formatsOf(command);
  if (previous === "--decision-id") return await decisionIds(typed.before, io);
  if (flagValues[previous ?? ""] !== undefined) return flagValues[previous ?? ""] ?? [];
  if (command.options.some((option) => isNamed(option, previous ?? "") && option.required)) return [];
  if (typed.current.startsWith("-")) return command.options.flatMap((option) => option.long ?? []);
  const names = command.commands.filter((each) => !each.name().startsWith("_")).map((each) => each.name());
  const expected = argumentAt(command, args.length);
  if (expected === "endpoint") return [...names, ...(await endpointNames(typed.before, io))];
  if (names.length > 0) return names;
  if (expected === "id" && command.name() !== "new") return await decisionIds(typed.before, io);
  if (expected === "action") return await gateKeys(typed.before, io);
  if (expected === "tool") return await policyTools(typed.before, io);
  if (expected === "type") return decisionTypes;
  if (expected === "record") return ["latest"];
  if (expected === "value" && args[0] === "durability") return durabilities;
  if (expected === "value" && args[0] === "require_approval") return ["true", "false"];
  if (expected === "value" && args[0] === "unknown_tools") return unknownToolAnswers;
  if (expected === "key") return settingKeys;
  if (expected === "shell") return ["bash", "zsh", "fish"];
  return expected === "topic" ? Object.keys(topics) : [];
}

/** Returns the name of the argument at a position; the last one may be variadic. */
function argumentAt({ registeredArguments }: Command, index: number): string | undefined {
  const last = registeredArguments.at(-1);
  return (registeredArguments[index] ?? (last?.variadic ? last : undefined))?.name();
}

const durabilities = ["full", "fast"];
const unknownToolAnswers = ["deny", "allow"];

const flagValues: Readonly<Record<string, readonly string[]>> = {
  "--type": decisionTypes,
  "--kind": ["decision", "tool_result", "assessment", "note", "all"],
  "--durability": durabilities,
  "--unknown-tools": unknownToolAnswers,
  "--outcome": ["allowed", "denied", "allowed_by_exception"],
  "--record": ["latest"],
};

function isNamed(option: Option, word: string): boolean {
  return word !== "" && (option.long === word || option.short === word);
}

function formatsOf(command: Command): readonly string[] {
  const described = command.options.find((option) => option.long === "--format")?.description ?? "";
  return described.split(": ")[1]?.split(", ") ?? formats;
}

const decisionIds = (before: readonly string[], io: Io): Promise<readonly string[]> =>
  fromDefinitions(before, io, ({ ids }) => ids);

const gateKeys = (before: readonly string[], io: Io): Promise<readonly string[]> =>
  fromDefinitions(before, io, ({ summaries }) =>
    summaries.flatMap(({ action }) => (action === undefined ? [] : [gateKeyText(action)])),
  );

const policyTools = (before: readonly string[], io: Io): Promise<readonly string[]> =>
  fromDefinitions(before, io, ({ summaries }) =>
    summaries.flatMap(({ tools = [] }) => tools.filter((tool) => !/[*?]/.test(tool))),
  );

const endpointNames = (before: readonly string[], io: Io): Promise<readonly string[]> =>
  fromDefinitions(before, io, ({ endpoints }) => endpoints.map(({ name }) => name));

/** Reads words from the definitions. Returns nothing on an error: a shell must not show it during completion. */
async function fromDefinitions(
  before: readonly string[],
  io: Io,
  words: (definitions: Library) => readonly string[],
): Promise<readonly string[]> {
  const flag = before.indexOf("--decisions");
  const decisions = flag === -1 ? undefined : before[flag + 1];
  try {
    const { definitions } = await openReadableWorld(
      { ...(decisions !== undefined && { decisions }), color: false, quiet: true },
      io,
    );
    return words(definitions);
  } catch {
    return [];
  }
}
