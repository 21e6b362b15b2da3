import { describe, expect, it } from "vitest";
import { declaredEndpoints } from "../../../src/definition/definition-file.js";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../../src/definition/reviews/review-definition.js";
import { reviewEndpoints } from "../../../src/definition/reviews/review-endpoints.js";
import { findAddressFault } from "../../../src/enrichment/address.js";
import type { Diagnostic } from "../../../src/model/diagnostic.js";

const brief = ({ line, column, severity, message, hint }: Diagnostic): string =>
  `${line}:${column} ${severity}: ${message}${hint === undefined ? "" : ` | ${hint}`}`;

function reviewed(text: string, isPart = false): readonly string[] {
  const located: LocatedDefinition[] = [];
  const { summary } = readDefinitions("f.yaml", Buffer.from(text), (each) => located.push(each));
  expect(summary.diagnostics).toEqual([]);
  const options = { classifyAddress: findAddressFault, isPart };
  const problems = [
    ...reviewEndpoints(declaredEndpoints([summary]), located, options),
    ...located.flatMap(reviewDefinition),
  ];
  return problems.map(brief);
}

const using = (name: string): string =>
  `---\ndecision:\n  id: d\n  type: switch\n  input: x.a\n  enrich: [{ endpoint: ${name}, into: x }]\n` +
  '  cases: [{ condition: "input", target: t }]\n  default: { target: z }\n';

const endpoint = (...parts: readonly string[]): string =>
  `endpoints:\n  b: { ${parts.join(", ")} }\n${using("b")}`;

const url = 'url: "https://bureau.example/score"';
const withKey = "use `auth` with an environment variable";

