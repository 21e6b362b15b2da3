import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import {
  endpoints as endpointsSchema,
  enrich as enrichSchema,
} from "../../src/definition/schema/endpoints.js";
import { fakeIo } from "./fake-io.js";
import { workplace } from "./workspace.js";

const { decisions, ...place } = workplace();
const run: typeof place.run = (words, options) => place.run(words, options);

const bureau = `endpoints:
  bureau:
    url: https://bureau.example/score
    auth: { type: api_key, secret_key: BUREAU_KEY }
    cache: { ttl: 1h }
  register: { url: https://register.example }
`;

const loan = `decision:
  id: loan
  type: scored
  enrich:
    - { endpoint: bureau, params: { ssn: "{{ customer.ssn }}" }, into: credit, mapping: { score: value }, required: true }
  evaluators:
    - name: credit
      rules:
        - id: good
          if:
            all:
              - { field: credit.value, op: gte, value: 700 }
              - { field: customer, op: fetch_from_api, value: { endpoint: register } }
          then: { decision: approve, weight: 0.9 }
    - name: house
      static: { decision: review, weight: 0.3 }
`;

const plain = `decision:
  id: plain
  type: binary
  cases: [{ condition: "a", target: t }]
  default: { target: z }
`;

const write = (file: string, text: string): void => writeFileSync(join(decisions, file), text);

beforeEach(() => {
  rmSync(decisions, { recursive: true });
  mkdirSync(decisions);
  write("bureau.yaml", bureau);
  write("loan.yaml", loan);
  write("plain.yaml", plain);
});

describe("a decision that fetches", () => {
  it("is shown with what it fetches, and from where", async () => {
    const { code, out } = await run(["show", "loan"], { terminal: true });
    expect(code).toBe(0);
    expect(out.replaceAll(/\n {4,}/g, " ")).toContain(
      "  fetches     credit (value = score) from bureau (get https://bureau.example/score, cached for 1h, required)\n" +
        "  fetches     whether data is available from register (get https://register.example)\n",
    );
  });

  it("is shown as JSON with the endpoints it asks", async () => {
    const { out } = await run(["show", "loan"]);
    const { endpoints } = JSON.parse(out) as { endpoints: object };
    expect(Object.keys(endpoints)).toEqual(["bureau", "register"]);
    expect((await run(["show", "plain"])).out).not.toContain("endpoints");
  });

  it("is listed with the names of its endpoints", async () => {
    const { out } = await run(["list", "--json"]);
    const items = JSON.parse(out) as readonly { id: string; endpoints?: readonly string[] }[];
    expect(items.map(({ id, endpoints }) => ({ id, endpoints }))).toEqual([
      { id: "loan", endpoints: ["bureau", "register"] },
      { id: "plain", endpoints: undefined },
    ]);
  });

  it("is drawn with its endpoints, which are not targets", async () => {
    const tree = await run(["graph", "loan", "--format", "tree"]);
    expect(tree.out.split("\n").slice(1)).toEqual([
      "├─ fetches credit → endpoint:bureau (endpoint)",
      "└─ fetches → endpoint:register (endpoint)",
      "",
    ]);
    const { out } = await run(["graph", "loan", "--format", "mermaid"]);
    expect(out).toMatch(/n0 -\.->\|"fetches credit"\| n1/);
  });

  it("is valid, alone or with the other files of its directory", async () => {
    for (const path of [decisions, join(decisions, "loan.yaml"), join(decisions, "bureau.yaml")]) {
      const { code, out } = await run(["validate", path, "--json"]);
      expect({ path, code, ...(JSON.parse(out) as object) }).toMatchObject({ code: 0, problems: [] });
    }
  });

  it("is rejected with exit code 3 if it names an unknown endpoint", async () => {
    write("loan.yaml", loan.replace("endpoint: bureau", "endpoint: burau"));
    const { code, out } = await run(["validate", "--format", "plain"]);
    expect(code).toBe(3);
    expect(out).toContain("loan.yaml:5:19\terror\tthe endpoint `burau` is not declared under `endpoints`");
    const asked = await run(["evaluate", "loan", "--input", "{}"]);
    expect(asked).toMatchObject({ code: 3, out: "" });
    expect(asked.err).toContain("did you mean `bureau`?");
  });

  it("may be tried as a draft that changes an endpoint", async () => {
    write("../draft.yaml", `${bureau.replace("1h", "2h")}---\n${loan}`);
    const { code, err } = await run(["backtest", "loan", "--against", join(place.root, "draft.yaml")]);
    expect(err).not.toContain("more than once");
    expect(code).toBe(0);
  });
});

describe("validate", () => {
  it("looks at endpoints without asking them", async () => {
    write("bureau.yaml", `${bureau}  here: { url: "http://localhost:1/x" }\n`);
    const { code, out } = await run(["validate", "--format", "plain"]);
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.split("\t").slice(1).join(" "))).toEqual([
      "warning requests to `here` will be refused: `localhost` is this machine set `allow_private: true` to allow them",
      "warning no decision fetches from `here`",
      "",
    ]);
  });

  it("finds something in a directory of endpoints alone", async () => {
    rmSync(join(decisions, "loan.yaml"));
    rmSync(join(decisions, "plain.yaml"));
    const { code, err } = await run(["validate"], { terminal: true });
    expect(code).toBe(0);
    expect(err).not.toContain("nothing");
  });
});

describe("the manual of endpoints", () => {
  const { properties, required } = endpointsSchema.additionalProperties as {
    properties: Record<string, { properties?: object; oneOf?: readonly { properties: object }[] }>;
    required: readonly string[];
  };

  it("names everything that an endpoint and a fetch may have", async () => {
    const io = fakeIo();
    expect(await main(["help", "endpoints"], io)).toBe(0);
    const inner = Object.values(properties).flatMap((each) => [
      ...Object.keys(each.properties ?? {}),
      ...(each.oneOf ?? []).flatMap((one) => Object.keys(one.properties)),
    ]);
    const fetch = Object.keys(enrichSchema.items.properties);
    const words = [...Object.keys(properties), ...inner, ...fetch, ...required, "enrich", "fetch_from_api"];
    expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(io.written.out))).toEqual([]);
  });
});
