import { describe, expect, it } from "vitest";
import { buildLibrary } from "../../../src/definition/library.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import type { Diagnostic } from "../../../src/model/diagnostic.js";

const brief = ({ line, column, message, hint }: Diagnostic): string =>
  `${line}:${column} ${message}${hint === undefined ? "" : ` | ${hint}`}`;

const problemsOf = (text: string): readonly string[] =>
  readDefinitions("f.yaml", Buffer.from(text)).summary.diagnostics.map(brief);

/** An endpoint `b` with these lines of its own. */
const endpoint = (...lines: readonly string[]): string =>
  [
    "endpoints:",
    "  b:",
    "    url: https://bureau.example/score",
    ...lines.map((line) => `    ${line}`),
    "",
  ].join("\n");

interface Fault {
  readonly name: string;
  readonly yaml: string;
  readonly problems: readonly string[];
}

const methods = "`get`, `post`, `put`, `delete`";
const duration = "must be a duration such as 500ms, 30s, 1h or 1h30m";
const variable = "must be the name of an environment variable";
const secretly = "put the secret into an environment variable, and write the name of the variable here";

const faults: readonly Fault[] = [
  { name: "no URL", yaml: "endpoints:\n  b: {}\n", problems: ["2:6 `url` is missing in `b`"] },
  {
    name: "no map",
    yaml: "endpoints: [a]\n",
    problems: [
      '1:12 `endpoints` must be a map (got a list) | for example `endpoints: { crm: { url: "https://crm.example/customers" } }`',
    ],
  },
  {
    name: "a name with a blank",
    yaml: "endpoints:\n  my bureau: { url: https://b.example }\n",
    problems: [
      '2:3 the name of an endpoint may contain only letters, digits, `_` and `-`, at most 64 characters (got "my bureau")',
    ],
  },
  {
    name: "a name that every object has",
    yaml: "endpoints:\n  constructor: { url: https://b.example }\n",
    problems: ["2:3 `constructor` cannot be a name"],
  },
  {
    name: "a URL that is none",
    yaml: endpoint().replace("https://bureau.example/score", "bureau"),
    problems: ["3:10 the URL cannot be used: it is not a URL such as https://example.com/score"],
  },
  {
    name: "a URL of another kind",
    yaml: endpoint().replace("https:", "ftp:"),
    problems: ["3:10 the URL cannot be used: it must start with https:// or http://"],
  },
  {
    name: "a method in upper case",
    yaml: endpoint("method: POST"),
    problems: [`4:13 \`method\` must be one of ${methods} (got "POST") | did you mean \`post\`?`],
  },
  {
    name: "a timeout that is a number of seconds",
    yaml: endpoint("timeout: 5"),
    problems: ["4:14 `timeout` must be text (got 5) | write 5s for that many seconds"],
  },
  {
    name: "a ttl that is a text of a number",
    yaml: endpoint('cache: { ttl: "3600" }'),
    problems: [`4:19 \`ttl\` ${duration} (got "3600") | write 3600s for that many seconds`],
  },
  {
    name: "other durations that are none",
    yaml: endpoint("retry: { base: soon, max: 1 }", "rate_limit: { count: 1, per: session }"),
    problems: [
      `4:20 \`base\` ${duration} (got "soon")`,
      "4:31 `max` must be text (got 1) | write 1s for that many seconds",
      `5:34 \`per\` ${duration} (got "session")`,
    ],
  },
  {
    name: "durations of nothing",
    yaml: endpoint(
      "timeout: 0s",
      "cache: { ttl: 0.0h }",
      "retry: { base: 0ms, max: 0s }",
      "rate_limit: { count: 1, per: 0m0s }",
      "circuit_breaker: { timeout: 0s }",
    ),
    problems: [
      '4:14 `timeout` must be longer than 0 (got "0s")',
      '5:19 `ttl` must be longer than 0 (got "0.0h") | remove `cache` to disable caching',
      '6:20 `base` must be longer than 0 (got "0ms")',
      '6:30 `max` must be longer than 0 (got "0s")',
      '7:34 `per` must be longer than 0 (got "0m0s")',
      '8:33 `timeout` must be longer than 0 (got "0s")',
    ],
  },
  {
    name: "numbers out of bounds",
    yaml: endpoint(
      "retry: { attempts: 11 }",
      "rate_limit: { count: 0, per: 1s }",
      "circuit_breaker: { failure_threshold: 0, success_threshold: 1.5 }",
    ),
    problems: [
      "4:24 `attempts` must be at most 10 (got 11)",
      "5:26 `count` must be at least 1 (got 0)",
      "6:43 `failure_threshold` must be at least 1 (got 0)",
      "6:65 `success_threshold` must be a whole number (got 1.5)",
    ],
  },
  {
    name: "what the endpoints of others have",
    yaml: endpoint("cache: { ttl: 1h, adapter: redis }", "retry_config: {}"),
    problems: [
      '4:32 `adapter` must be one of `store`, `memory` (got "redis")',
      "5:5 unknown key `retry_config` | did you mean `retry`?",
    ],
  },
  {
    name: "a misspelt key",
    yaml: endpoint("timout: 5s"),
    problems: ["4:5 unknown key `timout` | did you mean `timeout`?"],
  },
  {
    name: "an unknown auth",
    yaml: endpoint("auth: { type: baerer, token_key: T }"),
    problems: [
      '4:19 `type` must be one of `api_key`, `basic`, `bearer` (got "baerer") | did you mean `bearer`?',
    ],
  },
  {
    name: "an auth without a type",
    yaml: endpoint("auth: { token_key: T }"),
    problems: ["4:11 `type` is missing in `auth`"],
  },
  {
    name: "an auth without what it needs, or with what another one needs",
    yaml: endpoint("auth: { type: basic, username_key: U, token_key: T }"),
    problems: [
      "4:11 `password_key` is missing in `auth`",
      "4:43 unknown key `token_key` | known here: type, username_key, password_key",
    ],
  },
  {
    name: "a header that auth sets too",
    yaml: endpoint("auth: { type: api_key, secret_key: K }", "headers: { x-api-key: v }"),
    problems: ["5:16 the header `x-api-key` is already set by `auth` | remove one of them"],
  },
  {
    name: "a header that a token is sent in",
    yaml: endpoint("auth: { type: bearer, token_key: K }", "headers: { AUTHORIZATION: v }"),
    problems: ["5:16 the header `AUTHORIZATION` is already set by `auth` | remove one of them"],
  },
  {
    name: "a header that is used twice",
    yaml: endpoint("headers: { Accept: a, accept: b }"),
    problems: ["4:27 the header `accept` is used twice"],
  },
  {
    name: "headers that are not for anybody to set",
    yaml: endpoint("headers: { Host: a }", "auth: { type: api_key, secret_key: K, header: Content-Length }"),
    problems: ["4:16 the header `Host` cannot be set", "5:51 the header `Content-Length` cannot be set"],
  },
  {
    name: "headers that cannot be sent",
    yaml: endpoint('headers: { "a b": c, X-Y: "é" }', "auth: { type: api_key, secret_key: K, header: 'a:' }"),
    problems: [
      '4:16 the name of a header may contain letters, digits and the like, but no spaces and no `:` (got "a b")',
      "4:31 `X-Y` may contain only printable ASCII characters",
      '5:51 `header` must be the name of a header, such as X-API-Key (got "a:")',
    ],
  },
];

