import { describe, expect, it } from "vitest";
import { makeDecision } from "../../src/decide/decide.js";
import { prepareOnce } from "../../src/decide/find.js";
import { DecisionError } from "../../src/errors.js";
import type { Fetched } from "../../src/model/endpoint.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Result } from "../../src/model/result.js";
import { replayLog } from "../../src/replay/replay-log.js";
import { failed, fetchedAt, fetching, gave, loadedWith } from "./fetching.js";

const credit = { endpoint: "bureau", params: { ssn: "{{ customer.ssn }}" }, into: "credit" };

const route = (enrich: readonly object[], more: object = {}): object => ({
  id: "loan",
  type: "switch",
  input: "{{ credit.score }}",
  cases: [{ condition: "input >= 700", label: "Good", target: "stage-approve" }],
  default: { target: "stage-review" },
  enrich,
  ...more,
});

const customer = { customer: { ssn: "123" } };

const factsOf = (facts: JsonObject | undefined): readonly unknown[] =>
  Object.values(facts?.["fetched"] ?? {});

describe("what is fetched", () => {
  it("goes into the context, and the record says where it is from", async () => {
    const place = fetching(loadedWith(route([credit]), "bureau"), () => gave({ score: 720 }));
    const result = await place.decide(customer);
    expect(result).toMatchObject({ selected_labels: ["Good"], input_value: 720, warnings: [] });
    const record = await place.newest();
    expect(record?.context).toEqual({ ...customer, credit: { score: 720 } });
    expect(factsOf(record?.facts)).toEqual([
      { endpoint: "bureau", into: "credit", ok: true, from: "endpoint", fetched_at: fetchedAt },
    ]);
    expect(place.asked).toEqual([
      {
        name: "bureau",
        endpoint: { url: "https://bureau.example/" },
        params: { ssn: "123" },
        cached: true,
        dryRun: false,
        into: "credit",
      },
    ]);
  });

  it("is never what the caller says it is", async () => {
    const said = { ...customer, credit: { score: 800 } };
    const place = fetching(loadedWith(route([credit]), "bureau"), () => failed("it is gone"));
    const result = await place.decide(said);
    expect(result.selected_targets).toEqual(["stage-review"]);
    expect(result.warnings.slice(0, 2)).toEqual([
      "ignored `credit` in the context: it is fetched from an endpoint",
      "no data from `bureau`: it is gone",
    ]);
    expect((await place.newest())?.context).toEqual(customer);
  });

  it("is missing where it did not come, and the record says why", async () => {
    const place = fetching(loadedWith(route([credit]), "bureau"), () => failed("it is gone"));
    expect((await place.decide(customer)).selected_targets).toEqual(["stage-review"]);
    expect(factsOf((await place.newest())?.facts)).toEqual([
      {
        endpoint: "bureau",
        into: "credit",
        ok: false,
        error: { code: "network_failed", message: "it is gone" },
      },
    ]);
  });

  it("must come where it is required: else nothing is decided, and nothing recorded", async () => {
    const place = fetching(loadedWith(route([{ ...credit, required: true }]), "bureau"), () =>
      failed("it is gone"),
    );
    const error = await place.decide(customer).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DecisionError);
    expect(error).toMatchObject({
      code: "network_failed",
      message: "`loan` requires data from `bureau`: it is gone",
      details: { decision_id: "loan", endpoint: "bureau" },
    });
    expect(await place.newest()).toBeUndefined();
  });

  it("keeps a gate from being GREEN where it is required and did not come", async () => {
    const gate = {
      id: "pay",
      type: "gate",
      action: { org: "acme", domain: "payments", name: "pay" },
      rules: [{ id: "routine", tier: "T3", severity: 1, when: "true", status: "GREEN" }],
      enrich: [{ ...credit, required: true }],
    };
    const gone = fetching(loadedWith(gate, "bureau"), () => failed("it is gone"));
    const result = (await gone.decide(customer)) as Result & { type: "gate" };
    expect(result.status).toBe("YELLOW");
    const reason = "required data could not be fetched: `credit` from `bureau`";
    expect(result.because).toEqual([reason, "true"]);
    expect(result.work_frame.missing_evidence).toEqual(["credit"]);
    expect(result.decision_metadata).toMatchObject({
      errored_predicates: [{ source: "enrich", name: "bureau", missing: "credit", error: "it is gone" }],
      aggregation: { raised: { from: "GREEN", to: "YELLOW", reason } },
    });
    const there = fetching(loadedWith(gate, "bureau"), () => gave({}));
    expect(await there.decide(customer)).toMatchObject({ status: "GREEN" });
    const red = { ...gate, rules: [{ id: "no", tier: "T1", severity: 1, when: "true", status: "RED" }] };
    const stopped = await fetching(loadedWith(red, "bureau"), () => failed("it is gone")).decide(customer);
    expect(stopped).toMatchObject({
      status: "RED",
      because: ["true", reason],
      work_frame: { missing_evidence: ["credit"] },
    });
    expect(stopped).not.toHaveProperty("decision_metadata.aggregation.raised");
    const leftOut = fetching(loadedWith(gate, "bureau"), () => ({ ok: false, left_out: true }));
    const tried = (await leftOut.decide(customer, { dry_run: true })) as Result & { type: "gate" };
    expect(tried.decision_metadata.errored_predicates).toMatchObject([{ error: "it was not fetched" }]);
  });

  it("may be put deep into the context, beside what is there", async () => {
    const deep = { ...credit, into: "customer.credit" };
    const place = fetching(loadedWith(route([deep]), "bureau"), () => gave(7));
    await place.decide({ customer: { ssn: "1", credit: 9 } });
    expect((await place.newest())?.context).toEqual({ customer: { ssn: "1", credit: 7 } });
  });

  it("is no data where it is nested so deeply that nobody could give it as a context", async () => {
    const nested = (levels: number): Json => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as Json;
    const giving = (levels: number): Promise<Result> =>
      fetching(loadedWith(route([credit]), "bureau"), () => gave(nested(levels))).decide(customer);
    expect((await giving(127)).warnings.join()).not.toContain("too deeply");
    expect((await giving(128)).warnings[0]).toBe("no data from `bureau`: its answer is nested too deeply");
    const mapped = { ...credit, mapping: { data: "value" } };
    const place = fetching(loadedWith(route([mapped]), "bureau"), () => gave({ data: nested(127) }));
    expect((await place.decide(customer)).warnings[0]).toContain("too deeply");
  });

  it("is nothing where the answer is empty", async () => {
    const place = fetching(loadedWith(route([credit]), "bureau"), () => gave(null));
    const { warnings } = await place.decide(customer);
    expect(warnings[0]).toBe("no data from `bureau`: its answer is empty");
    expect((await place.newest())?.context).toEqual(customer);
  });

  it("is not kept elsewhere where the context is not to be kept", async () => {
    const loaded = loadedWith(route([credit], { logging: { include_inputs: false } }), "bureau");
    const place = fetching(loaded, () => gave({ score: 1 }));
    await place.decide(customer);
    expect(place.asked[0]?.cached).toBe(false);
  });

  it("is named where it did not come and a strict decision ends for it", async () => {
    const place = fetching(loadedWith(route([credit]), "bureau"), () => failed("it is gone"));
    const error = await place.decide(customer, { strict: true }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "condition_errored" });
    expect((error as Error).message).toContain("(no data from `bureau`: it is gone)");
    const fine = fetching(loadedWith(route([credit]), "bureau"), () => gave({ score: "high" }));
    const other = await fine.decide(customer, { strict: true }).catch((thrown: unknown) => thrown);
    expect((other as Error).message).not.toContain("no data came");
  });

  it("is fetched anew where what is kept will not do", async () => {
    const place = fetching(loadedWith(route([credit]), "bureau"), () => gave({ score: 1 }));
    await place.decide(customer, { no_cache: true });
    expect(place.asked[0]?.cached).toBe(false);
  });

  it("has no place within what is no object", async () => {
    const deep = { ...credit, into: "customer.credit" };
    const place = fetching(loadedWith(route([deep]), "bureau"), () => gave(7));
    await expect(place.decide({ customer: "Ada" })).rejects.toMatchObject({
      code: "input_invalid",
      message: "what is fetched into `customer.credit` has no place: `customer` is no object",
    });
  });

  it("cannot be fetched where there is nobody to fetch it", async () => {
    const { world } = fetching(loadedWith(route([credit]), "bureau"), () => gave(1));
    const alone = { ...world, fetcher: undefined };
    const loaded = await world.definitions.find("loan");
    const { result } = await makeDecision(
      await prepareOnce(loaded),
      { decision_id: "loan", context: customer },
      alone,
    );
    expect(result.warnings[0]).toBe("no data from `bureau`: no fetcher is configured");
  });

  it("is fetched once, however often its decision is looked at again", async () => {
    const loaded = loadedWith(route([credit]), "bureau");
    const place = fetching(loaded, () => gave({ score: 1 }));
    const call = { enriched: new Map() };
    for (let tries = 0; tries < 3; tries++) {
      await makeDecision(
        await prepareOnce(loaded),
        { decision_id: "loan", context: customer },
        place.world,
        call,
      );
    }
    expect(place.asked.length).toBe(1);
  });
});

