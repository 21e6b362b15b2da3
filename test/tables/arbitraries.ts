import fc from "fast-check";
import type { Cell, Test } from "../../src/tables/cell.js";
import { InvalidCell, toCell } from "../../src/tables/cell.js";
import type { Literal } from "../../src/expression/syntax.js";
import type { JsonObject } from "../../src/model/json.js";

/** Texts that look like something else, or that a spreadsheet would run. */
const oddTexts = fc.constantFrom(
  "",
  " ",
  "-",
  "--",
  "–",
  "5",
  "-5",
  "+5",
  "05",
  "5.",
  ".5",
  "1e5",
  "1e",
  "true",
  "False",
  "NULL",
  "1..5",
  "[1..5]",
  "a, b",
  "not(a)",
  "not a",
  "in (a)",
  "exists()",
  "=1+1",
  "+a",
  "@sum",
  "-a",
  "'quoted'",
  '"quoted"',
  "it's",
  "back\\slash",
  "\\'",
  "a\tb",
  "a\nb",
  "\ttab",
  "10.0.0.1",
  "10%",
  "2026-01-31",
  "2026-01-31T12:00:00Z",
  "date('2026-01-31')",
  "{{ n }}",
  "${ n }",
  '{"a":1}',
  "[1]",
  "größer",
  "漢字",
  "😀",
  "< 5",
  "default",
);

export const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "gold", "stage-x", "x y") },
  oddTexts,
  fc.string({ unit: "grapheme", maxLength: 6 }).filter((text) => !text.includes("\0")),
);

export const numbers: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.1, -0.5, 1e21, 1e-7, 123456789.125, Number.MAX_SAFE_INTEGER),
);

const literals: fc.Arbitrary<Literal> = fc.oneof(texts, numbers, fc.boolean(), fc.constant(null));

const instants = fc
  .constantFrom("2026-01-31", "2026-01-31T12:00:00Z", "2025-12-31T23:00:00.5+02:00")
  .map((instant) => ({ instant }));

const operators = fc.constantFrom("<", "<=", ">", ">=");

const bounds = fc.oneof(numbers, texts, instants);

const tests: fc.Arbitrary<Test> = fc.oneof(
  { weight: 3, arbitrary: literals.map((value): Test => ({ kind: "equals", value })) },
  instants.map((value): Test => ({ kind: "equals", value })),
  fc.tuple(operators, bounds).map(([operator, bound]): Test => ({ kind: "order", operator, bound })),
  fc
    .record({ from: bounds, fromOpen: fc.boolean(), to: bounds, toOpen: fc.boolean() })
    .map((range): Test => ({ kind: "range", ...range })),
  fc.boolean().map((negated): Test => ({ kind: "call", name: "exists", negated, args: [] })),
  fc
    .tuple(fc.constantFrom("contains", "starts_with", "ends_with"), texts, fc.boolean())
    .map(([name, text, negated]): Test => ({ kind: "call", name, negated, args: [text] })),
);

function valid(drawn: readonly Test[], negated: boolean): Cell | undefined {
  const [only, ...others] = drawn;
  if (negated && others.length === 0 && only?.kind === "call") return undefined;
  try {
    return toCell(drawn, negated);
  } catch (error) {
    if (error instanceof InvalidCell) return undefined;
    throw error;
  }
}

/** Every kind of cell that can be written. */
export const cells: fc.Arbitrary<Cell> = fc
  .tuple(fc.array(tests, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([drawn, negated]) => valid(drawn, negated))
  .filter((cell) => cell !== undefined);

const values = fc.oneof(
  literals,
  fc.constantFrom("2026-01-31", "2026-01-31T12:00:00Z", "2027-01-01"),
  fc.array(literals, { maxLength: 2 }),
);

/** Contexts with values of every type, near the bounds, or without some of them. */
export const contextsOf = (names: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.dictionary(fc.constantFrom(...names), values, { maxKeys: names.length, noNullPrototype: true });
