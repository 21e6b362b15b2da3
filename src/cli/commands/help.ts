import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { didYouMean } from "../../text.js";
import type { Io } from "../io.js";
import { topics } from "../topics/topics.js";

export function addHelpCommand(program: Command, io: Io): void {
  program
    .command("help")
    .argument("[topic...]", "a topic, a decision type or a command")
    .summary("show help for a command or a topic")
    .addHelpText("after", examples)
    .action(async (words: readonly string[]) => {
      const [word] = words;
      const topic = word !== undefined && Object.hasOwn(topics, word) ? topics[word] : undefined;
      if (topic === undefined || words.length > 1) {
        findCommand(program, words).outputHelp();
      } else {
        const { renderTopic } = await import("../topics/render-topic.js");
        io.out.write(renderTopic(topic, io.out.columns));
      }
    });
}

const examples = `
Topics:
  ${Object.keys(topics)
    .join(", ")
    .replace(/(.{60,76}?) /g, "$1\n  ")}

Examples:
  $ agent-33 help expressions
  $ agent-33 help rule_table
  $ agent-33 help evaluate
  $ agent-33 help decision gate`;

/** Finds a command by its words; `decision` may be left out. */
function findCommand(program: Command, words: readonly string[]): Command {
  const [first] = words;
  const decision = childNamed(program, "decision");
  let command = program;
  if (first !== undefined && decision !== undefined && childNamed(program, first) === undefined) {
    command = decision;
  }
  for (const word of words) {
    const next = childNamed(command, word);
    if (next === undefined) {
      const candidates = word === first ? [program, command] : [command];
      const names = candidates.flatMap(({ commands }) => commands.map((each) => each.name()));
      throw new DecisionError("usage", `there is no help on \`${words.join(" ")}\``, {
        hint:
          didYouMean(word, word === first ? [...names, ...Object.keys(topics)] : names) ??
          "list the topics with `agent-33 help`, the commands with `agent-33 help decision`",
      });
    }
    command = next;
  }
  return command;
}

function childNamed({ commands }: Command, word: string): Command | undefined {
  return commands.find((each) => each.name() === word || each.aliases().includes(word));
}
