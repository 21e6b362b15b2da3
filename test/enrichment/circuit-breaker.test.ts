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
      name: "lets anybody in while it is closed",
      state: initialState,
      now: 5000,
      admitted: { state: initialState },
    },
    { name: "lets nobody in when it has opened", state: open, now: 5000, admitted: { openUntil: 6000 } },
    { name: "lets nobody in as long as it is open", state: open, now: 5999, admitted: { openUntil: 6000 } },
    {
      name: "lets one try when it was open long enough",
      state: open,
      now: 6000,
      admitted: { state: { ...half, probe_until: 6100 }, probe: 6100 },
    },
    {
      name: "lets nobody else try meanwhile",
      state: { ...half, probe_until: 6100 },
      now: 6099,
      admitted: { openUntil: 6100 },
    },
    {
      name: "gives one up who never comes back",
      state: { ...half, probe_until: 6100, successes: 1 },
      now: 6100,
      admitted: { state: { ...half, probe_until: 6200, successes: 1 }, probe: 6200 },
    },
    {
      name: "lets the next one try after a success that is not enough",
      state: { ...half, successes: 1 },
      now: 6050,
      admitted: { state: { ...half, successes: 1, probe_until: 6150 }, probe: 6150 },
    },
    {
      name: "stays open for one whose clock is a little behind",
      state: open,
      now: 4990,
      admitted: { openUntil: 6000 },
    },
    {
      name: "does not stay open for as long as the clock was set back",
      state: open,
      now: 4000,
      admitted: { state: { ...half, probe_until: 4100 }, probe: 4100 },
    },
    {
      name: "does not wait for one who began before the clock was set back",
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
      name: "counts failures in a row",
      state: { ...initialState, failures: 1 },
      verdict: "failure",
      after: { ...initialState, failures: 2 },
    },
    {
      name: "forgets them with a success",
      state: { ...initialState, failures: 2 },
      verdict: "success",
      after: initialState,
    },
    {
      name: "takes what was refused before it was sent for neither",
      state: { ...initialState, failures: 2 },
      verdict: "neither",
      after: { ...initialState, failures: 2 },
    },
    {
      name: "opens with the failure that is one too many",
      state: { ...initialState, failures: 2 },
      verdict: "failure",
      after: { ...open, opened_at: 6050 },
    },
    { name: "does not hear of late failures while it is open", state: open, verdict: "failure", after: open },
    { name: "does not hear of late successes either", state: open, verdict: "success", after: open },
    {
      name: "hears of nobody but the one who tries",
      state: trying,
      verdict: "failure",
      after: trying,
    },
    {
      name: "does not hear of one who tried before and was given up",
      state: trying,
      verdict: "success",
      probe: 6000,
      after: trying,
    },
    {
      name: "counts the successes of those who try",
      state: trying,
      verdict: "success",
      probe: 6100,
      after: { ...half, successes: 1 },
    },
    {
      name: "closes when there are enough",
      state: { ...trying, successes: 1 },
      verdict: "success",
      probe: 6100,
      after: initialState,
    },
    {
      name: "opens again when one fails",
      state: { ...trying, successes: 1 },
      verdict: "failure",
      probe: 6100,
      after: { ...open, failures: 4, opened_at: 6050 },
    },
    {
      name: "lets another try where one could not even ask",
      state: { ...trying, successes: 1 },
      verdict: "neither",
      probe: 6100,
      after: { ...half, successes: 1 },
    },
  ];
  it.each(cases)("$name", ({ state, verdict, probe, after }) => {
    expect(applyVerdict(state, { verdict, probe }, { settings: limits, now: 6050 })).toEqual(after);
  });

  it("leaves what it has nothing to do with as it is", () => {
    const beside = { sent: [1, 2], last: { at: "then", milliseconds: 3 } };
    const closed = applyVerdict(
      { ...trying, successes: 1, ...beside },
      { verdict: "success", probe: 6100 },
      { settings: limits, now: 6050 },
    );
    expect(closed).toEqual({ ...initialState, ...beside });
  });
});

describe("a state on the shelf", () => {
  const state = { circuit: "OPEN", failures: 3, successes: 0, opened_at: 5000, sent: [1, 2] };

  it("is taken as it is", () => {
    expect(parseState(state)).toBe(state);
  });

  it.each([
    { name: "nothing", value: undefined },
    { name: "a list", value: [1] },
    { name: "no circuit", value: { ...state, circuit: "AJAR" } },
    { name: "a count below zero", value: { ...state, failures: -1 } },
    { name: "a count that is no number", value: { ...state, successes: "2" } },
    { name: "a time that is no number", value: { ...state, opened_at: "now" } },
    { name: "turns that are no list", value: { ...state, sent: 5 } },
    { name: "turns that are no numbers", value: { ...state, sent: [1, null] } },
  ])("tells nothing where it is $name", ({ value }) => {
    expect(parseState(value)).toBe(initialState);
  });
});
