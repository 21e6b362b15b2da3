import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { environmentOf } from "../../src/definition/loaded-definition.js";
import type { Library } from "../../src/definition/library.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { validate } from "../../src/definition/validate-schema.generated.js";
import { invalidUrlReason } from "../../src/definition/checks/check-endpoints.js";

function libraryOf(...documents: readonly unknown[]): Library {
  const text = documents.map((each) => JSON.stringify(each)).join("\n---\n");
  const { summary, body } = readDefinitions("f.yaml", Buffer.from(text));
  return buildLibrary([summary], (_file, position) => {
    const found = body.definitions[position];
    return found === undefined ? Promise.reject(new Error("gone")) : Promise.resolve(found);
  });
}

const route = {
  id: "d",
  type: "switch",
  cases: [{ condition: "x.a", target: "t" }],
  default: { target: "z" },
};
const asking = (...endpoints: readonly string[]): unknown => ({
  decision: { ...route, enrich: endpoints.map((endpoint, index) => ({ endpoint, into: `x.i${index}` })) },
});
const one = { url: "https://one.example", timeout: "2s" };
const two = { url: "https://two.example" };

/** What it was before there were endpoints, of a decision without targets and guardrails. */
const plainHash = "cf859a84";

describe("the environment of a decision", () => {
  it("holds the endpoints that it fetches from, and no others", async () => {
    const { environment } = await libraryOf(asking("one"), { endpoints: { one, two } }).find("d");
    expect(environment).toEqual({ targets: [], endpoints: { one } });
  });

  it("holds those of its conditions too, each once", async () => {
    const condition = { field: "a", op: "fetch_from_api", value: { endpoint: "two" } };
    const rules = [{ id: "r", if: { none: [condition] }, then: { decision: "d", weight: 1 } }];
    const decision = {
      id: "d",
      type: "scored",
      enrich: [{ endpoint: "one", into: "x" }],
      evaluators: [{ name: "e", rules }],
    };
    const { environment } = await libraryOf({ decision }, { endpoints: { two, one } }).find("d");
    expect(environment).toEqual({ targets: [], endpoints: { one, two } });
  });

  it("has no word about endpoints where it fetches nothing, so that its hash is what it always was", async () => {
    const without = await libraryOf({ decision: route }).find("d");
    const beside = await libraryOf({ decision: route }, { endpoints: { one, two } }).find("d");
    const empty = await libraryOf({ decision: { ...route, enrich: [] } }, { endpoints: { one } }).find("d");
    expect(beside.environment).toEqual({ targets: [] });
    expect(beside.environment_hash).toBe(without.environment_hash);
    expect(empty.environment_hash).toBe(without.environment_hash);
    expect(without.environment_hash.slice(0, 8)).toBe(plainHash);
    expect(libraryOf({ endpoints: { one } }).sharedEnvironment()).toEqual({ targets: [] });
  });

  it("has another hash with every change of an endpoint that it asks, and of no other", async () => {
    const hashOf = async (endpoints: object): Promise<string> =>
      (await libraryOf(asking("one"), { endpoints }).find("d")).environment_hash;
    const before = await hashOf({ one, two });
    expect(await hashOf({ two: { url: "https://other.example" }, one })).toBe(before);
    expect(await hashOf({ one: { ...one, timeout: "3s" }, two })).not.toBe(before);
    expect(await hashOf({ one: { ...one, allow_private: false }, two })).not.toBe(before);
  });
});

const word = fc
  .stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
  .filter((name) => !/^(?:constructor|__proto__|prototype)$/.test(name));
const variable = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,20}$/);
const duration = fc.stringMatching(/^[1-9][0-9]{0,3}(?:ms|s|m|h|d|w)$/);
const auth = fc.oneof(
  fc.record(
    { type: fc.constant("api_key"), secret_key: variable, header: fc.stringMatching(/^X-[A-Za-z]{1,8}$/) },
    { requiredKeys: ["type", "secret_key"] },
  ),
  fc.record({ type: fc.constant("basic"), username_key: variable, password_key: variable }),
  fc.record({ type: fc.constant("bearer"), token_key: variable }),
);
const endpoint = fc.record(
  {
    url: fc.webUrl({ withQueryParameters: true }).filter((url) => invalidUrlReason(url) === undefined),
    method: fc.constantFrom("get", "post", "put", "delete"),
    auth,
    timeout: duration,
    headers: fc.dictionary(fc.stringMatching(/^y-[a-z]{1,8}$/), fc.stringMatching(/^[ -~]{0,20}$/)),
    cache: fc.record({ ttl: duration }),
    retry: fc.record(
      { attempts: fc.integer({ min: 1, max: 10 }), base: duration, max: duration },
      { requiredKeys: [] },
    ),
    rate_limit: fc.record({ count: fc.integer({ min: 1, max: 1000 }), per: duration }),
    circuit_breaker: fc.record(
      {
        failure_threshold: fc.integer({ min: 1, max: 9 }),
        timeout: duration,
        success_threshold: fc.constant(1),
      },
      { requiredKeys: [] },
    ),
    allow_private: fc.boolean(),
  },
  { requiredKeys: ["url"] },
);

describe("whatever endpoints the schema accepts", () => {
  it("come out of the environment as they went in", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(word, endpoint, { minKeys: 1, maxKeys: 4 }), async (endpoints) => {
        fc.pre(validate({ endpoints }));
        const names = Object.keys(endpoints);
        const library = libraryOf(asking(...names), { endpoints });
        expect(library.diagnostics).toEqual([]);
        expect((await library.find("d")).environment["endpoints"]).toEqual(endpoints);
        const fetches = names.slice(1).map((name) => ({ endpoint: name, line: 1, column: 1 }));
        const some = environmentOf(
          { reached: [], fetches },
          { targets: [], guardrails: [], endpoints, masks: [], overrides: [], observers: [] },
        );
        expect(Object.keys(some.endpoints ?? {}).sort()).toEqual(names.slice(1).sort());
      }),
      { numRuns: 60 },
    );
  });
});
