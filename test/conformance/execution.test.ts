import { createHash } from "node:crypto";
import { join } from "node:path";
import canonicalize from "canonicalize";
import { beforeAll, describe, expect, it } from "vitest";
import { compose } from "../../src/compose.js";
import type { JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import { openAuthenticator } from "../../src/serve/auth/open-authenticator.js";
import type { GateAnswer } from "../../src/record/record-json.js";
import type { ServedWorld } from "../../src/serve/operations/operation.js";
import { ApprovedProject, wire } from "../cli/approving.js";
import { sampleWorld } from "../serve/sample-world.js";
import type { TokenWorld } from "../serve/auth/token-world.js";
import { keyFile, keySet, optionsOf, tokenOf, tokenWorld } from "../serve/auth/token-world.js";
import type { Transport, Transports, Rejection } from "../serve/transports.js";
import { transportNames, openTransports } from "../serve/transports.js";
import { gates, writeGates } from "./execution-gates.js";

interface Clause {
  readonly clause: string;
  readonly action: string;
  readonly context?: JsonObject;
  /** Of the request, beside action and context; what is undefined is not sent. */
  readonly more?: Readonly<Record<string, string | number | undefined>>;
  /** Claims of the token; absent: those of alice. */
  readonly claims?: object;
  /** What the answer holds among other things. */
  readonly answer?: object;
  /** Or why there is none; the status is told over HTTP alone. */
  readonly refused?: Rejection & { readonly status: number };
}

let world: ServedWorld;
let doors: Transports;
let tokens: TokenWorld;

beforeAll(async () => {
  world = await sampleWorld(writeGates());
  tokens = await tokenWorld();
  const authenticate = await openAuthenticator(optionsOf(tokens, keyFile(keySet(tokens))));
  doors = await openTransports(world, authenticate);
});

const retry = { mode: "review", next_action: "gather_evidence_and_retry" };
const tokenWith = (claims: object = {}): string => tokenOf(tokens, { claims: { sub: "alice", ...claims } });

describe.each(transportNames)("over %s", (name) => {
  const ask: Transport = (...asked) => doors[name](...asked);
  const routed = { org_id: "acme", domain: "ops" };

  const decide = async (action: string, context: JsonObject = {}): Promise<GateAnswer> => {
    const reply = await ask("decide", { ...routed, action, context }, tokenWith());
    if ("refused" in reply) throw new Error(reply.refused.message);
    return reply.answer as unknown as GateAnswer;
  };

  const check = (clauses: readonly Clause[]): void => {
    it.each(clauses)("$clause", async ({ action, context = {}, more, claims, answer, refused }) => {
      const before = await recorded();
      const reply = await ask("decide", { ...routed, action, context, ...more }, tokenWith(claims));
      if (refused === undefined) {
        expect(reply).toMatchObject({ answer: answer ?? {} });
        expect(await recorded()).toBe(before + 1);
        return;
      }
      const { status, ...why } = refused;
      expect(reply).toMatchObject({ refused: { ...why, ...(name === "HTTP" && { status }) } });
      expect(await recorded()).toBe(before);
    });
  };

  describe("phase 1: authorization and request validation", () => {
    it.each([
      ["without a token", () => undefined],
      ["with a token of somebody else's", () => tokenOf(tokens, { key: tokens.attacker })],
      ["with a token that has expired", () => tokenWith({ exp: tokens.now - 3600 })],
      ["with a chain of actors that is none", () => tokenWith({ act: "agent-7" })],
    ])("nobody is let in %s", async (_how, token) => {
      const before = await recorded();
      const reply = await ask("decide", { ...routed, action: "be-GREEN", context: {} }, token());
      expect(reply).toMatchObject({ refused: { status: 401 } });
      expect(await recorded()).toBe(before);
    });

    check([
      {
        clause: "who asks is resolved from the token into the context",
        action: "whoami",
        answer: { status: "GREEN", decision_metadata: { aggregation: { winner: "alice" } } },
      },
      {
        clause: "another one is somebody else",
        action: "whoami",
        claims: { sub: "bob" },
        answer: { status: "RED" },
      },
      {
        clause: "the act claim is parsed: who acts now first, then whom it acts for",
        action: "delegate",
        claims: { act: { sub: "agent-7", act: { sub: "desk" } } },
        answer: { status: "GREEN", decision_metadata: { matched_rules: ["chain"] } },
      },
      {
        clause: "the session mode of the token is that of the caller: an operator",
        action: "mode",
        claims: { session_mode: "operator" },
        answer: { status: "GREEN" },
      },
      {
        clause: "the session mode of the token is that of the caller: a customer",
        action: "mode",
        claims: { session_mode: "customer" },
        answer: { status: "RED" },
      },
      {
        clause: "the act claim tells which kind of session a delegate has",
        action: "mode",
        claims: { act: { sub: "agent-7", session_mode: "customer" } },
        answer: { status: "RED" },
      },
      {
        clause: "without a session mode a rule on it cannot be evaluated, so the gate is not GREEN",
        action: "mode",
        answer: { status: "YELLOW", work_frame: retry },
      },
      { clause: "without one nobody acts for another", action: "delegate", answer: { status: "GREEN-SKIP" } },
      ...["org_id", "domain", "action", "context"].map((field) => ({
        clause: `a request without \`${field}\` gets a structured error`,
        action: "be-GREEN",
        more: { [field]: undefined },
        refused: {
          status: 400,
          code: "input_invalid",
          errors: [{ message: `\`${field}\` is missing`, missing: field }],
        },
      })),
      {
        clause: "all that is wrong is told at once, with what was meant",
        action: "be-GREEN",
        more: { domain: undefined, context: "none", world_model_version: "two", correlation: "x" },
        refused: {
          status: 400,
          code: "input_invalid",
          hint: "did you mean `correlation_id`?",
          errors: [
            { message: "`domain` is missing" },
            { message: "unknown key `correlation`" },
            { path: "world_model_version" },
            { path: "context" },
          ],
        },
      },
      {
        clause: "a token for something else is refused",
        action: "be-GREEN",
        claims: { scope: "read" },
        refused: { status: 403, code: "forbidden" },
      },
      {
        clause: "a token of another organisation is refused",
        action: "be-GREEN",
        claims: { org_id: "umbrella" },
        refused: { status: 403, code: "forbidden" },
      },
    ]);

    it("who asks, and for whom, is in the record", async () => {
      const claims = { act: { sub: "agent-7" }, client_id: "console", session_mode: "operator" };
      const asked = { ...routed, action: "be-GREEN", context: {}, correlation_id: `c-${name}` };
      const { answer } = (await ask("decide", asked, tokenWith(claims))) as { answer: JsonObject };
      const record = await recordOf(answer);
      expect(record.correlation_id).toBe(`c-${name}`);
      expect(record.facts).toMatchObject({
        authenticated_caller: {
          subject: "alice",
          issuer: tokens.issuer,
          client_id: "console",
          delegated: true,
          actors: [{ subject: "agent-7" }],
          mode: "operator",
        },
      });
    });
  });

  describe("phase 2: action mapping and module load", () => {
    const winner = (rule: string): object => ({ decision_metadata: { aggregation: { winner: rule } } });
    const unknown = { status: 404, code: "definition_not_found" };
    check([
      {
        clause: "the version is part of the key",
        action: "versioned",
        more: { world_model_version: 1 },
        answer: winner("old"),
      },
      { clause: "without a version the highest answers", action: "versioned", answer: winner("new") },
      {
        clause: "the organisation is part of the key",
        action: "versioned",
        more: { org_id: "umbrella" },
        answer: winner("elsewhere"),
      },
      {
        clause: "the domain is part of the key",
        action: "versioned",
        more: { domain: "sales" },
        answer: winner("other-domain"),
      },
      {
        clause: "an unknown version is not found, and told which there are",
        action: "versioned",
        more: { world_model_version: 7 },
        refused: { ...unknown, hint: "it has 1, 2" },
      },
      {
        clause: "an unknown action is not found, and told what may be meant",
        action: "versoined",
        refused: { ...unknown, hint: "did you mean `acme/ops/versioned`?" },
      },
      {
        clause: "an unknown organisation is not found",
        action: "be-GREEN",
        more: { org_id: "nobody" },
        refused: unknown,
      },
      {
        clause: "an unknown domain is not found",
        action: "be-GREEN",
        more: { domain: "nowhere" },
        refused: unknown,
      },
      {
        clause: "a broken module is not loaded, and no other version answers for it",
        action: "mended",
        refused: { status: 503, code: "definition_invalid" },
      },
    ]);

    it("the content hash of the module that answered is recorded", async () => {
      const record = await recordOf(await decide("versioned"));
      const module = gates.find(({ id }) => id === "acme-ops-versioned-2");
      const hash = createHash("sha256").update(canonicalize(module)!).digest("hex");
      expect(record).toMatchObject({ decision_id: "acme-ops-versioned-2", definition_hash: hash });
    });
  });

  describe("phase 3: context", () => {
    check([
      {
        clause: "supplied context that fits is decided on",
        action: "transfer",
        context: { amount: 5 },
        answer: { status: "GREEN" },
      },
      {
        clause: "supplied context that fails its schema is YELLOW, to gather evidence and retry",
        action: "transfer",
        context: { amount: -5 },
        answer: {
          status: "YELLOW",
          work_frame: retry,
          decision_metadata: {
            errored_predicates: [{ source: "context_schema" }],
            aggregation: {
              winner: "routine",
              raised: { from: "GREEN", to: "YELLOW", reason: expect.stringContaining("schema") as string },
            },
          },
        },
      },
      {
        clause: "what is missing in it is missing evidence",
        action: "transfer",
        answer: { status: "YELLOW", work_frame: { ...retry, missing_evidence: ["amount"] } },
      },
      {
        clause: "system-generated context is there for the rules",
        action: "system",
        answer: { status: "GREEN", decision_metadata: { matched_rules: ["time", "id"] } },
      },
      {
        clause: "system-generated context cannot be supplied",
        action: "whoami",
        context: { system: { authenticated_caller: { subject: "alice" } } },
        claims: { sub: "bob" },
        refused: { status: 400, code: "input_invalid" },
      },
      {
        clause: "what is supplied by the same name is not taken for it",
        action: "whoami",
        context: { authenticated_caller: { subject: "alice" }, request_time: "1999-01-01" },
        claims: { sub: "bob" },
        answer: { status: "RED" },
      },
      {
        clause: "computed context is derived from supplied and system-generated context",
        action: "derived",
        context: { due: "2020-01-01" },
        answer: { status: "RED" },
      },
      {
        clause: "computed context cannot be supplied",
        action: "transfer",
        context: { amount: 5000, is_large: false },
        answer: { status: "RED" },
      },
      {
        clause: "a derivation that throws is YELLOW with the diagnostic in the trace",
        action: "derived",
        answer: {
          status: "YELLOW",
          work_frame: retry,
          decision_metadata: {
            errored_predicates: [
              { source: "computed", name: "is_late", error: "`due` is missing" },
              { source: "when", name: "late" },
            ],
          },
        },
      },
    ]);

    it("time and id of the request are captured once, and are different for each", async () => {
      const [first, second] = [await decide("system"), await decide("system")];
      const [one, other] = [first.decision_metadata, second.decision_metadata];
      expect(one.request_id).not.toBe(other.request_id);
      expect([other.request_time, one.request_time].toSorted()[0]).toBe(one.request_time);
      expect((await recordOf(first)).timestamp).toBe(one.request_time);
    });
  });

  describe("phase 4: predicates", () => {
    check([
      {
        clause: "applies_when filters the rules that are asked",
        action: "predicates",
        answer: {
          status: "YELLOW",
          decision_metadata: { matched_rules: ["low"], errored_predicates: [] },
        },
      },
      {
        clause: "predicates are asked by severity, whatever their order in the module",
        action: "predicates",
        context: { high: 1, middle: 1 },
        answer: {
          decision_metadata: {
            matched_rules: ["high", "middle", "low"],
            predicate_traces: ["filtered", "high", "middle", "low"].map((rule) => ({ rule })),
          },
        },
      },
      {
        clause: "suppression is applied, and the winner takes all by default",
        action: "predicates",
        context: { high: 1, middle: 1 },
        answer: {
          status: "GREEN-SKIP",
          decision_metadata: {
            suppressed: [
              { rule: "middle", by: "high" },
              { rule: "low", by: "high" },
            ],
            aggregation: { mode: "winner_takes_all", winner: "high" },
          },
        },
      },
      {
        clause: "an exception is captured: YELLOW with the diagnostic",
        action: "exception",
        context: { n: "many" },
        answer: {
          status: "YELLOW",
          work_frame: retry,
          decision_metadata: {
            errored_predicates: [{ source: "when", name: "broken", expression: "n > 1" }],
            aggregation: {
              raised: { from: "GREEN", to: "YELLOW", reason: "1 condition could not be evaluated" },
            },
          },
        },
      },
    ]);

    it("the same request is answered alike, and has the same deterministic hash", async () => {
      const context = { high: 1, middle: 1 };
      const answers = [await decide("predicates", context), await decide("predicates", context)];
      const own = { request_id: "", request_time: "" };
      const [one, other] = answers.map((each) => ({
        ...each,
        record_id: "",
        decision_metadata: { ...each.decision_metadata, ...own },
      }));
      expect(one).toEqual(other);
      const hashes = await Promise.all(
        answers.map(async (each) => (await recordOf(each)).deterministic_hash),
      );
      expect(new Set(hashes).size).toBe(1);
    });
  });

  describe("phase 5: the response", () => {
    check([
      {
        clause: "a T1 rule is an unconditional floor",
        action: "floor",
        context: { floor: 1 },
        answer: { status: "RED", decision_metadata: { aggregation: { winner: "floor" } } },
      },
      { clause: "without it the others combine", action: "floor", answer: { status: "GREEN" } },
      ...(
        [
          ["GREEN", "execute"],
          ["GREEN-SKIP", "skip"],
          ["YELLOW", "review"],
          ["RED", "stop"],
        ] as const
      ).map(([status, mode]) => ({
        clause: `${status} is an answer, and its mode is ${mode}`,
        action: `be-${status}`,
        answer: { status, work_frame: { mode } },
      })),
    ]);

    it("the work frame has its seven fields, and no others", async () => {
      expect((await decide("frame")).work_frame).toEqual({
        mode: "review",
        next_action: "prepare",
        allowed_actions: ["look"],
        forbidden_actions: ["send"],
        required_output: { form: "F-1" },
        missing_evidence: ["second_approval"],
        next_human_owner: "treasury",
      });
      expect(Object.keys((await decide("be-GREEN")).work_frame).sort()).toEqual([
        "allowed_actions",
        "forbidden_actions",
        "missing_evidence",
        "mode",
        "next_action",
        "next_human_owner",
        "required_output",
      ]);
    });

    it("the metadata hold rules, suppression, aggregation, traces, errors and the request", async () => {
      const answer = await decide("be-GREEN");
      const asSpecified = ["decision_metadata", "record_id", "status", "work_frame"];
      expect(Object.keys(answer).sort()).toEqual(["because", "warnings", ...asSpecified].sort());
      expect(Object.keys(answer.decision_metadata).sort()).toEqual([
        "aggregation",
        "errored_predicates",
        "matched_rules",
        "predicate_traces",
        "request_id",
        "request_time",
        "suppressed",
      ]);
    });

    it("what was answered is what is recorded", async () => {
      const { record_id, ...answer } = await decide("frame");
      expect(await recordOf({ record_id: record_id ?? "" })).toMatchObject({ type: "gate", ...answer });
    });
  });
});

describe("phase 2: a module that nobody approved", () => {
  const key = { org_id: "acme", domain: "pay", action: "wire", context: {} };

  it("is not loaded through any door, and none that is older answers for it", async () => {
    const project = await ApprovedProject.make();
    const open = async (): Promise<Transports> => {
      const composed = await compose({
        decisions: project.decisions,
        store: { directory: join(project.root, "store"), durability: "fast" },
        approval: { trustedKeys: [project.oneLine()] },
      });
      return openTransports(composed as ServedWorld);
    };
    const approved = await open();
    for (const name of transportNames)
      expect(await approved[name]("decide", key)).toMatchObject({ answer: { status: "YELLOW" } });
    project.write("wire-2.yaml", wire(2, "GREEN"));
    const changed = await open();
    for (const name of transportNames)
      expect(await changed[name]("decide", key)).toMatchObject({ refused: { code: "not_approved" } });
  });
});

async function recorded(): Promise<number> {
  return (await world.records.log.state()).size;
}

async function recordOf({
  record_id: beginning = "",
}: {
  readonly record_id?: string;
}): Promise<DecisionRecord> {
  const found = await world.records.store.log.find({ beginning });
  if (!("record" in found) || found.record.kind !== "decision") throw new Error("it was not recorded");
  return found.record;
}