describe("an endpoint", () => {
  it("may have all that endpoints have", () => {
    const whole = endpoint(
      "method: get",
      "auth: { type: api_key, header: X-API-Key, secret_key: BUREAU_KEY }",
      "timeout: 5s",
      "headers: { accept: application/json }",
      "cache: { ttl: 1h }",
      "retry: { attempts: 3, base: 100ms, max: 2s }",
      "rate_limit: { count: 10, per: 1s }",
      "circuit_breaker: { failure_threshold: 5, timeout: 60s, success_threshold: 2 }",
      "allow_private: false",
    );
    expect(problemsOf(whole)).toEqual([]);
  });

  it.each(faults)("is rejected with $name", ({ yaml, problems }) => {
    expect(problemsOf(yaml)).toEqual(problems);
  });
});

describe("a secret that was written instead of its name", () => {
  const secret = "s3cr3t-8d7f";

  it.each([
    [
      "secret_key",
      `auth: { type: api_key, secret_key: "${secret}" }`,
      `4:40 \`secret_key\` ${variable} | ${secretly}`,
    ],
    [
      "token_key",
      `auth: { type: bearer, token_key: "Bearer ${secret}" }`,
      `4:38 \`token_key\` ${variable} | ${secretly}`,
    ],
    [
      "a number",
      "auth: { type: bearer, token_key: 987654321 }",
      `4:38 \`token_key\` must be text | ${secretly}`,
    ],
    ["auth itself", `auth: "Bearer ${secret}"`, "4:11 `auth` must be a map"],
    ["a header", "headers: { X-Key: 987654321 }", "4:23 `X-Key` must be text | put it in quotes"],
    ["headers themselves", `headers: ${secret}`, "4:14 `headers` must be a map"],
  ])("as %s is not shown", (_where, line, problem) => {
    const problems = problemsOf(endpoint(line));
    expect(problems).toEqual([problem]);
    expect(problems.join()).not.toMatch(/s3cr3t|987654321/);
  });

  it("is not shown of a URL either", () => {
    const problems = problemsOf(endpoint().replace("https://", `https://user:${secret}@`));
    expect(problems).toEqual([
      "3:10 the URL cannot be used: it must not contain a user name or password: use `auth`",
    ]);
  });
});

