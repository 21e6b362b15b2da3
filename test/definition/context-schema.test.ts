import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileContextSchema, invalidSchemaReason } from "../../src/definition/context-schema.js";
import type { Json, JsonObject } from "../../src/model/json.js";

const issues = (schema: JsonObject, context: JsonObject) => compileContextSchema(schema)(context);
const messages = (schema: JsonObject, context: JsonObject): readonly string[] =>
  issues(schema, context).map(({ message }) => message);

/** What a schema for `a` says of a value. */
const ofA = (schema: Json, a: Json): readonly string[] => messages({ properties: { a: schema } }, { a });

describe("a context", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    required: ["amount", "payee"],
    properties: {
      amount: { type: "number", minimum: 0 },
      payee: { type: "object", required: ["country"], properties: { country: { type: "string" } } },
    },
  };

  it("that fits has no violations", () => {
    expect(issues(schema, { amount: 1, payee: { country: "DE" }, more: true })).toEqual([]);
  });

  it("without a required value is reported with its path", () => {
    expect(issues(schema, { payee: {} })).toEqual([
      { path: "", message: "`amount` is missing", missing: "amount" },
      { path: "payee", message: "`payee.country` is missing", missing: "payee.country" },
    ]);
  });

  it("is reported with every invalid value", () => {
    expect(issues(schema, { amount: "5", payee: { country: 1 } })).toEqual([
      { path: "amount", message: "`amount` must be a number (got text)" },
      { path: "payee.country", message: "`payee.country` must be text (got 1)" },
    ]);
  });

  it("does not have what only its prototype has", () => {
    expect(messages({ required: ["toString", "constructor"] }, {})).toEqual([
      "`toString` is missing",
      "`constructor` is missing",
    ]);
    expect(messages({ properties: { constructor: { type: "string" } } }, {})).toEqual([]);
  });

  it("may hold keys with slashes, tildes and dots", () => {
    const odd = { properties: { "a/b": { properties: { "c~d": { type: "null" } } } } };
    expect(issues(odd, { "a/b": { "c~d": 1 } })).toEqual([
      { path: "a/b.c~d", message: "`a/b.c~d` must be null (got 1)" },
    ]);
  });

  it("with more than a hundred violations is reported with their number", () => {
    const list = { properties: { list: { items: { type: "number" } } } };
    const told = messages(list, { list: Array.from({ length: 120 }, () => "x") });
    expect([told.length, told.at(0), told.at(-1)]).toEqual([
      101,
      "`list.0` must be a number (got text)",
      "and 20 more",
    ]);
  });

  it("nested too deeply for its schema does not fit", () => {
    let deep: JsonObject = {};
    for (let level = 0; level < 50_000; level++) deep = { a: deep };
    expect(messages({ properties: { a: { $ref: "#" } } }, deep)).toEqual([
      "the context is nested too deeply to be checked",
    ]);
  });
});

