import { describe, expect, it } from "vitest";
import type { Definition, LoadedDefinition } from "../../src/model/definition.js";
import type { Enrichment } from "../../src/model/endpoint.js";
import type { JsonObject } from "../../src/model/json.js";
import { fetchLines } from "../../src/present/definition-views.js";

function linesOf(enrich: readonly Enrichment[], endpoints?: JsonObject): readonly string[] {
  const definition: Definition = { id: "d", type: "switch", cases: [], default: { target: "z" }, enrich };
  const environment = endpoints === undefined ? { targets: [] } : { targets: [], endpoints };
  const loaded: LoadedDefinition = {
    definition,
    definition_hash: "",
    environment,
    environment_hash: "",
    file: "f.yaml",
    line: 1,
  };
  return fetchLines(loaded);
}

const bureau = { url: "https://bureau.example", method: "post", cache: { ttl: "1h" } };

describe("the fetches of a definition", () => {
  it("are shown with their target and endpoint", () => {
    expect(linesOf([{ endpoint: "b", into: "x" }], { b: { url: "https://b.example" } })).toEqual([
      "x from b (get https://b.example)",
    ]);
  });

  it("are shown with mapping, cache and requirement", () => {
    const enrich = { endpoint: "b", into: "x", mapping: { "a.b": "v", w: "w" }, required: true };
    expect(linesOf([enrich], { b: bureau })).toEqual([
      "x (v = a.b, w) from b (post https://bureau.example, cached for 1h, required)",
    ]);
  });

  it("are shown without endpoints for a definition from the store", () => {
    expect(linesOf([{ endpoint: "b", into: "x" }])).toEqual(["x from b"]);
    expect(linesOf([{ endpoint: "b", into: "x", required: true }])).toEqual(["x from b (required)"]);
    expect(linesOf([{ endpoint: "toString", into: "x" }], {})).toEqual(["x from toString"]);
  });
});
