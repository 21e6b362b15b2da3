import { describe, expect, it } from "vitest";
import type { Verdict } from "../../src/enrichment/circuit-breaker.js";
import { admitThroughCircuit, applyVerdict } from "../../src/enrichment/circuit-breaker.js";
import type { EndpointState } from "../../src/enrichment/endpoint-state.js";
import { parseState, initialState } from "../../src/enrichment/endpoint-state.js";

const limits = { failureThreshold: 3, openFor: 1000, successThreshold: 2, probeFor: 100 };
const open: EndpointState = { circuit: "OPEN", failures: 3, successes: 0, opened_at: 5000 };
const half: EndpointState = { ...open, circuit: "HALF_OPEN" };

describe("a circuit", () => {
  it.each([
    {
      name: "admits every fetch while closed",
      state: initialState,
      now: 5000,
      admitted: { state: initialState },
    },
    { name: "refuses fetches once it is open", state: open, now: 5000, admitted: { openUntil: 6000 } },
    { name: "refuses fetches until its time is over", state: open, now: 5999, admitted: { openUntil: 6000 } },
    {
      name: "admits a probe when its time is over",
      state: open,
      now: 6000,
      admitted: { state: { ...half, probe_until: 6100 }, probe: 6100 },
    },
    {
      name: "refuses other fetches during a probe",
      state: { ...half, probe_until: 6100 },
      now: 6099,
      admitted: { openUntil: 6100 },
    },
    {
      name: "gives up a probe without a result",
      state: { ...half, probe_until: 6100, successes: 1 },
      now: 6100,
      admitted: { state: { ...half, probe_until: 6200, successes: 1 }, probe: 6200 },
    },
    {
      name: "admits the next probe after one success of several needed",
      state: { ...half, successes: 1 },
      now: 6050,
      admitted: { state: { ...half, successes: 1, probe_until: 6150 }, probe: 6150 },
    },
    {
      name: "stays open for a process whose clock is slightly behind",
      state: open,
      now: 4990,
      admitted: { openUntil: 6000 },
    },
    {
      name: "does not stay open longer after the clock was set back",
      state: open,
      now: 4000,
      admitted: { state: { ...half, probe_until: 4100 }, probe: 4100 },
    },
    {
      name: "ignores a probe from before the clock was set back",
      state: { ...half, probe_until: 6100 },
      now: 5000,
      admitted: { state: { ...half, probe_until: 5100 }, probe: 5100 },
    },
  ])("$name", ({ state, now, admitted }) => {
    expect(admitThroughCircuit(state, limits, now)).toEqual(admitted);
  });

  const trying = { ...half, probe_until: 6100 };
  const cases: readonly {
    readonly name: string;
    readonly state: EndpointState;
    readonly verdict: Verdict;
    readonly probe?: number;
    readonly after: EndpointState;
  }[] = [
    {
      name: "counts consecutive failures",
      state: { ...initialState, failures: 1 },
      verdict: "failure",
      after: { ...initialState, failures: 2 },
    },
    {
      name: "resets the count after a success",
      state: { ...initialState, failures: 2 },
      verdict: "success",
      after: initialState,
    },
    {
      name: "ignores a fetch that was refused before it was sent",
      state: { ...initialState, failures: 2 },
      verdict: "neither",
      after: { ...initialState, failures: 2 },
    },
    {
      name: "opens at the failure threshold",
      state: { ...initialState, failures: 2 },
      verdict: "failure",
      after: { ...open, opened_at: 6050 },
    },
    { name: "ignores late failures while open", state: open, verdict: "failure", after: open },
    { name: "ignores late successes while open", state: open, verdict: "success", after: open },
    {
      name: "counts only the probe while half open",
      state: trying,
      verdict: "failure",
      after: trying,
    },
    {
      name: "ignores a probe that was given up",
      state: trying,
      verdict: "success",
      probe: 6000,
      after: trying,
    },
    {
      name: "counts successful probes",
      state: trying,
      verdict: "success",
      probe: 6100,
      after: { ...half, successes: 1 },
    },
    {
      name: "closes at the success threshold",
      state: { ...trying, successes: 1 },
      verdict: "success",
      probe: 6100,
      after: initialState,
    },
    {
      name: "opens again when a probe fails",
      state: { ...trying, successes: 1 },
      verdict: "failure",
      probe: 6100,
      after: { ...open, failures: 4, opened_at: 6050 },
    },
    {
      name: "admits another probe after one that was not sent",
      state: { ...trying, successes: 1 },
      verdict: "neither",
      probe: 6100,
      after: { ...half, successes: 1 },
    },
  ];
  it.each(cases)("$name", ({ state, verdict, probe, after }) => {
    expect(applyVerdict(state, { verdict, probe }, { settings: limits, now: 6050 })).toEqual(after);
  });

  it("keeps sent requests and the last fetch", () => {
    const beside = { sent: [1, 2], last: { at: "then", milliseconds: 3 } };
    const closed = applyVerdict(
      { ...trying, successes: 1, ...beside },
      { verdict: "success", probe: 6100 },
      { settings: limits, now: 6050 },
    );
    expect(closed).toEqual({ ...initialState, ...beside });
  });
});

describe("a stored state", () => {
  const state = { circuit: "OPEN", failures: 3, successes: 0, opened_at: 5000, sent: [1, 2] };

  it("is used as it is", () => {
    expect(parseState(state)).toBe(state);
  });

  it.each([
    { name: "nothing", value: undefined },
    { name: "a list", value: [1] },
    { name: "an unknown circuit", value: { ...state, circuit: "AJAR" } },
    { name: "a count below zero", value: { ...state, failures: -1 } },
    { name: "a count that is not a number", value: { ...state, successes: "2" } },
    { name: "a time that is not a number", value: { ...state, opened_at: "now" } },
    { name: "slots that are not a list", value: { ...state, sent: 5 } },
    { name: "slots that are not numbers", value: { ...state, sent: [1, null] } },
  ])("counts as the initial state where it is $name", ({ value }) => {
    expect(parseState(value)).toBe(initialState);
  });
});
