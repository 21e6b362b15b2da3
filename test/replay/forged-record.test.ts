import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import type { Composed } from "../../src/compose.js";
import { compose } from "../../src/compose.js";
import { definitionHash } from "../../src/definition/loaded-definition.js";
import { prepare } from "../../src/evaluate/prepare.js";
import type { Definition } from "../../src/model/definition.js";
import type { Json } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { LogLine, Store } from "../../src/model/store.js";
import { backtestLog } from "../../src/replay/backtest.js";
import type { ReplayReport } from "../../src/replay/replay-log.js";
import { replayLines } from "../../src/replay/replay-log.js";
import { changedText } from "../../src/replay/difference-text.js";
import { replayRecord } from "../../src/replay/replay-record.js";

const samples = fileURLToPath(new URL("../../decisions", import.meta.url));

type DecisionLine = LogLine & { readonly record: DecisionRecord };

let world: Composed;
let store: Store;
const lines = new Map<string, DecisionLine>();

beforeAll(async () => {
  world = await compose({ decisions: samples, store: "memory" });
  if (world.records === undefined) throw new Error("there is a store");
  ({ store } = world.records);
  await world.decide({ decision_id: "decision-quality-gate", context: { artifact: { quality_score: 1 } } });
  await world.decide({
    decision_id: "decision-loan-approval",
    context: { credit: { score: 720, defaults: 0 }, income: { monthly: 3000 }, loan: { rate: 500 } },
  });
  await world.decide({ decision_id: "gate-wire-approve", context: { amount: 5, payee: { country: "DE" } } });
  await world.decide({
    decision_id: "decision-shipping-fee",
    context: { parcel: { weight_kg: 5 }, destination: { country: "DE" } },
  });
  await world.check({ tool: "read_source", params: { source: "finance" }, session_id: "s" });
  for await (const line of store.log.select({ kind: "decision" })) {
    if (line.record.kind === "decision") lines.set(line.record.decision_id, { ...line, record: line.record });
  }
});

/** Returns a line that was forged with valid hashes. */
function forged(id: string, fields: object): DecisionLine {
  const line = lines.get(id);
  if (line === undefined) throw new Error(`there is no record of \`${id}\``);
  return { ...line, record: { ...line.record, ...fields } };
}

const replayed = (...all: readonly LogLine[]): Promise<ReplayReport> => replayLines(all, store);

/** The store with these lines as its log. */
function storeWith(...all: readonly LogLine[]): Store {
  const log = Object.create(store.log, { select: { value: () => Readable.from(all) } }) as Store["log"];
  return { ...store, log, shelf: (name) => store.shelf(name) };
}

const loan = "decision-loan-approval";
const wire = "gate-wire-approve";
const source = "policy-read-source";
const quality = "decision-quality-gate";
const fee = "decision-shipping-fee";

