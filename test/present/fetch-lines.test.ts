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

describe("what a decision fetches", () => {
  it("is told with where it goes and where it comes from", () => {
    expect(linesOf([{ endpoint: "b", into: "x" }], { b: { url: "https://b.example" } })).toEqual([
      "x from b (get https://b.example)",
    ]);
  });

  it("is told with its mapping, whether it is kept, and whether it must come", () => {
    const enrich = { endpoint: "b", into: "x", mapping: { "a.b": "v", w: "w" }, required: true };
    expect(linesOf([enrich], { b: bureau })).toEqual([
      "x (v = a.b, w) from b (post https://bureau.example, cached for 1h, required)",
    ]);
  });

  it("is told as far as it is known of a definition that was kept without its endpoints", () => {
    expect(linesOf([{ endpoint: "b", into: "x" }])).toEqual(["x from b"]);
    expect(linesOf([{ endpoint: "b", into: "x", required: true }])).toEqual(["x from b (required)"]);
    expect(linesOf([{ endpoint: "toString", into: "x" }], {})).toEqual(["x from toString"]);
  });
});