const asking = (id: string, name: string): string =>
  `decision:\n  id: ${id}\n  type: switch\n  enrich: [{ endpoint: ${name}, into: x }]\n` +
  '  cases: [{ condition: "x.a", target: t }]\n  default: { target: z }\n';

function libraryOf(...texts: readonly string[]): ReturnType<typeof buildLibrary> {
  const read = texts.map((text, index) => readDefinitions(`${index}.yaml`, Buffer.from(text)));
  return buildLibrary(
    read.map(({ summary }) => summary),
    (file, position) => {
      const found = read[Number.parseInt(file, 10)]?.body.definitions[position];
      return found === undefined ? Promise.reject(new Error(file)) : Promise.resolve(found);
    },
  );
}

const withFile = (problem: Diagnostic): string => `${problem.file}:${brief(problem)}`;

describe("endpoints of a directory", () => {
  it("are listed with their positions, and may be declared in another file", () => {
    const library = libraryOf(asking("d", "b"), endpoint());
    expect(library.diagnostics).toEqual([]);
    expect(library.ids).toEqual(["d"]);
    expect(library.endpoints).toEqual([
      { name: "b", endpoint: { url: "https://bureau.example/score" }, file: "1.yaml", line: 2, column: 3 },
    ]);
  });

  it.each([
    ["one near it", "bb", "did you mean `b`?"],
    ["nothing near it", "weather", "add it under `endpoints:`"],
  ])("must be known to be fetched from: with %s", async (_what, name, hint) => {
    const library = libraryOf(asking("d", name), endpoint());
    expect(library.diagnostics.map(withFile)).toEqual([
      `0.yaml:4:24 the endpoint \`${name}\` is not declared under \`endpoints\` | ${hint}`,
    ]);
    expect(library.broken).toEqual(["d"]);
    await expect(library.find("d")).rejects.toThrow("the definition of `d` is not valid");
  });

  it("must be known to conditions too", () => {
    const vote =
      "decision:\n  id: v\n  type: scored\n  evaluators:\n    - name: e\n      rules:\n        - id: r\n" +
      "          if: { any: [{ field: a, op: fetch_from_api, value: { endpoint: c } }] }\n" +
      "          then: { decision: d, weight: 1 }\n";
    expect(libraryOf(vote, endpoint()).diagnostics.map(withFile)).toEqual([
      "0.yaml:8:74 the endpoint `c` is not declared under `endpoints` | add it under `endpoints:`",
    ]);
  });

  it("are declared once", async () => {
    const library = libraryOf(
      asking("d", "b"),
      asking("e", "c"),
      `${endpoint()}  c: { url: https://c.example }\n`,
      endpoint(),
    );
    expect(library.diagnostics.map(withFile)).toEqual([
      "2.yaml:2:3 the endpoint `b` is declared more than once (also in 3.yaml:2) | declare it once",
      "3.yaml:2:3 the endpoint `b` is declared more than once (also in 2.yaml:2) | declare it once",
    ]);
    expect(library.ids).toEqual(["e"]);
    await expect(library.find("d")).rejects.toThrow("the definition of `d` is not valid");
  });

  it("that are declared twice make a policy that asks them one that nothing is allowed without", () => {
    const policy =
      "decision:\n  id: p\n  type: policy\n  tool: t\n  policies: []\n  enrich: [{ endpoint: b, into: x }]\n";
    expect(libraryOf(policy, endpoint(), endpoint()).brokenPolicies).toHaveLength(2);
    expect(libraryOf(policy, endpoint()).brokenPolicies).toEqual([]);
  });

  it.each([
    ["that is YAML", endpoint("timout: 5s")],
    ["that is no YAML", `${endpoint()}\n  - [`],
    ["that is misspelt", "endpoint:\n  b: { url: https://b.example }\n"],
    ["in braces", '{ "endpoints": { "b": { "url": 5 } } }'],
    ["that is no text", `\0${endpoint()}`],
  ])("in a broken file %s make only the decisions invalid that use them", async (_how, broken) => {
    const other = asking("other", "c");
    const library = libraryOf(
      asking("d", "b"),
      broken,
      other,
      "endpoints: { c: { url: https://c.example } }\n",
    );
    expect(library.ids).toEqual(["other"]);
    expect(library.diagnostics.map(withFile)).toContain(
      "0.yaml:4:24 the endpoint `b` is not declared under `endpoints`, unless in `1.yaml`, which is not valid" +
        " | fix that file first",
    );
    await expect(library.find("other")).resolves.toMatchObject({ definition: { id: "other" } });
  });

  it("need not be known where only some files were read", () => {
    const { summary } = readDefinitions("f.yaml", Buffer.from(asking("d", "b")));
    const load = (): Promise<never> => Promise.reject(new Error("no body is needed"));
    expect(buildLibrary([summary], load, { isPart: true }).diagnostics).toEqual([]);
    expect(buildLibrary([summary], load).diagnostics).toHaveLength(1);
  });
});