describe("a violation", () => {
  it.each<[string, Json, Json, string | undefined]>([
    ["type", { type: "integer" }, 1.5, "`a` must be a whole number (got 1.5)"],
    ["type", { type: "boolean" }, "x", "`a` must be true or false (got text)"],
    ["type", { type: ["string", "null"] }, [], "`a` must be text or null (got a list)"],
    ["type", { type: "array" }, null, "`a` must be a list (got null)"],
    ["nullable", { type: "integer", nullable: true }, null, undefined],
    ["enum", { enum: ["x", 1, null] }, "y", '`a` must be one of `x`, `1`, `null` (got "y")'],
    ["const", { const: { b: 1 } }, 2, '`a` must be `{"b":1}` (got 2)'],
    ["minimum", { minimum: 0 }, -5, "`a` must be at least 0 (got -5)"],
    ["maximum", { maximum: 9 }, 10, "`a` must be at most 9 (got 10)"],
    ["exclusiveMinimum", { exclusiveMinimum: 0 }, 0, "`a` must be more than 0 (got 0)"],
    ["exclusiveMaximum", { exclusiveMaximum: 9 }, 9, "`a` must be less than 9 (got 9)"],
    ["multipleOf", { multipleOf: 0.01 }, 1.005, "`a` must be a multiple of 0.01 (got 1.005)"],
    ["multipleOf", { multipleOf: 0.01 }, 19.99, undefined],
    ["minLength", { minLength: 1 }, "", '`a` must not be empty (got "")'],
    ["minLength", { minLength: 3 }, "ab", '`a` must have at least 3 characters (got "ab")'],
    ["maxLength", { maxLength: 1 }, "ab", '`a` must have at most 1 character (got "ab")'],
    ["minItems", { minItems: 1 }, [], "`a` must not be empty (got a list)"],
    ["minItems", { minItems: 2 }, [1], "`a` must have at least 2 items (got a list)"],
    ["maxItems", { maxItems: 2 }, [1, 2, 3], "`a` must have at most 2 items (got a list)"],
    ["items", { items: [{}], additionalItems: false }, [1, 2], "`a` must have at most 1 item (got a list)"],
    ["minProperties", { minProperties: 1 }, {}, "`a` must not be empty (got an object)"],
    ["minProperties", { minProperties: 2 }, {}, "`a` must have at least 2 keys (got an object)"],
    ["maxProperties", { maxProperties: 0 }, { b: 1 }, "`a` must have at most 0 keys (got an object)"],
    [
      "uniqueItems",
      { uniqueItems: true },
      [{ b: 1 }, { b: 1 }],
      "`a` must not hold anything twice (got a list)",
    ],
    ["uniqueItems", { uniqueItems: true }, [1, "1", true], undefined],
    ["uniqueItems", { uniqueItems: false }, [1, 1], undefined],
    ["contains", { contains: { type: "number" } }, ["x"], "`a` must hold an item that fits (got a list)"],
    ["pattern", { pattern: "^x+$" }, "y", '`a` must match `^x+$` (got "y")'],
    ["format", { format: "email" }, "y", '`a` must be an e-mail address (got "y")'],
    ["false", false, 1, "`a` is not allowed"],
    ["not", { not: { type: "string" } }, "x", "`a` is what the schema rules out"],
    ["anyOf", { anyOf: [{ type: "string" }, { type: "null" }] }, 1, "`a` must fit one of the alternatives"],
    ["oneOf", { oneOf: [{}, { type: "number" }] }, 1, "`a` must fit exactly one of the alternatives"],
    ["propertyNames", { propertyNames: { pattern: "^x" } }, { y: 1 }, "`y` is no key that `a` may have"],
    ["additionalProperties", { additionalProperties: false }, { b: 1 }, "unknown key `b` in `a`"],
    ["if", { if: { minimum: 5 }, then: { maximum: 9 } }, 10, "`a` must be at most 9 (got 10)"],
  ])("of %s is worded", (_keyword, schema, value, message) => {
    expect(ofA(schema, value)).toEqual(message === undefined ? [] : [message]);
  });

  it.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ["an unknown key", { additionalProperties: false }, { b: 1 }, ["unknown key `b`"]],
    ["a dependency", { dependencies: { a: ["b"] } }, { a: 1 }, ["`b` is missing, as `a` is given"]],
    ["the whole", { minProperties: 1 }, {}, ["the context must not be empty (got an object)"]],
    [
      "alternatives that ask for different keys",
      { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      {},
      ["`a` is missing", "`b` is missing", "the context must fit one of the alternatives"],
    ],
  ])("of %s is worded", (_what, schema, context, expected) => {
    expect(messages(schema, context)).toEqual(expected);
  });

  it("never shows a long value", () => {
    expect(ofA({ maxLength: 3 }, "s".repeat(61))).toEqual([
      "`a` must have at most 3 characters (got text of 61 characters)",
    ]);
  });

  it("shows only the beginning of a long list", () => {
    const told = ofA({ enum: Array.from({ length: 50 }, (_, index) => index) }, -1);
    expect(told).toEqual(["`a` must be one of `0`, `1`, `2`, `3`, `4`, `5`, `6`, `7`, `8`, `9`, … (got -1)"]);
  });

  it("shows only the beginning of a long key", () => {
    const told = messages({ additionalProperties: false }, { ["k".repeat(100)]: 1 });
    expect(told).toEqual([`unknown key \`${"k".repeat(59)}…\``]);
  });
});

