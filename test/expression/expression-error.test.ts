import { describe, expect, it } from "vitest";
import { DecisionError } from "../../src/errors.js";
import { renderCaret, expressionError, expressionLocation } from "../../src/expression/failure.js";
import { refusalOf } from "./answers.js";

describe("caret", () => {
  it.each([
    ["the faulty character", "a = 1", ["a = 1", "  ^"]],
    ["the beginning", "lenght(a)", ["lenght(a)", "^"]],
    ["the end", "a ==", ["a ==", "    ^"]],
    ["a place within the second line", "a == 1 and\n  b = 2", ["  b = 2", "    ^"]],
    ["a place within the first of two lines", "a = 1 and\nb == 2", ["a = 1 and", "  ^"]],
    ["a place behind a tab", "a\t= 1", ["a = 1", "  ^"]],
    ["a place before an empty line", "a =\n\nb", ["a =", "  ^"]],
    ["an empty last line", "a ==\n", ["", "^"]],
  ])("stands under %s", (_what, text, lines) => {
    expect(renderCaret(refusalOf(text)).split("\n")).toEqual(lines);
  });

  it("shows a part of a long line, with the error in it", () => {
    const [line = "", mark = ""] = renderCaret(
      refusalOf(`${"a and ".repeat(40)}b = 1${" and a".repeat(40)}`),
    ).split("\n");
    expect({ long: line.length <= 102, cut: /^….*…$/.test(line), at: line[mark.length - 1] }).toEqual({
      long: true,
      cut: true,
      at: "=",
    });
  });

  it("cuts nothing off before a place that is near the beginning", () => {
    expect(renderCaret(refusalOf(`b = 1${" and a".repeat(40)}`)).split("\n")).toEqual([
      `${`b = 1${" and a".repeat(40)}`.slice(0, 100)}…`,
      "  ^",
    ]);
  });

  it("prints no control characters", () => {
    expect(renderCaret({ expression: "a\u001b[31m\u0007", at: 1 })).toBe("a [31m \n ^");
  });

  it.each([
    ["too long an expression", `\n${"a".repeat(5000)}`],
    ["too long a row of operators", `\n${Array.from({ length: 600 }, () => "1").join("+")}`],
    ["an empty expression", "\n"],
    ["an unknown function", "\nlenght(a)"],
  ])("can be put under %s that begins with an empty line", (_what, text) => {
    expect(renderCaret(refusalOf(text))).toMatch(/\^$/);
  });
});

describe("expressionPlace", () => {
  it("is the expression and the position of an invalid one", () => {
    expect(expressionLocation(expressionError("a = 1", 2, "wrong"))).toEqual({ expression: "a = 1", at: 2 });
  });

  it("is absent of any other error", () => {
    expect(expressionLocation(new DecisionError("usage", "wrong", { details: { at: 1 } }))).toBeUndefined();
  });
});