describe("a reviewer", () => {
  it("has nothing to say about a sound endpoint", () => {
    const sound = endpoint(
      url,
      "auth: { type: bearer, token_key: T }",
      "retry: {}",
      "headers: { accept: text/csv }",
    );
    expect(reviewed(sound)).toEqual([]);
  });

  it.each([
    ["http://127.0.0.1:8080/x", "127.0.0.1", "a loopback address"],
    ["http://0x7f.1/", "127.0.0.1", "a loopback address"],
    ["https://10.1.2.3/", "10.1.2.3", "a private address"],
    ["https://[::1]/", "[::1]", "a loopback address"],
    ["https://[fd12::1]/", "[fd12::1]", "a private address"],
    ["http://localhost:3000/", "localhost", "this machine"],
    ["http://api.localhost/", "api.localhost", "this machine"],
  ])("warns that requests to %s will be refused, unless they are allowed", (address, host, what) => {
    expect(reviewed(endpoint(`url: "${address}"`))).toEqual([
      `2:3 warning: requests to \`b\` will be refused: \`${host}\` is ${what} | set \`allow_private: true\` to allow them`,
    ]);
    expect(reviewed(endpoint(`url: "${address}"`, "allow_private: true"))).toEqual([]);
  });

  it.each([
    ["http://169.254.169.254/latest", "169.254.169.254", "a cloud metadata address"],
    ["http://0.0.0.0/", "0.0.0.0", "an unspecified address"],
    ["http://[fe80::1]/", "[fe80::1]", "a link-local address"],
  ])("warns that requests to %s will always be refused", (address, host, what) => {
    expect(reviewed(endpoint(`url: "${address}"`, "allow_private: true"))).toEqual([
      `2:3 warning: requests to \`b\` will be refused: \`${host}\` is ${what}`,
    ]);
  });

  it("warns of a secret over plain http, but not on this machine or in a private network", () => {
    const auth = "auth: { type: bearer, token_key: T }";
    expect(reviewed(endpoint('url: "http://bureau.example"', auth))).toEqual([
      "2:3 warning: the secret of `b` is sent without encryption | use https",
    ]);
    expect(reviewed(endpoint('url: "http://8.8.8.8"', auth))).toHaveLength(1);
    for (const host of ["localhost", "127.0.0.1", "192.168.0.7"]) {
      expect(reviewed(endpoint(`url: "http://${host}"`, auth, "allow_private: true"))).toEqual([]);
    }
    expect(reviewed(endpoint('url: "http://bureau.example"'))).toEqual([]);
  });

  it.each([
    ["Authorization", "Basic dTpw"],
    ["X-Api-Key", "abc"],
    ["X-Auth-Token", "abc"],
    ["X-Client-Secret", "abc"],
    ["Cookie", "session=1"],
    ["X-Whatever", "Bearer abc"],
    ["X-Whatever", "sk-abcdef"],
    ["X-Whatever", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"],
    ["X-Whatever", "8d7f5e1c9b0a4f3e8d7f5e1c9b0a4f3e"],
    ["X-Whatever", "aB3dE5gH7jK9mN1pQ3sT"],
  ])("sees a secret in the header %s: %s, and does not repeat it", (name, value) => {
    const said = reviewed(endpoint(url, `headers: { ${name}: "${value}" }`));
    expect(said).toEqual([`2:3 warning: the header \`${name}\` of \`b\` looks like a secret | ${withKey}`]);
    expect(said.join()).not.toContain(value);
  });

  it.each([
    ["accept", "application/vnd.bureau.v2+json"],
    ["user-agent", "acme-decision-service/1.2.3"],
    ["x-tenant", "0199a3b2-7c1d-7e55-9d1c-2f6a8f7f0c11"],
    ["x-api-key", ""],
    ["x-key-version", "3"],
  ])("sees none in the header %s: %s", (name, value) => {
    expect(reviewed(endpoint(url, `headers: { ${name}: "${value}" }`))).toEqual([]);
  });

  it("sees a secret in the query of a URL", () => {
    expect(reviewed(endpoint('url: "https://b.example/?lang=en&apiKey=abc"'))).toEqual([
      `2:3 warning: \`apiKey\` in the URL of \`b\` looks like a secret | ${withKey}`,
    ]);
  });

  const pauses = "use a longer `timeout`, fewer `attempts` or shorter pauses";

  it.each([
    ["retry: { attempts: 10, base: 1s }", "17s", "5s"],
    ["retry: { base: 2s, max: 1h }, timeout: 6s", "6s", "6s"],
    ["retry: { attempts: 2, base: 500ms }, timeout: 400ms", "0.5s", "400ms"],
  ])("warns that the pauses of %s may exceed the timeout", (settings, longest, timeout) => {
    expect(reviewed(endpoint(url, settings))).toEqual([
      `2:3 warning: the retry pauses of \`b\` may take ${longest}, but its timeout is ${timeout} | ${pauses}`,
    ]);
  });

  it.each(["retry: { attempts: 1, base: 10s, max: 10s }", "retry: { attempts: 10, base: 1s }, timeout: 18s"])(
    "does not warn of %s, whose pauses fit",
    (settings) => {
      expect(reviewed(endpoint(url, settings))).toEqual([]);
    },
  );

  it("warns of unused endpoints, unless other files may use them", () => {
    const text = `endpoints:\n  b: { ${url} }\n  c: { ${url} }\n${using("c")}`;
    expect(reviewed(text)).toEqual(["2:3 warning: no decision fetches from `b`"]);
    expect(reviewed(text, true)).toEqual([]);
  });
});

describe("of answers that an endpoint keeps, a reviewer", () => {
  const kept = (fetch: string, mask: string, cache = "cache: { ttl: 1h }"): string =>
    `endpoints:\n  b: { ${[url, ...(cache === "" ? [] : [cache])].join(", ")} }\n---\ndecision:\n  id: d\n` +
    `  type: switch\n  input: x.a\n  enrich: [${fetch}]\n  logging: { mask: [${mask}] }\n` +
    '  cases: [{ condition: "input", target: t }]\n  default: { target: z }\n';
  const fetch = '{ endpoint: b, into: x, params: { ssn: "{{ customer.ssn }}" } }';

  it.each([
    ["the params are", "/customer", "customer.ssn"],
    ["the data are", "/x/score", "x"],
  ])("warns that responses are not cached if %s masked", (_what, mask, path) => {
    expect(reviewed(kept(fetch, mask))).toContain(
      `8:24 warning: answers of \`b\` are not cached for this decision, because \`${path}\` is masked`,
    );
  });

  it("does not warn if other values are masked, or if nothing is cached", () => {
    expect(reviewed(kept(fetch, "/name"))).toEqual([]);
    expect(reviewed(kept(fetch, "/x", ""))).toEqual([]);
  });

  it("warns that a masked value may be returned where nothing is masked", () => {
    expect(reviewed(kept(fetch, "/customer", ""))).toEqual([
      "8:24 warning: `b` receives the masked `customer.ssn` and may return it in `x`, which is not masked | mask `x` too, or select fields with `mapping`",
    ]);
    expect(reviewed(kept(fetch.replace("into: x", "into: x, mapping: { a: a }"), "/customer", ""))).toEqual(
      [],
    );
    const quiet = kept(fetch, "/customer", "").replace("[/customer]", "[/customer, /x]");
    expect(reviewed(quiet)).toEqual([]);
  });

  it.each(["ghp_0123456789abcdefABCDEF", "a3f9c2e18b7d4f60a3f9c2e18b7d4f60", "hunter2"])(
    "says that %s is no name of a variable, and does not repeat it",
    (secret) => {
      const text = `endpoints:\n  b: { ${url}, auth: { type: bearer, token_key: ${secret} } }\n${using("b")}`;
      const said = reviewed(text);
      expect(said).toEqual([
        "2:3 warning: `token_key` of `b` looks like a secret, not like the name of a variable | put the secret into an environment variable, and write the name of the variable here",
      ]);
    },
  );
});

describe("of what is fetched, a reviewer", () => {
  const routing = (fetch: string, rest: string): string =>
    `endpoints:\n  b: { ${url} }\n---\ndecision:\n  id: d\n  enrich: [{ endpoint: b, into: x${fetch} }]\n` +
    `  default: { target: z }\n${rest}`;
  const unread = (line: string): string => `${line} is fetched but never read`;
  const cases = (condition: string): string =>
    `  type: switch\n  cases: [{ condition: "${condition}", target: t }]\n`;

  it.each([
    ["", cases("a > 1"), ["6:33 warning: `x`"]],
    [", mapping: { s: v, t: w }", cases("x.v > 1"), ["6:56 warning: `x.w`"]],
    [", mapping: { s: v }", `${cases("input > 1")}  input: a\n`, ["6:50 warning: `x.v`"]],
  ])("warns of fetched data that nothing reads: x%s in\n%s", (fetch, rest, said) => {
    expect(reviewed(routing(fetch, rest))).toEqual(said.map(unread));
  });

  it.each([
    ["a condition", "", cases("x.a > 1")],
    ["a condition on the whole of it", ", mapping: { s: v }", cases("exists(x)")],
    ["a condition by way of the input", "", cases("input.x.a > 1")],
    ["a condition on the whole context", "", cases("length(input) > 1")],
    ["the input", "", `${cases("input > 1")}  input: context.x.n\n`],
    ["who splits by the whole context", "", "  type: weighted\n  cases: [{ target: t, weight: 100 }]\n"],
    ["an entity", "", `${cases("a")}  entities: [{ type: c, id: "{{ x.id }}" }]\n`],
    ["another fetch", " }, { endpoint: b, into: y, params: { p: '{{ x.id }}' }", cases("y.a")],
    ["nobody, but it must be there", ", required: true", cases("a > 1")],
  ])("is silent where it is read by %s", (_who, fetch, rest) => {
    expect(reviewed(routing(fetch, rest))).toEqual([]);
  });

  const votes = (condition: string, fetched: string): string =>
    `endpoints:\n  b: { ${url} }\n---\ndecision:\n  id: d\n  type: scored\n  evaluators:\n    - name: s\n` +
    "      static: { decision: d, weight: 1 }\n    - name: e\n      rules:\n        - id: r\n" +
    `          if: { all: [${condition}, { field: a, op: fetch_from_api, value: ${fetched} }] }\n` +
    "          then: { decision: d, weight: 1 }\n";

  it("looks at the fields of rules, and at what conditions fetch", () => {
    const mapped = "{ endpoint: b, mapping: { score: x.v } }";
    expect(reviewed(votes("{ field: x.v, op: gt, value: 1 }", mapped))).toEqual([]);
    expect(reviewed(votes("{ field: y.v, op: gt, value: 1 }", "{ endpoint: b }"))).toEqual([]);
    expect(reviewed(votes("{ field: y, op: present }", mapped))).toEqual([
      "13:122 warning: `x.v` is fetched but never read",
    ]);
  });
});
