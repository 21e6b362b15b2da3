import { describe, expect, it } from "vitest";
import { parse } from "../../src/expression/parse.js";
import type { Node } from "../../src/expression/syntax.js";
import { answer, refusalOf } from "./answers.js";

/** Prints the tree with brackets around everything, which shows the precedence. */
function bracketed(node: Node): string {
  switch (node.kind) {
    case "literal":
      return JSON.stringify(node.value);
    case "path":
      return node.segments.join(".");
    case "list":
      return `[${node.items.map(bracketed).join(" ")}]`;
    case "call":
      return `${node.name}{${node.args.map(bracketed).join(" ")}}`;
    case "negative":
      return `(- ${bracketed(node.operand)})`;
    case "not":
      return `(not ${bracketed(node.operand)})`;
    case "arithmetic":
      return `(${bracketed(node.left)} ${node.operator} ${bracketed(node.right)})`;
    case "compare":
      return `(${bracketed(node.first)}${node.rest.map((each) => ` ${each.operator} ${bracketed(each.operand)}`).join("")})`;
    case "membership":
      return `(${bracketed(node.item)} ${node.negated ? "not in" : "in"} ${bracketed(node.list)})`;
    case "logic":
      return `(${node.operands.map(bracketed).join(` ${node.operator} `)})`;
    case "choice":
      return `(if ${bracketed(node.condition)} then ${bracketed(node.then)} else ${bracketed(node.otherwise)})`;
  }
}

describe("precedence", () => {
  it.each([
    ["not a == b", "(not (a == b))"],
    ["!a == b", "((not a) == b)"],
    ["not a in ('x')", '(not (a in ["x"]))'],
    ["not a and b", "((not a) and b)"],
    ["not not a", "(not (not a))"],
    ["!!a", "(not (not a))"],
    ["not(x)", "(not x)"],
    ["not(a) and b", "((not a) and b)"],
    ["x and(y)", "(x and y)"],
    ["x or(y)", "(x or y)"],
    ["x in('a')", '(x in ["a"])'],
    ["a or b and c", "(a or (b and c))"],
    ["a and b or c", "((a and b) or c)"],
    ["(a or b) and c", "((a or b) and c)"],
    ["a and b and c", "(a and b and c)"],
    ["a || b && !c", "(a or (b and (not c)))"],
    ["a == 1 and b < 2", "((a == 1) and (b < 2))"],
    ["1 < a <= 5", "(1 < a <= 5)"],
    ["a == b == c", "(a == b == c)"],
    ["a + 1 > b * 2", "((a + 1) > (b * 2))"],
    ["a - b - c", "((a - b) - c)"],
    ["a / b % c", "((a / b) mod c)"],
    ["a + b * c ^ d", "(a + (b * (c ^ d)))"],
    ["-a ^ 2", "(- (a ^ 2))"],
    ["a ^ -b", "(a ^ (- b))"],
    ["a ^ b ^ c", "(a ^ (b ^ c))"],
    ["-a * b", "((- a) * b)"],
    ["a - -1", "(a - -1)"],
    ["-1", "-1"],
    ["a + 'x' in b", '((a + "x") in b)'],
    ["a not in b and c", "((a not in b) and c)"],
    ["a ~= 'x' and b", '(matches{a "x"} and b)'],
    ["a + b ~= 'x'", 'matches{(a + b) "x"}'],
    ["if a then b else if c then d else e", "(if a then b else (if c then d else e))"],
    ["if a or b then 1 else 2 + 3", "(if (a or b) then 1 else (2 + 3))"],
    ["(if a then b else c) == 1", "((if a then b else c) == 1)"],
    ["not if_a", "(not if_a)"],
  ])("%s is %s", (text, tree) => {
    expect(bracketed(parse(text))).toBe(tree);
  });
});

describe("brackets", () => {
  it.each([
    ["(a)", "a"],
    ["((a))", "a"],
    ["('a', 'b')", '["a" "b"]'],
    ["['a', 'b']", '["a" "b"]'],
    ["['a']", '["a"]'],
    ["[]", "[]"],
    ["('a')", '"a"'],
    ["x in ('a')", '(x in ["a"])'],
    ["x in ['a']", '(x in ["a"])'],
    ["x not in (5)", "(x not in [5])"],
    ["x in (list)", "(x in list)"],
    ["(1, (2, 3))", "[1 [2 3]]"],
    ["contains(('a', 'b'), 'a')", 'contains{["a" "b"] "a"}'],
  ])("%s is %s", (text, tree) => {
    expect(bracketed(parse(text))).toBe(tree);
  });
});

