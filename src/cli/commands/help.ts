import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { didYouMean } from "../../text.js";
import type { Io } from "../io.js";

export function addHelpCommand(program: Command, io: Io): void {
  program
    .command("help")
    .argument("[topic...]", "a command, or one of environment, exit-codes, expressions, formatting")
    .summary("show help for a command or a topic")
    .action(async (words: readonly string[]) => {
      const { topics } = await import("../topics/topics.js");
      const [word] = words;
      const topic = word !== undefined && Object.hasOwn(topics, word) ? topics[word] : undefined;
      if (topic === undefined) findCommand(program, words, Object.keys(topics)).outputHelp();
      else io.out.write(topic());
    });
}

function findCommand(program: Command, words: readonly string[], topics: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) {
      const names = [...command.commands.map((each) => each.name()), ...topics];
      throw new DecisionError("usage", `there is no help on \`${words.join(" ")}\``, {
        hint: didYouMean(word, names) ?? `topics: ${topics.join(", ")}`,
      });
    }
    command = next;
  }
  return command;
}