describe("a format", () => {
  it.each([
    ["date-time", "2026-03-02T12:00:00Z", true],
    ["date-time", "2026-03-02T12:00:00.5+01:00", true],
    ["date-time", "2026-03-02", false],
    ["date-time", "2026-02-30T12:00:00Z", false],
    ["date", "2026-03-02", true],
    ["date", "2026-02-30", false],
    ["date", "2026-03-02T12:00:00Z", false],
    ["email", "ann@mail.example.org", true],
    ["email", "ann@example", false],
    ["email", "ann@ex ample.org", false],
    ["email", "a@b@c.org", false],
    ["uri", "https://example.org/a?b=c#d", true],
    ["uri", "urn:x:y", true],
    ["uri", "/a/b", false],
    ["uri", "http://a b", false],
    ["uuid", "0199A0b2-0000-7000-8000-00000000000f", true],
    ["uuid", "0199a0b2000070008000000000000000", false],
  ])("%s takes %s: %s", (format, text, fits) => {
    expect(ofA({ format }, text)).toHaveLength(fits ? 0 : 1);
  });
});

describe("a pattern", () => {
  it("is distinguished from the other patterns of its schema", () => {
    const schema = { properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } };
    expect(messages(schema, { a: "a", b: "b" })).toEqual([]);
    expect(messages(schema, { a: "b", b: "b" })).toEqual(['`a` must match `^a$` (got "b")']);
  });

  it("runs in linear time, also where it names keys", () => {
    const evil = "^(a+)+$";
    const text = `${"a".repeat(10_000)}!`;
    const schema = {
      properties: { t: { pattern: evil } },
      patternProperties: { [evil]: { type: "string" } },
      propertyNames: { anyOf: [{ const: "t" }, { pattern: evil }] },
    };
    const started = performance.now();
    expect(messages(schema, { t: text, [text]: 1 })).toHaveLength(2);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it.each<[string, Json]>([
    ["a pattern", { pattern: "(a|b)*c" }],
    ["no pattern", { not: { pattern: "(a|b)*c" } }],
  ])(
    "does not let a text pass that is too long to be searched, where the schema asks for %s",
    (_what, schema) => {
      const told = ofA(schema, "x".repeat(5_000_000));
      expect(told.at(-1)).toBe("a text is too long to be searched for `(a|b)*c`");
    },
  );
});

describe("an invalid schema", () => {
  it.each<[string, unknown, string | undefined]>([
    [
      "nothing wrong",
      { type: "object", properties: { a: { type: ["string", "null"], format: "uuid" } } },
      undefined,
    ],
    ["a recursive one", { properties: { a: { $ref: "#" } } }, undefined],
    [
      "one with definitions",
      { definitions: { n: { minimum: 1 } }, properties: { a: { $ref: "#/definitions/n" } } },
      undefined,
    ],
    ["annotations", { title: "t", description: "d", default: 1, examples: [1], $comment: "c" }, undefined],
    [
      "a property beside a pattern for it",
      { properties: { a: {} }, patternProperties: { "^a": {} } },
      undefined,
    ],
    ["a list", [], "the schema must be an object (got a list)"],
    ["a text", "x", "the schema must be an object (got text)"],
    ["null", null, "the schema must be an object (got null)"],
    [
      "another draft",
      { $schema: "https://json-schema.org/draft/2020-12/schema" },
      "`$schema` must be `http://json-schema.org/draft-07/schema#`",
    ],
    [
      "a draft that is no text",
      { $schema: 7 },
      "`$schema` must be `http://json-schema.org/draft-07/schema#`",
    ],
    ["an asynchronous one", { $async: true }, "unknown keyword `$async`"],
    ["an unknown keyword", { requird: ["a"] }, "unknown keyword `requird`, did you mean `required`?"],
    ["an unknown keyword like no other", { properties: { a: { zzzzzz: 1 } } }, "unknown keyword `zzzzzz`"],
    [
      "an unknown type",
      { properties: { a: { type: "nmber" } } },
      '`properties.a.type` must be one of `array`, `boolean`, `integer`, `null`, `number`, `object`, `string` (got "nmber")',
    ],
    [
      "two things",
      { minLength: -1, required: [1] },
      "`minLength` must be at least 0 (got -1); `required.0` must be text (got 1)",
    ],
    [
      "an unknown format",
      { format: "ipv4" },
      "unknown format `ipv4`, supported are `date-time`, `date`, `email`, `uri`, `uuid`",
    ],
    ["a bad pattern", { pattern: "(" }, "`(` is not a supported pattern: missing closing ): `(`"],
    [
      "a remote reference",
      { $ref: "http://x.example/y" },
      "`$ref: http://x.example/y` cannot be resolved: it must refer to a part of the schema",
    ],
    [
      "a reference to nothing",
      { $ref: "#/nope" },
      "`$ref: #/nope` cannot be resolved: it must refer to a part of the schema",
    ],
    ["a schema that is nothing but itself", { $ref: "#" }, "the schema refers to itself endlessly"],
    ["an if alone", { if: {} }, "`if` without `then` and `else` is ignored"],
    [
      "a prototype",
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
      "`__proto__` cannot be a key of the schema",
    ],
  ])("is explained: %s", (_what, schema, reason) => {
    expect(invalidSchemaReason(schema)).toBe(reason);
  });
});

describe("the first contexts, which ajv does not check", () => {
  const scalar = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.constantFrom("", "a", "ab", "😀", "1"),
    fc.boolean(),
  );
  const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      scalar,
      fc.constant(null),
      fc.constant(0.5),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  const types = ["object", "array", "string", "number", "integer", "boolean", "null"];
  const bound = fc.integer({ min: -2, max: 3 });
  const length = fc.integer({ min: 0, max: 3 });
  const schemaOf = (inner: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> => {
    const keywords: Readonly<Record<string, fc.Arbitrary<Json>>> = {
      type: fc.oneof(fc.constantFrom(...types), fc.uniqueArray(fc.constantFrom(...types), { minLength: 1 })),
      enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }),
      const: value,
      minimum: bound,
      maximum: bound,
      exclusiveMinimum: bound,
      exclusiveMaximum: bound,
      multipleOf: fc.constantFrom(2, 0.5),
      minLength: length,
      maxLength: length,
      pattern: fc.constantFrom("^a", "b$"),
      required: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 2 }),
      properties: fc.dictionary(fc.constantFrom("a", "b"), inner, { maxKeys: 2, noNullPrototype: true }),
      patternProperties: fc.constant({ "^c": { type: "string" } }),
      additionalProperties: fc.oneof(fc.boolean(), inner),
      items: inner,
      minItems: length,
      maxItems: length,
      uniqueItems: fc.boolean(),
      not: inner,
      title: fc.constant("t"),
    };
    const pairs = Object.entries(keywords).map(([key, arbitrary]) =>
      arbitrary.map((each) => [key, each] as const),
    );
    return fc.array(fc.oneof(...pairs), { maxLength: 4 }).map((chosen) => Object.fromEntries(chosen));
  };
  const schema = schemaOf(schemaOf(schemaOf(fc.boolean())));

  it("fit exactly if they fit for ajv", () => {
    let fitting = 0;
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (inner, values) => {
        const outer = { properties: { v: inner } };
        fc.pre(invalidSchemaReason(outer) === undefined);
        const later = compileContextSchema(outer);
        for (let times = 0; times < 30; times++) later({});
        for (const v of values) {
          const expected = later({ v });
          if (expected.length === 0) fitting++;
          expect(compileContextSchema(outer)({ v })).toEqual(expected);
        }
      }),
      { numRuns: 300 },
    );
    expect(fitting).toBeGreaterThan(100);
  });
});
