import { describe, expect, it } from "vitest";
import { Failure } from "../../src/expression/failure.js";
import { compileCondition, compileInput, compileTemplate } from "../../src/expression/template.js";
import type { Json } from "../../src/model/json.js";
import { refusalOf, scopeOf } from "./answers.js";

const context = {
  name: "Ada",
  total: 120,
  rate: 1.5e-7,
  paid: true,
  none: null,
  tags: ["vip", "early"],
  address: { zip: "10115", city: "Berlin" },
};

const rendered = (text: string): Json | Failure => compileTemplate(text).evaluate(scopeOf(context));

describe("a template that is one expression", () => {
  it.each([
    ["{{ total }}", 120],
    ["${ total }", 120],
    ["{{total}}", 120],
    ["${total}", 120],
    ["{{ paid }}", true],
    ["{{ none }}", null],
    ["{{ tags }}", ["vip", "early"]],
    ["{{ address }}", { zip: "10115", city: "Berlin" }],
    ["{{ total + 1 > 100 and paid }}", true],
    ["{{ name }}", "Ada"],
    ["{{\n  name\n}}", "Ada"],
  ])("%j keeps the type of its value", (text, value) => {
    expect(rendered(text)).toEqual(value);
  });
});

describe("a template within text", () => {
  it.each([
    ["Dear {{ name }}!", "Dear Ada!"],
    ["Dear ${ name }!", "Dear Ada!"],
    ["{{ name }}{{ total }}", "Ada120"],
    [" {{ total }}", " 120"],
    ["{{ total }} ", "120 "],
    ["{{ total }}/${ total }", "120/120"],
    ["is {{ paid }}, {{ none }}", "is true, null"],
    ["tags: {{ tags }}", 'tags: ["vip","early"]'],
    ["at {{ address }}", 'at {"city":"Berlin","zip":"10115"}'],
    ["rate {{ rate }}", "rate 1.5e-7"],
    ["{{ 'a' + \"b\" }}c", "abc"],
    ["a $ b { c } }} d", "a $ b { c } }} d"],
    ["costs $${ total }", "costs $120"],
    ["plain", "plain"],
    ["", ""],
  ])("%j is rendered as %j", (text, value) => {
    expect(rendered(text)).toBe(value);
  });

  it("is errored as a whole if one of its expressions is", () => {
    expect(rendered("{{ name }} has {{ nothing }}")).toEqual(new Failure("`nothing` is missing"));
  });

  it("renders objects the same whatever the order of their keys", () => {
    const text = compileTemplate("of {{ o }}");
    const values = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ].map((o) => text.evaluate(scopeOf({ o })));
    expect(values).toEqual(['of {"a":1,"b":2}', 'of {"a":1,"b":2}']);
  });
});

describe("brackets within quotes", () => {
  it.each([
    ["{{ 'a }} b' }}", "a }} b"],
    ['{{ "}}" }}', "}}"],
    ["${ '}' }", "}"],
    ["${ '}' + \"}\" }!", "}}!"],
    [String.raw`{{ 'it\'s }}' }}`, "it's }}"],
    [String.raw`{{ '\\' }}.`, "\\."],
    ["{{ '{{' }}", "{{"],
    ["{{ 'a' }}'}}{{ 'b' }}", "a'}}b"],
  ])("do not end the expression in %s", (text, value) => {
    expect(rendered(text)).toBe(value);
  });
});

describe("a template that does not compile", () => {
  it.each([
    ["never closed", "Dear {{ name", 5, "missing closing `}}`"],
    ["closed with one bracket only", "{{ name }", 0, "missing closing `}}`"],
    ["never closed after a dollar", "Dear ${ name", 5, "missing closing `}`"],
    ["closed only within quotes", "a {{ 'x }}", 2, "missing closing `}}`"],
    ["empty", "a {{ }} b", 5, "the expression is empty"],
    ["wrong in the middle", "Dear {{ name = 1 }}!", 13, "`=` is not an operator"],
    ["wrong in the second expression", "{{ name }} {{ lenght(tags) }}", 14, "there is no function `lenght`"],
    ["wrong after white space", "x ${   'open' + }", 15, "expected a value, got the end of the expression"],
    ["wrong alone", "{{ a = 1 }}", 5, "`=` is not an operator"],
  ])("because it is %s points into the whole text", (_why, text, at, message) => {
    expect(refusalOf(text, compileTemplate)).toMatchObject({ expression: text, at, message });
  });

  it("keeps the hint of the expression", () => {
    expect(refusalOf("a {{ lenght(x) }}", compileTemplate).hint).toBe("did you mean `length`?");
  });
});

describe("a condition", () => {
  it.each(["{{ a }} and {{ b }}", "${ a } == 1", "{{ a }}!"])(
    "is one expression and no text with some in it: %j",
    (text) => {
      expect(refusalOf(text, compileCondition)).toMatchObject({ expression: text, at: 0 });
    },
  );
});

describe("an input", () => {
  it.each([
    ["total + 1", 121],
    ["{{ total + 1 }}", 121],
    ["order-{{ total }}", "order-120"],
    ["{{ name }}-{{ total }}", "Ada-120"],
    ["name + '{{ }}'", "Ada{{ }}"],
  ])("can be an expression, or text with some in it: %j is %j", (text, value) => {
    expect(compileInput(text).evaluate(scopeOf({ name: "Ada", total: 120 }))).toBe(value);
  });
});

describe("a bare or wrapped condition", () => {
  it.each([
    ["total > 100", true],
    ["{{ total > 100 }}", true],
    ["${ total > 100 }", true],
    ["  {{ total > 100 }}\n", true],
    ["  total > 100  ", true],
    ["'{{ name }}'", "{{ name }}"],
    ["{{ total }}", 120],
  ])("can be bare or wrapped: %j is %j", (text, value) => {
    expect(compileCondition(text).evaluate(scopeOf(context))).toBe(value);
  });

  it.each([
    ["bare", "total = 1", 6],
    ["bare after white space", "  total = 1", 8],
    ["wrapped", "{{ total = 1 }}", 9],
    ["wrapped after white space", "  {{ total = 1 }}", 11],
  ])("that is wrong when %s points into the text as it was written", (_how, text, at) => {
    expect(refusalOf(text, compileCondition)).toMatchObject({ expression: text, at });
  });

  it.each([
    ["bare", "a == 1 and b", "logic"],
    ["wrapped", "{{ a == 1 and b }}", "logic"],
  ])("has its tree also when %s, for those who look into it", (_how, text, kind) => {
    expect(compileCondition(text).tree.kind).toBe(kind);
  });

  it("keeps the text as it was written, brackets included", () => {
    expect(compileCondition("{{ a }}").text).toBe("{{ a }}");
  });
});
