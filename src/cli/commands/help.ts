import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { didYouMean } from "../../text.js";
import type { Io } from "../io.js";
import { helpWidth } from "../io.js";
import { unknownCommandHint } from "../suggestions.js";
import type { Topic } from "../topics/topics.js";
import { findTopic, topicAliases, topics } from "../topics/topics.js";

export function addHelpCommand(program: Command, io: Io): void {
  program
    .command("help")
    .argument("[topic...]", "a topic, a decision type or a command")
    .summary("show help for a command or a topic")
    .addHelpText("after", examples)
    .action(async (words: readonly string[]) => {
      const command = findCommand(program, words);
      const topic =
        findTopic(words, command !== undefined) ??
        (command === undefined ? await findLanguageTopic(words.join(" ")) : undefined);
      if (topic !== undefined) {
        const { renderTopic } = await import("../topics/render-topic.js");
        io.out.write(renderTopic(topic, helpWidth(io)));
        if (command !== undefined) io.out.write(`  Flags: \`agent-33 decision ${command.name()} --help\`\n`);
      } else if (command !== undefined) command.outputHelp();
      else throw unknownTopic(program, words);
    });
}

/** Finds the table that describes a function of expressions or an operator of rules. */
async function findLanguageTopic(name: string): Promise<Topic | undefined> {
  const { functionTable } = await import("../../expression/function-table.js");
  if (functionTable().has(name)) return topicAliases["functions"];
  const { ruleOperators } = await import("../../expression/rule/rule-operators.js");
  return ruleOperators().has(name) ? topics["operators"] : undefined;
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
function findCommand(program: Command, words: readonly string[]): Command | undefined {
  return follow(program, words) ?? follow(childNamed(program, "decision"), words);
}

function follow(from: Command | undefined, words: readonly string[]): Command | undefined {
  let command = from;
  for (const word of words) command = command && childNamed(command, word);
  return command;
}

function childNamed({ commands }: Command, word: string): Command | undefined {
  return commands.find((each) => each.name() === word || each.aliases().includes(word));
}

function unknownTopic(program: Command, words: readonly string[]): DecisionError {
  const [word = ""] = words;
  const name = words.join("-");
  const decision = childNamed(program, "decision");
  const path = decision !== undefined && word === "decision" ? [program, decision] : [program];
  return new DecisionError("usage", `there is no help on \`${words.join(" ")}\``, {
    hint:
      didYouMean(name, Object.keys(topics)) ??
      unknownCommandHint(words[path.length - 1] ?? "", path) ??
      "list the topics with `agent-33 help`, the commands with `agent-33 help decision`",
  });
}
