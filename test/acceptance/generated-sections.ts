import { buildProgram } from "../../src/cli/program.js";
import { exitCodes } from "../../src/cli/exit-codes.js";
import type { BadOperandResults } from "../../src/expression/function-table.js";
import { allErrored, functionGroups, signature } from "../../src/expression/function-table.js";
import { operatorTable } from "../../src/expression/operator-table.js";
import { ruleOperatorGroups } from "../../src/expression/rule/rule-operators.js";
import { fakeIo } from "../cli/fake-io.js";

/** The parts of pages that are written from the tables in the code, by the name of their marks. */
export const generatedSections: Readonly<
  Record<string, { readonly page: string; readonly lines: () => string | Promise<string> }>
> = {
  operators: {
    page: "docs/expressions.md",
    lines: () =>
      table(
        ["Operator", "Meaning", "Example", "Missing, null or mistyped operand"],
        operatorTable.map(({ spelling, summary, example, badOperandResults }) => [
          spelling
            .split(/ {2,}/)
            .map((each) => code(each))
            .join(", "),
          summary,
          arrow(example.expression, example.answer),
          onBadOperand(badOperandResults),
        ]),
      ),
  },
  functions: {
    page: "docs/expressions.md",
    lines: () =>
      functionGroups
        .map(({ title, entries }) =>
          [
            `### ${title}\n`,
            table(
              ["Function", "Result", "Example", "Missing, null or mistyped argument"],
              entries.map((entry) => [
                code(signature(entry)),
                entry.summary,
                arrow(entry.example.expression, entry.example.answer),
                onBadOperand(entry.badOperandResults ?? allErrored),
              ]),
            ),
          ].join("\n"),
        )
        .join("\n"),
  },
  "rule operators": {
    page: "docs/scored.md",
    lines: () =>
      ruleOperatorGroups
        .map(({ title, entries }) =>
          [
            `### ${title}\n`,
            table(
              ["Operator", "True if", "`value`", "Example"],
              entries.map(({ name, symbol, summary, takes, example: { condition, context, answer } }) => [
                symbol === undefined ? code(name) : `${code(name)} (${code(symbol)})`,
                summary,
                takes,
                `${code(spaced(condition))} on ${code(spaced(context))}: ${answer}`,
              ]),
            ),
          ].join("\n"),
        )
        .join("\n"),
  },
  "exit codes": {
    page: "docs/exit-codes.md",
    lines: () =>
      table(
        ["Code", "Meaning"],
        exitCodes.map(({ code: number, means }) => [String(number), means]),
      ),
  },
  commands: { page: "README.md", lines: commandTable },
};

/** A row for each group of commands, in the words of `agent-33 decision --help`. */
async function commandTable(): Promise<string> {
  const program = await buildProgram(fakeIo(), () => undefined);
  const decision = program.commands.find((each) => each.name() === "decision");
  const groups = new Map<string, string[]>();
  for (const each of decision?.commands ?? []) {
    const group = each.helpGroup().replace(":", "");
    groups.set(group, [...(groups.get(group) ?? []), `${code(each.name())} ${each.summary()}`]);
  }
  return table(
    ["Group", "Commands of `agent-33 decision`"],
    [...groups].map(([group, commands]) => [group, commands.join("; ")]),
  );
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return [titles, titles.map(() => "---"), ...rows].map(row).join("");
}

const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);
/** JSON on one line that can be broken at its spaces. */
const spaced = (value: unknown): string => JSON.stringify(value, null, 1).replace(/\n */g, " ");

const arrow = (expression: string, answer: unknown): string =>
  `${code(expression)} → ${code(JSON.stringify(answer))}`;

function onBadOperand({ missing, null: empty, mistyped }: BadOperandResults): string {
  return [missing, empty, mistyped].every((each) => each === "errored")
    ? "all errored"
    : `${missing}, ${empty}, ${mistyped}`;
}
