import { describe, expect, it } from "vitest";
import { Failure } from "../../src/expression/failure.js";
import { operatorTable } from "../../src/expression/operator-table.js";
import type { Json } from "../../src/model/json.js";
import { answer } from "./answers.js";
import { documentedContext } from "./documented-context.js";

function outcome(value: Json | Failure): string {
  if (value instanceof Failure) return "errored";
  return typeof value === "string" ? value : JSON.stringify(value);
}

describe("every operator of the language", () => {
  it("is in the table that the help prints", () => {
    const symbols = "if then else or || and && not ! == != < <= > >= in ~= + - * / % ^".split(" ");
    const words = operatorTable.flatMap((entry) => entry.spelling.split(/\s+/));
    const spelt = new Set(words.map((word) => (word === "!a" ? "!" : word)));
    expect(symbols.filter((symbol) => !spelt.has(symbol))).toEqual([]);
  });

  it.each(operatorTable)("$spelling answers its documented example as documented", ({ example }) => {
    expect(answer(example.expression, documentedContext)).toEqual(example.answer);
  });

  it.each(operatorTable)(
    "$spelling answers as stated for a missing operand",
    ({ probe, badOperandResults: answers }) => {
      expect(outcome(answer(probe))).toBe(answers.missing);
    },
  );

  it.each(operatorTable)("$spelling answers as stated for null", ({ probe, badOperandResults: answers }) => {
    expect(outcome(answer(probe, { x: null }))).toBe(answers.null);
  });

  const strict = operatorTable.filter((entry) => entry.wrongOperand !== undefined);

  it.each(strict)(
    "$spelling answers as stated for $wrong",
    ({ probe, wrongOperand: wrong = "", badOperandResults: answers }) => {
      expect(outcome(answer(probe.replace(/\bx\b/, wrong)))).toBe(answers.mistyped);
    },
  );

  it.each(strict)(
    "$spelling answers the same for $wrong behind a path",
    ({ probe, wrongOperand: wrong = "", badOperandResults: answers }) => {
      const x = answer(wrong);
      if (x instanceof Failure) throw new Error(x.message);
      expect(outcome(answer(probe, { x }))).toBe(answers.mistyped);
    },
  );

  const lenient = operatorTable.filter((entry) => entry.wrongOperand === undefined);

  it.each(lenient)("$spelling takes an operand of any type", ({ probe, badOperandResults: answers }) => {
    const values: Json[] = [true, 5, "text", [1], {}, { a: 1 }];
    const answered = values.map((x) => answer(probe, { x }));
    expect([answers.mistyped, answered.map((each) => typeof each)]).toEqual([
      "any",
      values.map(() => "boolean"),
    ]);
  });

  it.each(operatorTable)(
    "$spelling names a wrong operand unless no type is wrong",
    ({ wrongOperand: wrong, badOperandResults: answers }) => {
      expect(wrong === undefined).toBe(answers.mistyped === "any");
    },
  );
});
