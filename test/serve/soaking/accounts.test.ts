import { describe, expect, it } from "vitest";
import type { Exchange } from "./accounts.js";
import { exchangeOf, faultsOfLog } from "./accounts.js";
import { requestMix } from "./request-mix.js";

const answered: Exchange = {
  name: "decide",
  correlationId: "c-1",
  outcome: 200,
  records: ["r-1"],
  phase: "serving",
};
const refused: Exchange = { ...answered, outcome: 400, records: [] };
const cut: Exchange = { ...refused, outcome: "cut", phase: "ending" };
const kept = { record_id: "r-1", correlation_id: "c-1" };

describe("the accounting of a soak test", () => {
  it.each([
    { name: "an answer with its record", exchange: answered, log: [kept], faults: 0 },
    { name: "a refusal without one", exchange: refused, log: [], faults: 0 },
    {
      name: "a decision without an answer before a crash",
      exchange: { ...cut, phase: "killed" },
      log: [kept],
      faults: 0,
    },
    { name: "an answer without a record", exchange: answered, log: [], faults: 1 },
    { name: "an answer with its record twice", exchange: answered, log: [kept, kept], faults: 1 },
    { name: "a refusal with a record", exchange: refused, log: [kept], faults: 1 },
    { name: "a decision without an answer before a shutdown", exchange: cut, log: [kept], faults: 1 },
    {
      name: "a record without a request",
      exchange: answered,
      log: [kept, { ...kept, correlation_id: "c-2" }],
      faults: 1,
    },
    {
      name: "a record that no command reported",
      exchange: answered,
      log: [kept, { record_id: "r-2" }],
      faults: 1,
    },
  ] as const)("find $faults faults with $name", ({ exchange, log, faults }) => {
    expect(faultsOfLog([exchange], log, [])).toHaveLength(faults);
  });

  it("find fault with an answer that is unexpected, names no record or never comes", () => {
    const [asked] = requestMix;
    const about = { correlationId: "c-1", phase: "serving" } as const;
    const faultOf = (heard: Parameters<typeof exchangeOf>[1]): string | undefined =>
      exchangeOf(asked!, heard, about).fault;
    expect(faultOf({ status: 200, body: '{"record_id":"r-1"}' })).toBeUndefined();
    expect(faultOf({ status: 503, body: "" })).toBeUndefined();
    expect(faultOf({ status: 500, body: "" })).toContain("500");
    expect(faultOf({ status: 200, body: "{}" })).toContain("200");
    expect(faultOf("cut")).toContain("cut");
  });
});
