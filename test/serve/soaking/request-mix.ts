import type { RawRequest } from "./raw-connection.js";

export interface Asked {
  readonly name: string;
  /** The expected status, unless the server is busy (429, 503). */
  readonly status: number;
  /** Returns the record ids of the answer; absent: the request records nothing. */
  readonly recordsOf?: (answer: never) => readonly (string | undefined)[];
  readonly request: (about: Circumstances) => RawRequest;
}

/** The variables of a request. */
export interface Circumstances {
  /** Different for each request. */
  readonly turn: number;
  /** An earlier record; undefined: there is none yet. */
  readonly recordId: string | undefined;
}

interface Recorded {
  readonly record_id?: string;
}

const post = (path: string, body: object): RawRequest => ({
  method: "POST",
  path,
  body: JSON.stringify(body),
});

const oneRecord = ({ record_id }: Recorded): readonly (string | undefined)[] => [record_id];

const decided = (name: string, context: object, more: object = {}): Asked => ({
  name: `decide ${name}`,
  status: 200,
  recordsOf: oneRecord,
  request: () => post("/decide", { ...wire, context, ...more }),
});

const evaluated = (id: string, context: (turn: number) => object): Asked => ({
  name: `evaluate ${id}`,
  status: 200,
  recordsOf: oneRecord,
  request: ({ turn }) => post(`/decisions/${id}/evaluate`, { context: context(turn) }),
});

const checked = (tool: string, params: object): Asked => ({
  name: `check ${tool}`,
  status: 200,
  recordsOf: ({ decisions }: { readonly decisions: readonly Recorded[] }) =>
    decisions.map(({ record_id }) => record_id),
  request: ({ turn }) => post("/check", { tool, params, session, session_id: `s-${turn}` }),
});

const read = (name: string, path: (recordId: string) => string): Asked => ({
  name,
  status: 200,
  request: ({ recordId }) => ({
    method: "GET",
    path: recordId === undefined ? "/decisions" : path(recordId),
  }),
});

const refused = (name: string, status: number, request: RawRequest): Asked => ({
  name,
  status,
  request: () => request,
});

const wire = { org_id: "acme", domain: "payments", action: "wire.approve" };
const routine = { amount: 250, payee: { country: "DE" } };
const session = { query: { audience: "ceo", metric_type: "retention", segment: "enterprise" } };
const qualityGate = "/decisions/decision-quality-gate/evaluate";

/** Valid and invalid requests. */
export const requestMix: readonly Asked[] = [
  decided("GREEN", routine),
  decided("YELLOW", { ...routine, amount: 25_000 }, { world_model_version: 3 }),
  decided("RED", { amount: 1, payee: { country: "XX" } }),
  decided("what does not fit its schema", { amount: "much" }),
  evaluated("decision-quality-gate", (turn) => ({ artifact: { quality_score: (turn % 100) / 100 } })),
  evaluated("decision-artifact-type-router", () => ({ artifact: { type: "agent" } })),
  evaluated("decision-ab-prompt-variant", (turn) => ({ request: { id: `req-${turn}` } })),
  evaluated("decision-escalation-rules", (turn) => ({
    severity: "low",
    attempts: turn,
    quality_score: 0.6,
  })),
  evaluated("decision-loan-approval", (turn) => ({
    credit: { score: 400 + (turn % 400), defaults: 0 },
    income: { monthly: 3000 },
    loan: { rate: 900 },
  })),
  checked("select_metric", { name: "revenue_retention" }),
  checked("filter_customers", { segment: "enterprise" }),
  {
    name: "dry-run",
    status: 200,
    request: () => post("/decisions/decision-quality-gate/dry-run", { context: {} }),
  },
  read("records", () => "/records?limit=3"),
  read("explain", (recordId) => `/records/${recordId}/explain`),
  refused("JSON that is none", 400, { method: "POST", path: "/decide", body: '{"org_id": "acme",' }),
  refused("an unknown action", 404, post("/decide", { ...wire, action: "wire.burn", context: routine })),
  refused("an unknown decision", 404, post("/decisions/no-such/evaluate", { context: {} })),
  refused("an unknown record", 404, { method: "GET", path: "/records/0199ffff/explain" }),
  refused("a context that is a text", 400, post(qualityGate, { context: "none" })),
  refused("a supplied system", 400, post("/decide", { ...wire, context: { ...routine, system: {} } })),
  refused("a missing field", 400, post("/decide", { ...wire })),
  refused("another method", 405, { method: "DELETE", path: "/decide" }),
  refused("another content type", 415, {
    method: "POST",
    path: "/decide",
    body: "{}",
    contentType: "text/plain",
  }),
  refused("a body that is too large", 413, {
    method: "POST",
    path: qualityGate,
    body: '{"context":{"padding":"',
    announcedLength: 5_000_000,
  }),
];
