import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runsFor } from "../thoroughness.js";
import { bothAnswers } from "../expression/answers.js";
import { contexts } from "./arbitraries.js";
import { noon } from "./worlds.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { DecisionError } from "../../src/errors.js";
import { certainErrors, isNeverBoolean } from "../../src/expression/certain-errors.js";
import { compile } from "../../src/expression/compile.js";
import { renderCaret, expressionLocation, Failure } from "../../src/expression/failure.js";
import { functionTable } from "../../src/expression/function-table.js";
import { interpret } from "../../src/expression/interpret.js";
import type { Template } from "../../src/expression/template.js";
import { compileCondition, compileTemplate } from "../../src/expression/template.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Scope } from "../../src/model/scope.js";

type Compile = (text: string) => Template;

const scopeOf = (context: JsonObject): Scope => ({
  context,
  input: context["n"],
  facts: {},
  system: { request_time: noon },
});

/** The compiled text, or undefined where it is refused as it must be: with a place in it and an excerpt. */
function compiledOrRefused(run: Compile, text: string): Template | undefined {
  try {
    return run(text);
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    const place = expressionLocation(error);
    if (place === undefined) throw error;
    expect(place.at).toBeGreaterThanOrEqual(0);
    expect(place.at).toBeLessThanOrEqual(place.expression.length);
    expect(renderCaret(place)).toMatch(/\^$/);
    return undefined;
  }
}

/**
 * Whatever compiles has a JSON value or a Failure, and the same one each time: interpreted first, then
 * compiled by filtrex.
 */
function holdsItsWord(run: Compile, text: string, context: JsonObject): boolean {
  const compiled = compiledOrRefused(run, text);
  if (compiled === undefined) return false;
  const [first, second] = bothAnswers(compiled, scopeOf(context));
  expect(second).toEqual(first);
  expect(run(text).evaluate(scopeOf(context))).toEqual(first);
  if (first instanceof Failure) expect(first.message).not.toBe("");
  else expect(canonicalJson(first)).toBeTypeOf("string");
  return true;
}

const words = [
  ..."and or not in if then else true false null mod && || ! == === != !== < <= > >= ~= + - * / % ^".split(
    " ",
  ),
  ..."( ) [ ] , . = ? : ; & | {{ }} ${ } ' \" \\ # @ n t yes list o o.k o.z list.0 input context facts".split(
    " ",
  ),
  ..."system.request_time absent no.such.path constructor __proto__ a.prototype 0 1 -1 1.5 .5 1e21 1e400 1e".split(
    " ",
  ),
  ..."'a' \"b\" '' '[' '(a' '2026-01-01' 'it\\'s' ('a') ('a','b') [] [1,2] \n \t \u0000 ö 💡".split(/ /),
  ...[...functionTable().keys()].flatMap((name) => [name, `${name}(`]),
];

const tokenSoup = fc
  .tuple(fc.array(fc.constantFrom(...words), { maxLength: 15 }), fc.constantFrom("", " "))
  .map(([drawn, between]) => drawn.join(between));

const operators = [
  "and",
  "or",
  "&&",
  "||",
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "~=",
  "+",
  "-",
  "*",
  "/",
  "%",
  "^",
];
const atoms = fc.constantFrom(
  ..."n t yes list o o.k o.z list.0 input context absent no.such.path system.request_time null true false".split(
    " ",
  ),
  ..."0 1 -1 2.5 1e21 1e308 'a' '' \"b\" 'a+' '2026-01-01' ('a','b') [1,'a',null] []".split(" "),
);

/** Sound expressions, at least in their grammar; a bad pattern or a list where none may stand is still refused. */
const sentences: fc.Arbitrary<string> = fc.letrec<{ sentence: string }>((tie) => {
  const part = tie("sentence");
  const pair = fc.tuple(part, part);
  return {
    sentence: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      atoms,
      fc
        .tuple(part, fc.constantFrom(...operators), part)
        .map(([a, operator, b]) => `(${a}) ${operator} (${b})`),
      fc
        .tuple(part, fc.constantFrom("<", "<=", "=="), part)
        .map(([a, operator, b]) => `0 < (${a}) ${operator} (${b})`),
      part.map((each) => `not (${each})`),
      part.map((each) => `!(${each})`),
      part.map((each) => `-(${each})`),
      pair.map(([a, b]) => `(${a}) in (${b})`),
      pair.map(([a, b]) => `(${a}) not in [${b}]`),
      fc.tuple(part, part, part).map(([a, b, c]) => `(if ${a} then ${b} else ${c})`),
      fc.array(part, { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
      fc
        .tuple(fc.constantFrom(...functionTable().values()), fc.array(part, { minLength: 3, maxLength: 3 }))
        .map(([{ name, parameters }, args]) => `${name}(${args.slice(0, parameters.length).join(", ")})`),
    ),
  };
}).sentence;

describe("any text at all", () => {
  const texts: [string, fc.Arbitrary<string>][] = [
    ["characters", fc.string({ unit: "binary", maxLength: 40 })],
    ["ASCII", fc.string({ unit: "grapheme-ascii", maxLength: 40 })],
    [
      "UTF-16 code units, half pairs included",
      fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
    ],
    ["tokens of the language", tokenSoup],
    ["long repetitions", fc.tuple(tokenSoup, fc.nat(600)).map(([soup, count]) => soup.repeat(count))],
  ];

  it.each(texts)("made of %s is refused with a place, or evaluates without throwing", (_what, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, contexts, (text, context) => {
        for (const run of [compile, compileTemplate, compileCondition]) holdsItsWord(run, text, context);
      }),
      { numRuns: runsFor(300) },
    );
  });
});