describe("the params of a fetch", () => {
  it("are filled from the context; what is missing is null, and within text nothing", async () => {
    const params = { a: "{{ nothing.here }}", b: "id-{{ nothing }}-{{ customer.ssn }}", c: [1, { d: "x" }] };
    const place = fetching(loadedWith(route([{ ...credit, params }]), "bureau"), () => gave(1));
    await place.decide(customer);
    expect(place.asked[0]?.params).toEqual({ a: null, b: "id--123", c: [1, { d: "x" }] });
  });

  it("are told of where they have no value, and end the decision where that is strict", async () => {
    const params = { a: "{{ nothing.here }}", b: "{{ if exists(nothing) then nothing else 'none' }}" };
    const place = fetching(loadedWith(route([{ ...credit, params }]), "bureau"), () => gave({ score: 1 }));
    const { warnings } = await place.decide(customer);
    expect(warnings).toEqual(["the request to `bureau` is incomplete: `nothing.here` is missing"]);
    await expect(place.decide(customer, { strict: true })).rejects.toMatchObject({
      code: "condition_errored",
      message: "`loan`: the request to `bureau` is incomplete: `nothing.here` is missing",
    });
    expect(place.asked.length).toBe(1);
  });

  it("are not sent where they would be about what did not come", async () => {
    const steps = [
      { endpoint: "who", into: "person" },
      { endpoint: "bureau", params: { id: "{{ person.id }}" }, into: "credit" },
      {
        endpoint: "spare",
        params: { id: "{{ if exists(person.id) then person.id else 'none' }}" },
        into: "x",
      },
    ];
    const loaded = loadedWith(route(steps), "who", "bureau", "spare");
    const place = fetching(loaded, ({ name }) =>
      name === "who" ? failed("it is gone") : gave({ score: 900 }),
    );
    const result = await place.decide(customer);
    expect(place.asked.map(({ name }) => name)).toEqual(["who", "spare"]);
    expect(result.selected_targets).toEqual(["stage-review"]);
    expect(result.warnings).toContain(
      "no data from `bureau`: the request was not sent: `person.id` is missing",
    );
  });

  it("may read what was fetched before; whatever does not is fetched at once", async () => {
    const steps = [
      { endpoint: "who", params: { ssn: "{{ customer.ssn }}" }, into: "person" },
      { endpoint: "bureau", params: { id: "{{ person.id }}" }, into: "credit" },
      { endpoint: "weather", into: "sky" },
      { endpoint: "all", params: { all: "{{ context }}" }, into: "judgement" },
    ];
    const running: string[][] = [];
    let together: string[] = [];
    const loaded = loadedWith(route(steps), "who", "bureau", "weather", "all");
    const place = fetching(loaded, ({ name }) => {
      if (together.length === 0) {
        running.push(together);
        void Promise.resolve().then(() => (together = []));
      }
      together.push(name);
      return gave({ id: `${name}-1` });
    });
    await place.decide(customer);
    expect(running).toEqual([["who", "weather"], ["bureau"], ["all"]]);
    expect(place.asked.find(({ name }) => name === "bureau")?.params).toEqual({ id: "who-1" });
    expect(place.asked.at(-1)?.params["all"]).toHaveProperty("credit");
  });

  it.each<{ name: string; mask: string; cached: boolean }>([
    { name: "a param", mask: "/customer/ssn", cached: false },
    { name: "where the answer goes", mask: "/credit/score", cached: false },
    { name: "something else", mask: "/other", cached: true },
  ])("and the answer are kept unless a mask hides them: of $name", async ({ mask, cached }) => {
    const loaded = loadedWith(route([credit], { logging: { mask: [mask] } }), "bureau");
    const place = fetching(loaded, () => gave({ score: 720 }));
    await place.decide(customer);
    expect(place.asked[0]?.cached).toBe(cached);
  });
});

