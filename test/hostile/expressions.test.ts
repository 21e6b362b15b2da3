import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import { attack, longestRun, refused, terminalCommands } from "./attack.js";
import type { HostileClass, HostileExpression } from "./corpus.js";
import { hostileExpressions } from "./corpus.js";
import type { JudgedExpression } from "./expression-child.js";
import type { Death } from "./watched-child.js";
import { bundleChild, watch } from "./watched-child.js";

const all = hostileExpressions.flatMap(({ expressions }) => expressions);
const judged = new Map<HostileExpression, JudgedExpression | Death>();

beforeAll(async () => {
  const folder = temporaryDirectory();
  const script = await bundleChild("expression-child", folder);
  const { said, deaths } = await watch({ script, args: [], cases: all.length, folder, patience: longestRun });
  for (const each of [...(said as JudgedExpression[]), ...deaths]) {
    const expression = all[each.index];
    if (expression !== undefined) judged.set(expression, each);
  }
}, 300_000);

function expected({ fate }: HostileExpression): object {
  if (fate === "answered or errored")
    return { fate: expect.stringMatching(/^(?:answered|errored)$/) as string };
  return typeof fate === "object" ? { fate: "answered", answer: fate.answer } : { fate };
}

describe.each(hostileExpressions)("an expression $title", ({ expressions }) => {
  it.each(expressions)("$name meets its fate", (expression) => {
    const outcome = judged.get(expression);
    expect(outcome).toMatchObject({ ...expected(expression), traces: [] });
    expect((outcome as JudgedExpression).milliseconds).toBeLessThan(1_000);
  });
});

/** A definition that asks one question. */
function asDefinition(id: string, { text }: HostileExpression): string {
  const condition = JSON.stringify(text);
  return `decision: {id: ${id}, type: switch, cases: [{condition: ${condition}, target: hit}], default: {target: miss}}\n`;
}

/** What fits into a file; what is larger never comes to be an expression. */
const writable = ({ expressions }: HostileClass): readonly HostileExpression[] =>
  expressions.filter(({ text }) => text.length < 1_000_000);

describe.each(hostileExpressions)("the command, given a file for each expression $title", (hostileClass) => {
  const folder = temporaryDirectory();
  const expressions = writable(hostileClass);
  const bad = expressions.filter(({ fate }) => fate === "refused");
  const good = expressions.filter(({ fate }) => fate !== "refused");
  const idOf = (expression: HostileExpression): string => `e${expressions.indexOf(expression)}`;

  beforeAll(() => {
    mkdirSync(join(folder, "definitions"));
    for (const expression of expressions) {
      const id = idOf(expression);
      writeFileSync(join(folder, `definitions/${id}.yaml`), asDefinition(id, expression));
      writeFileSync(join(folder, `${id}.json`), JSON.stringify(expression.context ?? {}));
    }
  });

  it("finds the place of each that does not compile, and nothing wrong with the others", async () => {
    const args = ["decision", "validate", "definitions", "--format", "plain"];
    const { stdout } = await attack(args, { cwd: folder, exitCode: bad.length > 0 ? 3 : 0 });
    expect(stdout).not.toMatch(terminalCommands);
    const places = stdout.matchAll(/^definitions\/(e\d+)\.yaml:\d+:\d+\s+error\s/gm);
    expect(new Set(Array.from(places, ([, id]) => id))).toEqual(new Set(bad.map(idOf)));
  });

  it.each(bad.slice(0, 1))("does not evaluate what does not compile: $name", async (expression) => {
    const id = idOf(expression);
    const { stderr } = await refused(
      ["decision", "evaluate", id, "--decisions", "definitions", "--input", "{}"],
      {
        cwd: folder,
        exitCode: 3,
      },
    );
    expect(stderr).toMatch(new RegExp(`definitions/${id}\\.yaml:\\d+:\\d+`));
  });

  it.each(good.slice(0, 2))("leads nowhere but where the answer says: $name", async (expression) => {
    const id = idOf(expression);
    const question = ["--decisions", "definitions", "--input", `@${id}.json`, "--format", "target"];
    const { stdout } = await attack(["decision", "evaluate", id, ...question], { cwd: folder, exitCode: 0 });
    const isYes = typeof expression.fate === "object" && expression.fate.answer === true;
    expect(stdout).toBe(isYes ? "hit\n" : "miss\n");
  });
});
