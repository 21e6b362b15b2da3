import { expect, it } from "vitest";
import { parseTraceId } from "../../src/serve/correlation.js";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";

it.each([`00-${trace}-${parent}-01`, `01-${trace}-${parent}-00`, `01-${trace}-${parent}-00-more`])(
  "finds the trace in %s",
  (text) => {
    expect(parseTraceId(text)).toBe(trace);
  },
);

it.each([
  undefined,
  7,
  "",
  "nonsense",
  `00-${trace}-${parent}`,
  `00-${trace}-${parent}-01-more`,
  `00-${trace}-${"0".repeat(16)}-01`,
  `00-${"0".repeat(32)}-${parent}-01`,
  `00-${trace.toUpperCase()}-${parent}-01`,
  `ff-${trace}-${parent}-01`,
  `01-${trace}-${parent}-00more`,
])("finds no trace id in %s", (text) => {
  expect(parseTraceId(text)).toBeUndefined();
});