describe("literals", () => {
  it.each([
    ["true", true],
    ["false", false],
    ["null", null],
    ["1e21", 1e21],
    [".5", 0.5],
    ["'true'", "true"],
    ["-0.5", -0.5],
  ])("%s is the value %j", (text, value) => {
    expect(parse(text)).toEqual({ kind: "literal", value });
  });

  it.each(["True", "NULL", "nil", "undefined", "NaN", "Infinity"])("%s is a path like any other", (text) => {
    expect(parse(text)).toEqual({ kind: "path", segments: [text] });
  });
});

describe("an invalid expression", () => {
  it.each([
    ["", 0, "the expression is empty"],
    ["   ", 3, "the expression is empty"],
    ["a ==", 4, "expected a value, got the end of the expression"],
    ["a == == b", 5, "expected a value, got `==`"],
    ["a b", 2, "expected an operator or the end, got `b`"],
    ["a 'b'", 2, "expected an operator or the end, got `'b'`"],
    ["(a", 2, "expected `)`, got the end of the expression"],
    ["(a]", 2, "expected `)`, got `]`"],
    ["[a", 2, "expected `]`, got the end of the expression"],
    ["a)", 1, "expected an operator or the end, got `)`"],
    ["()", 1, "the brackets are empty"],
    ["x in ()", 6, "the brackets are empty"],
    ["(a,)", 3, "expected a value, got `)`"],
    ["lower(a", 7, "expected `)`, got the end of the expression"],
    ["lower(a b)", 8, "expected `)`, got `b`"],
    ["if a then b", 11, "expected `else`, got the end of the expression"],
    ["if a else b", 5, "expected `then`, got `else`"],
    ["1 + if a then b else c", 4, "expected a value, got `if`"],
    ["and a", 0, "expected a value, got `and`"],
    ["a and", 5, "expected a value, got the end of the expression"],
    ["a && && b", 5, "expected a value, got `&&`"],
    ["a not b", 2, "expected an operator or the end, got `not`"],
    ["a == b in c", 7, "expected an operator or the end, got `in`"],
    ["true(1)", 4, "expected an operator or the end, got `(`"],
    ["a 'not' in ('b')", 2, "expected an operator or the end, got `'not'`"],
    ["a 'in' ('b')", 2, "expected an operator or the end, got `'in'`"],
    ["a '[' b", 2, "expected an operator or the end, got `'['`"],
    ["a == 1, 5", 6, "expected an operator or the end, got `,`"],
    ["1,a", 1, "expected an operator or the end, got `,`"],
    ["a '+' b", 2, "expected an operator or the end, got `'+'`"],
    ["'if' a then b else c", 5, "expected an operator or the end, got `a`"],
  ])("%j is rejected at %i", (text, at, message) => {
    expect(refusalOf(text)).toEqual({ expression: text, at, message, hint: undefined });
  });

  it.each([
    ["a <> b", "write `!=` for unequal"],
    ["a == 1 AND b == 2", "write `and`"],
    ["a is null", "compare with `==`; test for a missing value with exists(…)"],
    ["order.name contains 'x'", "`contains` is a function: write `contains(…, …)`"],
    ["order.name startsWith 'x'", "`starts_with` is a function: write `starts_with(…, …)`"],
    ["list[0].id == 1", "write `list.0.name` for a part of an item of a list"],
    ["list[0] == 1", "write `list.0` or get(list, 0) for an item of a list"],
    ["list[a.b] == 1", "write `get(list, a.b)`"],
    ["context['a'] == 1", "write `context.a` or `get(context, 'a')`"],
    ['a.b["c-d"] == 1', 'write `get(a.b, "c-d")`'],
    ["lower(a)['b'] == 1", "write `list.0` or get(list, 0) for an item of a list"],
    ["a == 1,5", "write `1.5`: numbers have a decimal point"],
    [
      "name like 'x%'",
      "write `starts_with(…, …)`, `ends_with(…, …)` or `contains(…, …)`, or `matches(…, …)` for a pattern",
    ],
    ["a =~ 'x'", "search for a pattern with `~=`"],
    ["a == “x”", "use straight quotes"],
    ["len(a) > 1", "did you mean `length`?"],
    ["now() > 1", "the time is `system.request_time`"],
  ])("%j is rejected with a hint", (text, hint) => {
    expect(refusalOf(text).hint).toBe(hint);
  });

  it.each(["x in 'abc'", "x in 5", "x not in null", "x in '('"])(
    "%s is rejected: it needs a list",
    (text) => {
      expect(refusalOf(text)).toMatchObject({
        at: text.indexOf("in ") + 3,
        message: "`in` needs a list",
        hint: "write `in ('a', 'b')`, or `contains(text, part)`",
      });
    },
  );
});