describe("a sentence of the language", () => {
  it("evaluates without throwing in any context", () => {
    let compiled = 0;
    fc.assert(
      fc.property(sentences, contexts, (text, context) => {
        if (holdsItsWord(compile, text, context)) compiled++;
      }),
      { numRuns: runsFor(1000) },
    );
    expect(compiled).toBeGreaterThan(runsFor(500));
  });

  it("means the same alone, in brackets and in a template", () => {
    fc.assert(
      fc.property(sentences, contexts, (text, context) => {
        const alone = compiledOrRefused(compile, text);
        fc.pre(alone !== undefined);
        const others = [
          compile(`(${text})`),
          compileTemplate(`{{ ${text} }}`),
          compileCondition(`\${${text}}`),
        ];
        const expected = alone.evaluate(scopeOf(context));
        expect(others.map((each) => each.evaluate(scopeOf(context)))).toEqual([expected, expected, expected]);
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("has no part that is reported as an error for every input and yet has a value that is needed", () => {
    let reported = 0;
    fc.assert(
      fc.property(sentences, contexts, (text, context) => {
        const expression = compiledOrRefused(compile, text);
        fc.pre(expression?.tree !== undefined);
        for (const { part, message } of certainErrors(expression.tree)) {
          if (!("kind" in part)) continue;
          reported++;
          const value = interpret(part, scopeOf(context));
          if (message.endsWith("is never true or false")) expect(value).not.toBeTypeOf("boolean");
          else expect(value).toBeInstanceOf(Failure);
        }
        if (isNeverBoolean(expression.tree))
          expect(interpret(expression.tree, scopeOf(context))).not.toBeTypeOf("boolean");
      }),
      { numRuns: runsFor(1000) },
    );
    expect(reported).toBeGreaterThan(runsFor(200));
  });

  it("reads nothing but what its reads say", () => {
    fc.assert(
      fc.property(sentences, contexts, (text, context) => {
        const expression = compiledOrRefused(compile, text);
        fc.pre(expression !== undefined && !expression.reads.includes("context"));
        const roots = new Set(expression.reads.map((path) => path.split(".")[0]));
        const kept = Object.fromEntries(Object.entries(context).filter(([key]) => roots.has(key)));
        const scope = scopeOf(context);
        expect(expression.evaluate({ ...scope, context: kept })).toEqual(expression.evaluate(scope));
      }),
      { numRuns: runsFor(300) },
    );
  });
});

describe("a literal", () => {
  const quotes = ["'", '"'] as const;
  const written = (text: string, quote: string): string =>
    quote + text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`) + quote;

  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
    fc
      .array(
        fc.constantFrom("\\", "'", '"', "\n", "\r", "\u2028", "\u0000", "`", "${", "*/", "n", "u0041", "x"),
      )
      .map((parts) => parts.join("")),
  );

  it.each(quotes)("of text in %s is the very text that was written", (quote) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(compile(written(text, quote)).evaluate(scopeOf({}))).toBe(text);
      }),
      { numRuns: runsFor(500) },
    );
  });

  it.each(quotes)("of text in %s is equal to that text, in a list too, and to no longer one", (quote) => {
    fc.assert(
      fc.property(texts, (text) => {
        const literal = written(text, quote);
        const expression = compile(`[t == ${literal}, t in (${literal}), t + 'x' == ${literal}]`);
        expect(expression.evaluate(scopeOf({ t: text }))).toEqual([true, true, false]);
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("of a number is that very number", () => {
    const numbers = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.constantFrom(
        0,
        1e20,
        1e21,
        123456789012345680000,
        1e-6,
        1e-7,
        5e-324,
        Number.MAX_VALUE,
        2 ** 53 + 2,
      ),
    );
    fc.assert(
      fc.property(numbers, (drawn) => {
        // JavaScript writes both zeros as 0.
        const value = drawn + 0;
        expect(compile(`[${value}, n == ${value}]`).evaluate(scopeOf({ n: value }))).toEqual([value, true]);
      }),
      { numRuns: runsFor(500) },
    );
  });
});
