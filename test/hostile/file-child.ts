import { exitCodeOf } from "../../src/cli/exit-codes.js";
import { validatePaths } from "../../src/cli/validate-paths.js";
import { compose } from "../../src/compose.js";
import { DecisionError } from "../../src/errors.js";
import type { Diagnostic } from "../../src/model/diagnostic.js";
import { orders } from "./child-process.js";

/** What the commands would have made of a folder, without starting them. */
export interface JudgedFolder {
  readonly index: number;
  readonly validate: Verdict;
  readonly evaluate: Verdict;
}

export interface Verdict {
  readonly exitCode: number | "crashed";
  /** Each `line:column` of an error. */
  readonly places: readonly string[];
  readonly said: string;
}

async function judge(act: () => Promise<Omit<Verdict, "exitCode"> & { exitCode: number }>): Promise<Verdict> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof DecisionError)) {
      return {
        exitCode: "crashed",
        places: [],
        said: error instanceof Error ? (error.stack ?? "") : String(error),
      };
    }
    const { problems = [] } = (error.details ?? {}) as { problems?: readonly Diagnostic[] };
    return { exitCode: exitCodeOf(error.code), ...placesOf(problems), said: error.message };
  }
}

function placesOf(problems: readonly Diagnostic[]): Pick<Verdict, "places" | "said"> {
  const errors = problems.filter(({ severity }) => severity === "error").slice(0, 20);
  return {
    places: errors.map(({ line, column }) => `${line}:${column}`),
    said: errors.map(({ message }) => message).join("\n"),
  };
}

async function validate(folder: string): Promise<Verdict & { exitCode: number }> {
  const { problems } = await validatePaths([folder]);
  const found = placesOf(problems);
  return { exitCode: found.places.length > 0 ? 3 : 0, ...found };
}

async function evaluate(folder: string): Promise<Verdict & { exitCode: number }> {
  const { decide } = await compose({ decisions: folder });
  const { selected_targets } = await decide({ decision_id: "x", context: { a: 1 } });
  return { exitCode: 0, places: [], said: selected_targets.join(" ") };
}

async function main(): Promise<void> {
  const { from, args, begin, say } = orders();
  for (const [index, folder] of args.entries()) {
    if (index < from) continue;
    begin(index);
    const judged: JudgedFolder = {
      index,
      validate: await judge(() => validate(folder)),
      evaluate: await judge(() => evaluate(folder)),
    };
    say(judged);
  }
}

void main();