describe("calls", () => {
  it.each([
    ["lenght(a)", "lenght", "did you mean `length`?"],
    ["start_with(a, 'b')", "start_with", "did you mean `starts_with`?"],
    ["contians(a, 'b')", "contians", "did you mean `contains`?"],
    ["EXISTS(a)", "EXISTS", "did you mean `exists`?"],
    ["launch_rockets(a)", "launch_rockets", "see `agent-33 help expressions`"],
    ["toString(a)", "toString", "see `agent-33 help expressions`"],
    ["a.lower()", "a.lower", "write `lower(a)`"],
    ["order.id.startsWith('x')", "order.id.startsWith", "write `starts_with(order.id, …)`"],
    ["order.id.launch('x')", "order.id.launch", "see `agent-33 help expressions`"],
  ])("%s is rejected with a hint", (text, name, hint) => {
    expect(refusalOf(text)).toEqual({
      expression: text,
      at: 0,
      message: `there is no function \`${name}\``,
      hint,
    });
  });

  it("points at the name of the function, not at the beginning", () => {
    expect(refusalOf("a == 1 and lenght(a) > 2").at).toBe(11);
  });

  it.each([
    ["lower()", "`lower(text)` got 0 arguments"],
    ["lower(a, b)", "`lower(text)` got 2 arguments"],
    ["round(1, 2, 3)", "`round(value, [digits])` got 3 arguments"],
    ["any_of(a)", "`any_of(list, item…)` got 1 argument"],
    ["between(1, 2)", "`between(value, low, high)` got 2 arguments"],
    ["get(a)", "`get(from, key, [fallback])` got 1 argument"],
  ])("%s is rejected for its number of arguments", (text, message) => {
    expect(refusalOf(text)).toMatchObject({ at: 0, message });
  });

  it.each(["round(1)", "round(1, 2)", "min(1)", "min(1, 2, 3, 4, 5)", "get(a, 'b')", "get(a, 'b', 'c')"])(
    "%s has a number of arguments that is allowed",
    (text) => {
      expect(parse(text).kind).toBe("call");
    },
  );
});

describe("limits", () => {
  it("takes an expression of 4,096 bytes", () => {
    expect(answer(`'${"a".repeat(4094)}'`)).toBe("a".repeat(4094));
  });

  it.each([
    ["characters", "a".repeat(4097)],
    ["bytes, though fewer characters", `'${"ö".repeat(2048)}'`],
    ["white space", " ".repeat(4097)],
  ])("rejects more than 4,096 bytes of %s", (_what, text) => {
    expect(refusalOf(text).message).toBe("the expression is longer than 4096 bytes");
  });

  const deep = (count: number): readonly [string, string][] => [
    ["brackets", `${"(".repeat(count)}1${")".repeat(count)}`],
    ["lists", `${"[".repeat(count)}${"]".repeat(count)}`],
    ["calls", `${"abs(".repeat(count)}1${")".repeat(count)}`],
    ["not", `${"not ".repeat(count)}true`],
    ["!", `${"!".repeat(count)}true`],
    ["-", `${"-".repeat(count)}a`],
    ["^", `${"1 ^ ".repeat(count)}1`],
    ["if", `${"if true then 1 else ".repeat(count)}1`],
    ["conditions of if", `${"if ".repeat(count)}true${" then true else true".repeat(count)}`],
  ];

  it.each(deep(63))("takes 63 nested %s", (_what, text) => {
    expect(() => answer(text, { a: 1 })).not.toThrow();
  });

  it.each(deep(65))("rejects 65 nested %s", (_what, text) => {
    expect(refusalOf(text).message).toBe("the expression is nested deeper than 64 levels");
  });

  it("does not count brackets next to each other as nested", () => {
    expect(answer(Array.from({ length: 200 }, () => "(1)").join("+"))).toBe(200);
  });

  it.each([
    ["and", Array.from({ length: 450 }, () => "true").join(" and "), true],
    ["or", `${"false or ".repeat(440)}true`, true],
    ["comparisons", Array.from({ length: 1000 }, () => "1").join("<="), true],
    ["a sum", Array.from({ length: 250 }, () => "1").join("+"), 250],
    ["a list", `length([${Array.from({ length: 2000 }, () => "1").join(",")}])`, 2000],
    ["arguments", `max(${Array.from({ length: 1000 }, (_, index) => String(index % 10)).join(",")})`, 9],
  ])("takes a long chain of %s", (_what, text, expected) => {
    expect(answer(text)).toBe(expected);
  });

  it("rejects a sum so long that compiling it could exhaust the stack", () => {
    expect(refusalOf(Array.from({ length: 2000 }, () => "1").join("+")).message).toBe(
      "too many chained operators",
    );
  });
});