describe("a forged record with a valid hash", () => {
  it.each<{ id: string; fields: Record<string, Json>; reported: string }>([
    { id: loan, fields: { decision: "reject" }, reported: "Decision changed: reject -> approve" },
    { id: loan, fields: { confidence: 1 }, reported: "Confidence changed: 1 -> 0.8421" },
    { id: source, fields: { outcome: "denied" }, reported: "Outcome changed: denied -> allowed" },
    { id: wire, fields: { status: "RED" }, reported: "Status changed: RED -> GREEN" },
    { id: wire, fields: { type: "binary" }, reported: "Status changed: null -> GREEN" },
    { id: quality, fields: { type: "gate", status: "RED" }, reported: "Status changed: RED -> null" },
    {
      id: quality,
      fields: { type: "scored", decision: "a", confidence: 1 },
      reported: "Decision changed: a -> null",
    },
    {
      id: quality,
      fields: { type: "policy", outcome: "denied" },
      reported: "Outcome changed: denied -> null",
    },
    { id: quality, fields: { selected_targets: [] }, reported: "Targets changed: nothing -> stage-deploy" },
    {
      id: quality,
      fields: { selected_labels: ["Pass", "x\ny"] },
      reported: "Labels changed: Pass, x\\ny -> Pass",
    },
    { id: quality, fields: { selected_labels: ["Fail"] }, reported: "Labels changed: Fail -> Pass" },
    { id: fee, fields: { outputs: [4.9] }, reported: "Outputs changed: 4.9 -> 9.9" },
    { id: quality, fields: { outputs: [4.9] }, reported: "Outputs changed: 4.9 -> null" },
    { id: quality, fields: { blocked: true }, reported: "Blocked changed: true -> false" },
    { id: quality, fields: { escalated: true }, reported: "Escalated changed: true -> false" },
    {
      id: wire,
      fields: { context: { system: {}, amount: 5, payee: {} } },
      reported: "Error changed: null -> the context must not have the reserved key `system`",
    },
  ])("of $id is reported: $reported", async ({ id, fields, reported }) => {
    const { mismatches } = await replayed(forged(id, fields));
    expect(mismatches.flatMap(({ differences }) => differences.map(changedText))[0]).toBe(reported);
  });

  it("that lacks a field is reported as damaged", async () => {
    const { mismatches } = await replayed(forged(quality, { guardrails: undefined }));
    expect(mismatches.map(({ actual }) => actual)).toEqual([{ record: "damaged" }]);
  });

  it("is counted beyond a thousand, but no longer listed", async () => {
    const changed = { ...forged(quality, {}), intact: false };
    const report = await replayed(...Array<LogLine>(1005).fill(changed));
    expect({ mismatched: report.mismatched, reported: report.mismatches.length }).toEqual({
      mismatched: 1005,
      reported: 1000,
    });
  });
});

describe("a stored definition", () => {
  const broken = (cases: unknown): Definition =>
    ({
      id: "old",
      type: "binary",
      input: "{{ n }}",
      cases,
      default: { target: "x" },
    }) as unknown as Definition;

  async function kept(definition: Definition): Promise<LogLine> {
    const hash = definitionHash(definition);
    await store.shelf("definitions").put([{ key: hash, value: definition as unknown as Json }]);
    return forged(quality, { definition_hash: hash });
  }

  it("that this version does not support makes records not replayable", async () => {
    const line = await kept(broken([{ condition: "n >>= 1", target: "x" }]));
    const { reasons } = await replayed(line, line);
    expect(reasons.map(({ reason, count }) => [reason.slice(0, 37), count])).toEqual([
      ["its definition can no longer be used ", 2],
    ]);
  });

  it("that causes an internal error is not skipped", async () => {
    await expect(kept(broken(null)).then((line) => replayed(line))).rejects.toThrow(TypeError);
  });
});

describe("an internal error", () => {
  const definition = broken();
  function broken(): Definition {
    return { id: quality, type: "binary", cases: [], default: { target: "x" } };
  }
  const evaluate = (): never => {
    throw new TypeError("oops");
  };
  const ready = {
    loaded: { definition, definition_hash: "", environment: {}, environment_hash: "", file: "", line: 0 },
    prepared: { ...prepare(definition), evaluate },
    fetches: [],
  };

  it("is not reported as a difference", async () => {
    expect(() => replayRecord(forged(quality, {}), ready)).toThrow(TypeError);
    const store = storeWith(forged(quality, {}));
    await expect(backtestLog(ready, store, { kind: "decision" })).rejects.toThrow(TypeError);
  });
});

describe("a backtest", () => {
  it("covers decisions only, and lists examples of those that are not replayable", async () => {
    const loaded = await world.definitions.find(quality);
    const note = { ...forged(quality, {}), record: { kind: "note" } } as unknown as LogLine;
    const store = storeWith(
      note,
      ...Array<LogLine>(7).fill(forged(quality, { context: undefined })),
      forged(quality, { because: undefined }),
    );
    const ready = { loaded, prepared: prepare(loaded.definition), fetches: [] };
    const { total, reasons } = await backtestLog(ready, store, { kind: "decision" });
    expect(total).toBe(8);
    expect(reasons.map(({ reason, count, examples }) => [reason, count, examples.length])).toEqual([
      ["its inputs were not logged", 7, 5],
      ["it was changed after it was written", 1, 1],
    ]);
  });
});
