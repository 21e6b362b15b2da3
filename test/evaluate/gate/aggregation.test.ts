import { describe, expect, it } from "vitest";
import { aggregate, isPermissive } from "../../../src/evaluate/gate/aggregation.js";
import type { Status, Tier } from "../../../src/model/definition.js";

/** Written as `T2 10 RED`. */
function weighed(text: string) {
  const [tier, severity, status] = text.split(" ") as [Tier, string, Status];
  return { tier, severity: Number(severity), status, text };
}

describe("aggregation", () => {
  it.each<[string, readonly string[], Status, readonly string[]]>([
    ["nothing is YELLOW", [], "YELLOW", []],
    ["one rule decides", ["T3 1 GREEN"], "GREEN", ["T3 1 GREEN"]],
    ["the highest severity decides", ["T2 9 GREEN", "T2 8 RED"], "GREEN", ["T2 9 GREEN"]],
    ["the order is of no account", ["T2 8 RED", "T2 9 GREEN"], "GREEN", ["T2 9 GREEN"]],
    ["T3 counts like T2", ["T3 9 GREEN", "T2 8 RED"], "GREEN", ["T3 9 GREEN"]],
    ["RED over YELLOW", ["T2 5 YELLOW", "T2 5 RED"], "RED", ["T2 5 RED"]],
    ["YELLOW over GREEN-SKIP", ["T2 5 GREEN-SKIP", "T2 5 YELLOW"], "YELLOW", ["T2 5 YELLOW"]],
    ["GREEN-SKIP over GREEN", ["T2 5 GREEN", "T2 5 GREEN-SKIP"], "GREEN-SKIP", ["T2 5 GREEN-SKIP"]],
    ["equals decide together", ["T2 5 RED", "T3 5 RED", "T2 4 RED"], "RED", ["T2 5 RED", "T3 5 RED"]],
    ["T1 wins outright", ["T2 99 GREEN", "T1 1 YELLOW"], "YELLOW", ["T1 1 YELLOW"]],
    ["T1 wins over a worse T2", ["T2 99 RED", "T1 1 YELLOW"], "YELLOW", ["T1 1 YELLOW"]],
    ["the worst T1 wins", ["T1 9 YELLOW", "T1 1 RED"], "RED", ["T1 1 RED"]],
    [
      "the most severe of the worst T1",
      ["T1 2 RED", "T1 1 RED", "T1 2 RED"],
      "RED",
      ["T1 2 RED", "T1 2 RED"],
    ],
    ["severities may be negative", ["T2 -5 GREEN", "T2 -0.5 RED"], "RED", ["T2 -0.5 RED"]],
  ])("%s", (_clause, standing, status, deciding) => {
    const aggregated = aggregate(standing.map(weighed));
    expect(aggregated.status).toBe(status);
    expect(aggregated.deciding.map(({ text }) => text)).toEqual(deciding);
  });

  it.each<[Status, boolean]>([
    ["GREEN", true],
    ["GREEN-SKIP", true],
    ["YELLOW", false],
    ["RED", false],
  ])("%s lets the agent continue: %s", (status, permissive) => {
    expect(isPermissive(status)).toBe(permissive);
  });
});