describe("a mapping", () => {
  const mapped = { ...credit, mapping: { "data.score": "value", "data.age": "age" } };
  const mapping = (data: Fetched): ReturnType<typeof fetching> =>
    fetching(loadedWith(route([mapped], { input: "{{ credit.value }}" }), "bureau"), () => data);

  it("takes parts of the answer, each to its place", async () => {
    const place = mapping(gave({ data: { score: 720, age: 3, other: 1 } }));
    expect(await place.decide(customer)).toMatchObject({ input_value: 720, warnings: [] });
    expect((await place.newest())?.context).toEqual({ ...customer, credit: { value: 720, age: 3 } });
  });

  it("tells of parts that are missing", async () => {
    const place = mapping(gave({ data: { score: 720 } }));
    expect(await place.decide(customer)).toMatchObject({
      input_value: 720,
      warnings: ["the answer of `bureau` has no `data.age`"],
    });
  });

  it("has failed where all are missing", async () => {
    const place = mapping(gave("score: 720"));
    const result = await place.decide(customer);
    expect(result.warnings[0]).toBe("no data from `bureau`: its answer has no `data.score`, `data.age`");
    expect(factsOf((await place.newest())?.facts)).toMatchObject([{ ok: false }]);
  });

  it("finds items of lists, and nothing but own keys", async () => {
    const fields = {
      "list.1.id": "second",
      "list.one": "none",
      "list.constructor": "bad",
      toString: "worse",
    };
    const loaded = loadedWith(route([{ ...credit, mapping: fields }]), "bureau");
    const place = fetching(loaded, () => gave({ list: [{ id: "a" }, { id: "b" }] }));
    await place.decide(customer);
    expect((await place.newest())?.context).toEqual({ ...customer, credit: { second: "b" } });
  });
});

