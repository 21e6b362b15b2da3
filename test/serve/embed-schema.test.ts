import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { compileContextSchema, invalidSchemaReason } from "../../src/definition/context-schema.js";
import type { JsonObject } from "../../src/model/json.js";
import { embedSchema } from "../../src/serve/embed-schema.js";

/** The schema as clients see it: part of the input schema of a tool, in 2020-12. */
function accepts(schema: JsonObject): (context: unknown) => boolean {
  const context = embedSchema(schema, "#/properties/context");
  const whole = { type: "object", properties: { context }, required: ["context"] };
  const ajv = new Ajv2020({ strict: false });
  const validate = ajv.compile(whole);
  return (given) => validate({ context: given });
}

const money = { type: "object", required: ["amount"], properties: { amount: { type: "number" } } };

const cases: readonly {
  readonly name: string;
  readonly schema: JsonObject;
  readonly good: readonly JsonObject[];
  readonly bad: readonly JsonObject[];
}[] = [
  {
    name: "without references",
    schema: money,
    good: [{ amount: 1 }],
    bad: [{}, { amount: "1" }],
  },
  {
    name: "with the name of its draft",
    schema: { $schema: "http://json-schema.org/draft-07/schema#", ...money },
    good: [{ amount: 1 }],
    bad: [{}],
  },
  {
    name: "with definitions that refer to each other",
    schema: {
      definitions: {
        money,
        pay: { properties: { due: { $ref: "#/definitions/money" } }, required: ["due"] },
      },
      allOf: [{ $ref: "#/definitions/pay" }],
    },
    good: [{ due: { amount: 1 } }],
    bad: [{}, { due: {} }, { due: { amount: "1" } }],
  },
  {
    name: "that refers to itself",
    schema: { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false },
    good: [{}, { next: { next: {} } }],
    bad: [{ next: { next: { other: 1 } } }, { next: 1 }],
  },
  {
    name: "that refers to one of its properties",
    schema: { properties: { a: { type: "string" }, b: { $ref: "#/properties/a" } } },
    good: [{ a: "x", b: "y" }],
    bad: [{ b: 1 }],
  },
  {
    name: "with names that a pointer must escape",
    schema: {
      definitions: { "a/b c~d": { type: "integer" } },
      properties: { n: { $ref: "#/definitions/a~1b%20c~0d" } },
    },
    good: [{ n: 1 }],
    bad: [{ n: "1" }],
  },
  {
    name: "with a URL of its own",
    schema: {
      $id: "https://acme.example/wire.json",
      definitions: { money },
      properties: {
        a: { $ref: "#/definitions/money" },
        b: { $ref: "https://acme.example/wire.json#/definitions/money" },
      },
    },
    good: [{ a: { amount: 1 }, b: { amount: 1 } }],
    bad: [{ a: {} }, { b: {} }],
  },
  {
    name: "with a part that has a URL of its own",
    schema: {
      properties: {
        part: {
          $id: "https://acme.example/part.json",
          definitions: { money },
          properties: { a: { $ref: "#/definitions/money" } },
        },
        same: { $ref: "https://acme.example/part.json" },
      },
    },
    good: [{ part: { a: { amount: 1 } }, same: { a: { amount: 1 } } }],
    bad: [{ part: { a: {} } }, { same: { a: {} } }],
  },
  {
    name: "with a name for a part",
    schema: { definitions: { m: { $id: "#money", ...money } }, properties: { a: { $ref: "#money" } } },
    good: [{ a: { amount: 1 } }],
    bad: [{ a: {} }],
  },
  {
    name: "with tuples, and references into them",
    schema: {
      properties: {
        pair: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false },
        more: { type: "array", items: [{ type: "string" }], additionalItems: { type: "number" } },
        like: { $ref: "#/properties/pair/items/1" },
        rest: { $ref: "#/properties/more/additionalItems" },
      },
    },
    good: [{ pair: ["a", 1], more: ["a", 1, 2], like: 1, rest: 2 }],
    bad: [{ pair: [1] }, { pair: ["a", 1, 2] }, { more: ["a", "b"] }, { like: "a" }, { rest: "a" }],
  },
  {
    name: "with lists whose items are all alike",
    schema: {
      definitions: { name: { type: "string" } },
      properties: { names: { type: "array", items: { $ref: "#/definitions/name" } } },
    },
    good: [{ names: ["a"] }],
    bad: [{ names: [1] }],
  },
  {
    name: "with keys that depend on others",
    schema: {
      definitions: { money },
      dependencies: { a: ["b"], c: { required: ["d"] }, e: { $ref: "#/definitions/money" } },
      properties: { f: { $ref: "#/dependencies/c" } },
    },
    good: [{ a: 1, b: 1 }, { c: 1, d: 1 }, { e: 1, amount: 1 }, { f: { d: 1 } }],
    bad: [{ a: 1 }, { c: 1 }, { e: 1 }, { f: {} }],
  },
  {
    name: "with conditions",
    schema: {
      definitions: { big: { properties: { n: { minimum: 10 } }, required: ["n"] } },
      if: { $ref: "#/definitions/big" },
      then: { required: ["why"] },
      else: { not: { required: ["why"] } },
    },
    good: [{ n: 11, why: "x" }, { n: 1 }],
    bad: [{ n: 11 }, { n: 1, why: "x" }],
  },
  {
    name: "with values that look like references",
    schema: {
      properties: {
        $ref: { const: { $ref: "#/definitions/x" } },
        kind: { enum: [{ items: [1] }, { definitions: 1 }], default: { $ref: "#" } },
      },
    },
    good: [{ $ref: { $ref: "#/definitions/x" }, kind: { items: [1] } }],
    bad: [{ $ref: { $ref: "#/properties/context/$defs/x" } }, { kind: { prefixItems: [1] } }],
  },
];

describe("a context schema", () => {
  it.each(cases)("$name means the same when embedded", ({ schema, good, bad }) => {
    expect(invalidSchemaReason(schema)).toBeUndefined();
    const before = compileContextSchema(schema);
    const now = accepts(schema);
    for (const each of good) expect([before(each), now(each)], JSON.stringify(each)).toEqual([[], true]);
    for (const each of bad) {
      expect([before(each).length > 0, now(each)], JSON.stringify(each)).toEqual([true, false]);
    }
  });
});
