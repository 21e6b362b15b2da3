import { describe, expect, it } from "vitest";
import { compileEventMap } from "../../src/decide/event-map.js";
import { DecisionError } from "../../src/errors.js";

const event = {
  kind: "prompt",
  size: 120,
  draft: false,
  tags: ["a", "b"],
  by: { name: "Ada" },
  none: null,
};

describe("the context that a map makes of an event", () => {
  it.each([
    ["a value keeps its type", { n: "{{ size }}", d: "{{ draft }}" }, { n: 120, d: false }],
    ["a list and an object too", { t: "{{ tags }}", b: "{{ by }}" }, { t: ["a", "b"], b: { name: "Ada" } }],
    ["null is a value", { n: "{{ none }}" }, { n: null }],
    ["text is rendered", { t: "{{ kind }} by {{ by.name }}" }, { t: "prompt by Ada" }],
    ["objects are nested", { a: { b: { c: "{{ kind }}" } } }, { a: { b: { c: "prompt" } } }],
    ["lists are filled", { l: ["{{ kind }}", 1, ["{{ size }}"]] }, { l: ["prompt", 1, [120]] }],
    ["all else stays", { a: 1, b: null, c: true, d: "text" }, { a: 1, b: null, c: true, d: "text" }],
    ["nothing comes of nothing", {}, {}],
    ["keys are no templates", { "{{ kind }}": 1 }, { "{{ kind }}": 1 }],
    ["the whole is `event`", { e: "{{ event }}" }, { e: event }],
    ["and can be looked into", { n: "{{ event.by.name }}" }, { n: "Ada" }],
    ["exists() asks", { a: "{{ exists(by) }}", b: "{{ exists(nobody) }}" }, { a: true, b: false }],
    ["get() has a fallback", { a: "{{ get(by, 'team', 'none') }}" }, { a: "none" }],
    ["also for a key of the event", { a: "{{ get(event, 'nobody', 'none') }}" }, { a: "none" }],
    ["a choice", { a: "{{ if exists(nobody) then nobody else kind }}" }, { a: "prompt" }],
  ])("%s: %j", (_what, map, context) => {
    expect(compileEventMap(map)(event)).toEqual(context);
  });

  it("has the values of each event, and nothing of the one before", () => {
    const map = compileEventMap({ k: "{{ kind }}", more: "{{ size + 1 }}" });
    expect(map({ kind: "a", size: 1 })).toEqual({ k: "a", more: 2 });
    expect(map({ kind: "b", size: 2 })).toEqual({ k: "b", more: 3 });
    expect(() => map({ kind: "c" })).toThrow("`size` is missing");
    expect(map({ kind: "d", size: 4 })).toEqual({ k: "d", more: 5 });
  });
});

describe("the names of an event", () => {
  it("`event` is its own key where it has one, and `context` the whole", () => {
    const map = compileEventMap({ name: "{{ event }}", all: "{{ context }}" });
    const change = { event: "file_change", path: "a.md" };
    expect(map(change)).toEqual({ name: "file_change", all: change });
    expect(map({ event: null })).toEqual({ name: null, all: { event: null } });
  });

  it.each(["input", "facts", "system", "context", "event"])("`%s` is a key like any other", (name) => {
    const map = compileEventMap({ value: `{{ ${name} }}` });
    expect(map({ [name]: "own" })).toEqual({ value: "own" });
  });

  it.each(["input", "facts", "system"])("`%s` is missing where the event has no such key", (name) => {
    expect(() => compileEventMap({ value: `{{ ${name} }}` })({})).toThrow(`\`${name}\` is missing`);
    expect(compileEventMap({ value: `{{ exists(${name}) }}` })({})).toEqual({ value: false });
  });

  it.each([["a text"], [7], [["a", "list"]], [null], [true]])(
    "an event that is no object is `event`: %j",
    (value) => {
      expect(compileEventMap({ given: "{{ event }}" })(value)).toEqual({ given: value });
    },
  );

  it("are its own keys only", () => {
    const map = compileEventMap({ a: "{{ exists(toString) }}", b: "{{ exists(hasOwnProperty) }}" });
    expect(map({})).toEqual({ a: false, b: false });
  });
});

function refusal(attempt: () => unknown): DecisionError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof DecisionError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("a map that cannot be used", () => {
  it.each([
    [[], "the map must be a JSON object (got a list)"],
    ["{{ event }}", "the map must be a JSON object (got a string)"],
    [null, "the map must be a JSON object (got null)"],
    [nested(200), "the map cannot be used: it is nested deeper than 128"],
  ])("because it is of the wrong shape", (map, message) => {
    expect(refusal(() => compileEventMap(map))).toMatchObject({ code: "input_invalid", message });
  });

  it("because of a template tells where in the map and where in the text", () => {
    const map = { artifact: { kinds: ["ok", "a {{ lenght(kind) }}"] } };
    expect(refusal(() => compileEventMap(map))).toMatchObject({
      code: "input_invalid",
      message: "the map cannot be used at `/artifact/kinds/1`: there is no function `lenght`",
      hint: "did you mean `length`?",
      details: { pointer: "/artifact/kinds/1", at: 5, excerpt: "a {{ lenght(kind) }}\n     ^" },
    });
  });
});

describe("an event that the map cannot be filled from", () => {
  it.each([
    ["lacks a key", {}, "`kind` is missing"],
    ["has another type there", { kind: 1 }, "`+` needs two numbers or two texts, got a number and text"],
  ])("because it %s is told with the place in the map", (_why, given, why) => {
    const map = compileEventMap({ artifact: { type: "{{ kind + '!' }}" } });
    expect(refusal(() => map(given))).toMatchObject({
      code: "input_invalid",
      message: `the map has no value for \`/artifact/type\`: ${why}`,
      details: { pointer: "/artifact/type" },
    });
  });

  it("because JSON could not carry it is refused before the map is asked", () => {
    const map = compileEventMap({ text: "of {{ event }}" });
    expect(refusal(() => map(nested(100_000))).message).toBe(
      "the event cannot be used: it is nested deeper than 128",
    );
    expect(refusal(() => map({ a: Infinity })).message).toBe(
      "the event cannot be used: `Infinity` is not a JSON number",
    );
  });
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}