describe("the rule operator `fetch_from_api`", () => {
  const value = {
    endpoint: "bureau",
    params: { ssn: "{{ customer.ssn }}" },
    mapping: { score: "credit_score" },
  };
  const scored = {
    id: "loan",
    type: "scored",
    evaluators: [
      {
        name: "credit",
        rules: [
          {
            id: "known",
            if: {
              all: [
                { field: "anything", op: "fetch_from_api", value },
                { field: "credit_score", op: "gte", value: 700 },
              ],
            },
            then: { decision: "approve", weight: 0.9, reason: "Good credit" },
          },
        ],
      },
      { name: "house", static: { decision: "review", weight: 0.3 } },
    ],
  };

  it("is true where data came, which other conditions then read", async () => {
    const place = fetching(loadedWith(scored, "bureau"), () => gave({ score: 720 }));
    expect(await place.decide(customer)).toMatchObject({ decision: "approve" });
    expect((await place.newest())?.context).toEqual({ ...customer, credit_score: 720 });
  });

  it("is false on any failure, whatever the caller says", async () => {
    const place = fetching(loadedWith(scored, "bureau"), () => failed("it is gone"));
    const result = await place.decide({ ...customer, credit_score: 900 });
    expect(result).toMatchObject({ decision: "review" });
    const anew = fetching(loadedWith(scored, "bureau"), () => gave({ other: 1 }));
    expect(await anew.decide(customer)).toMatchObject({ decision: "review" });
  });

  it("is asked once where several rules ask the same", async () => {
    const [first] = scored.evaluators;
    const twice = { ...scored, evaluators: [first, { ...first, name: "again" }] };
    const place = fetching(loadedWith(twice, "bureau"), () => gave({ score: 1 }));
    await place.decide(customer).catch(() => undefined);
    expect(place.asked.length).toBe(1);
  });
});

describe("a dry run", () => {
  it("says what it left out, and goes on without", async () => {
    const loaded = loadedWith(route([{ ...credit, required: true }]), "bureau");
    const place = fetching(loaded, () => ({ ok: false, left_out: true }));
    const result = await place.decide(customer, { dry_run: true });
    expect(place.asked[0]?.dryRun).toBe(true);
    expect(result.warnings[0]).toBe("`bureau` was not called: a dry run sends GET requests only");
    expect(result.selected_targets).toEqual(["stage-review"]);
  });
});

describe("data that are older than they should be", () => {
  it("are told of", async () => {
    const place = fetching(loadedWith(route([credit]), "bureau"), () => ({
      ok: true,
      data: { score: 720 },
      from: "stale_cache",
      fetched_at: fetchedAt,
    }));
    const result = await place.decide(customer);
    expect(result.warnings).toEqual([
      `using cached data of \`bureau\` from ${fetchedAt}: its circuit is open`,
    ]);
    expect(result.selected_labels).toEqual(["Good"]);
  });
});

describe("data with integers that a number cannot represent", () => {
  it("has a warning", async () => {
    const place = fetching(loadedWith(route([credit]), "bureau"), () => ({
      ok: true,
      data: { score: 720, id: "12345678901234567890" },
      integers_as_text: 1,
      from: "endpoint",
      fetched_at: fetchedAt,
    }));
    const result = await place.decide(customer);
    expect(result.warnings).toEqual([
      "an integer in the answer of `bureau` is used as text, because a number cannot represent it exactly",
    ]);
  });
});

describe("a replay", () => {
  it("needs nobody to fetch anything, whether the data came or not", async () => {
    let number = 0;
    const place = fetching(loadedWith(route([credit]), "bureau"), () =>
      ++number % 3 === 0 ? failed("it is gone") : gave({ score: 600 + number * 30 }),
    );
    for (let times = 0; times < 12; times++) await place.decide(customer);
    expect(await replayLog(place.store, {})).toMatchObject({ total: 12, matched: 12, mismatched: 0 });
  });
});
