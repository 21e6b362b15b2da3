import { describe, expect, it } from "vitest";
import { assertNoGateKey, findGate, gateKeyText, parseGateKey } from "../../src/definition/gate-key.js";
import type { Library } from "../../src/definition/library.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { DecisionError } from "../../src/errors.js";

const gate = (id: string, name: string, version?: number): string =>
  `decision:\n  id: ${id}\n  type: gate\n  action: { org: acme, domain: pay, name: ${name}${version === undefined ? "" : `, world_model_version: ${version}`} }\n  rules: [{ id: a, tier: T3, severity: 1, when: "true", status: GREEN }]\n`;

function libraryOf(...texts: readonly string[]): Library {
  const files = texts.map((text, index) => readDefinitions(`${index}.yaml`, Buffer.from(text)).summary);
  return buildLibrary(files, () => Promise.reject(new Error("no body is needed")));
}

function errorOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof DecisionError) return `${error.code}: ${error.message} | ${error.hint ?? ""}`;
  }
  throw new Error("nothing was refused");
}

describe("the key of a gate", () => {
  it.each([
    ["a/b/c", { org: "a", domain: "b", action: "c", version: undefined }],
    ["acme/payments/wire.approve@3", { org: "acme", domain: "payments", action: "wire.approve", version: 3 }],
    ["a/b/c@0", { org: "a", domain: "b", action: "c", version: 0 }],
    ["ä/b-1/c_2", { org: "ä", domain: "b-1", action: "c_2", version: undefined }],
  ])("is read: %s", (text, key) => {
    expect(parseGateKey(text)).toEqual(key);
  });

  it.each([
    "",
    "a",
    "a/b",
    "a/b/c/d",
    "a//c",
    "a/b/",
    "/b/c",
    "a/b/c@",
    "a/b/c@x",
    "a/b/c@1.5",
    "a/b/c@-1",
    "a b/c/d",
    "a/b/c@1@2",
    "a/b/c@1234567890123456",
  ])("is refused: %j", (text) => {
    expect(errorOf(() => parseGateKey(text))).toMatch(/^usage: `.*` is not a gate key \| write ORG\//);
  });

  it("is written with its version, which is 1 where there is none", () => {
    const action = { org: "a", domain: "b", name: "c" };
    expect(gateKeyText(action)).toBe("a/b/c@1");
    expect(gateKeyText({ ...action, world_model_version: 3 })).toBe("a/b/c@3");
    const key = parseGateKey(gateKeyText(action));
    expect(key).toEqual({ org: "a", domain: "b", action: "c", version: 1 });
  });
});

describe("the gate that answers", () => {
  const library = libraryOf(
    gate("one", "wire"),
    gate("ten", "wire", 10),
    gate("two", "wire", 2),
    gate("other", "refund", 7),
  );

  it.each([
    ["acme/pay/wire", "ten"],
    ["acme/pay/wire@10", "ten"],
    ["acme/pay/wire@2", "two"],
    ["acme/pay/wire@1", "one"],
    ["acme/pay/refund", "other"],
  ])("to %s is %s", (key, id) => {
    expect(findGate(parseGateKey(key), library)).toBe(id);
  });

  it.each([
    ["acme/pay/wire@3", "definition_not_found: `acme/pay/wire` has no version 3 | it has 1, 10, 2"],
    ["acme/pay/wrie", "definition_not_found: no gate for `acme/pay/wrie` | did you mean `acme/pay/wire`?"],
    ["acme/pay/wrie@2", "definition_not_found: no gate for `acme/pay/wrie` | did you mean `acme/pay/wire`?"],
    [
      "x/y/zzzzzzzzzz",
      "definition_not_found: no gate for `x/y/zzzzzzzzzz` | defined gates: acme/pay/wire@1, acme/pay/wire@10, acme/pay/wire@2, acme/pay/refund@7",
    ],
  ])("is none to %s", (key, error) => {
    expect(errorOf(() => findGate(parseGateKey(key), library))).toBe(error);
  });

  it("is none where none is defined, or some file cannot be used", () => {
    const key = parseGateKey("a/b/c");
    expect(errorOf(() => findGate(key, libraryOf()))).toContain("| no gate is defined");
    expect(errorOf(() => findGate(key, libraryOf(gate("g", "wire", -1))))).toContain(
      "| no gate is defined; some files cannot be used: run `agent-33 decision validate`",
    );
  });

  it("is one of many, of which a few are named", () => {
    const many = libraryOf(...Array.from({ length: 8 }, (_, at) => gate(`g${at}`, `act-number-${at}`)));
    expect(errorOf(() => findGate(parseGateKey("x/y/z"), many))).toMatch(/act-number-4@1, and 3 more$/);
  });
});

describe("a gate of an action with a broken gate", () => {
  const broken = (action: string): string =>
    `decision: { id: next, type: gate, action: ${action}, rules: 5 }\n`;
  const torn = (action: string): string =>
    `decision:\n  id: next\n  type: gate\n  action: ${action}\n  rules: [\n`;

  it.each([
    ["is YAML", broken("{ org: acme, domain: pay, name: wire }")],
    ["has no readable organisation", broken("{ org: [acme], domain: pay, name: wire }")],
    ["has no readable name", broken("{ org: acme, domain: pay, name: { wire: 1 } }")],
    ["is torn", torn("{ org: acme, domain: pay, name: wire }")],
    ["is torn, with quotes", torn('{ "org": \'acme\', domain: pay, "name": "wire" }')],
    ["is torn, with an organisation on the next line", torn("\n    org:\n      acme\n    name: wire")],
    ["is torn, with an escaped organisation", torn('{ org: "ac\\u006de", domain: pay, name: wire }')],
    ["is torn, with an alias for the organisation", torn("{ org: *acme, domain: pay, name: wire }")],
    ["is torn, without an organisation", torn("{ name: wire")],
    ["is empty", ""],
  ])("is not used, because the broken one may be newer: it %s", (_how, file) => {
    const library = libraryOf(gate("now", "wire"), file);
    expect(errorOf(() => findGate(parseGateKey("acme/pay/wire"), library))).toContain(
      "definition_invalid: a gate of `acme/pay/wire` is not valid",
    );
  });

  it.each([
    ["another organisation", broken("{ org: globex, domain: pay, name: wire }")],
    ["another organisation, in a torn file", torn("{ org: globex, domain: pay, name: wire }")],
    ["another action", broken("{ org: acme, domain: pay, name: refund }")],
    ["another action, in a torn file", torn("{ org: acme, domain: pay, name: refund }")],
  ])("is used where the broken one is for %s", (_other, file) => {
    expect(findGate(parseGateKey("acme/pay/wire"), libraryOf(gate("now", "wire"), file))).toBe("now");
  });
});

describe("two gates with one key", () => {
  it("are both invalid, and each names the other", () => {
    const library = libraryOf(gate("a", "wire", 2), gate("b", "wire", 2), gate("c", "wire", 3));
    expect(
      library.diagnostics.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`),
    ).toEqual([
      "0.yaml:1:1 `b` is already a gate for `acme/pay/wire@2`",
      "1.yaml:1:1 `a` is already a gate for `acme/pay/wire@2`",
    ]);
    expect(library.ids).toEqual(["c"]);
    expect(library.brokenPolicies).toEqual([]);
  });

  it("are two where one names version 1 and the other none", () => {
    expect(libraryOf(gate("a", "wire"), gate("b", "wire", 1)).diagnostics).toHaveLength(2);
  });

  it("are no problem where the versions differ", () => {
    expect(libraryOf(gate("a", "wire", 1), gate("b", "wire", 2)).diagnostics).toEqual([]);
  });
});

describe("the key of a gate in place of an id", () => {
  const { gates } = libraryOf(gate("one", "wire"), gate("three", "wire", 3));

  it.each([
    { key: "acme/pay/wire", id: "; its id is `three`" },
    { key: "acme/pay/wire@1", id: "; its id is `one`" },
    { key: "acme/pay/wir", id: "" },
  ])("is refused with the command for it: $key", ({ key, id }) => {
    expect(errorOf(() => assertNoGateKey(key, gates))).toBe(
      `definition_not_found: no decision called \`${key}\` | to evaluate a gate by its key, use \`agent-33 decision gate ${key}\`${id}`,
    );
  });

  it("is not the id of a decision", () => {
    expect(() => assertNoGateKey("one", gates)).not.toThrow();
  });
});
