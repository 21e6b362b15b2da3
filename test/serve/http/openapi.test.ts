import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it } from "vitest";
import { compileContextSchema } from "../../../src/definition/context-schema.js";
import type { JsonObject } from "../../../src/model/json.js";
import { embedSchema } from "../../../src/serve/embed-schema.js";
import { sampleWorld } from "../sample-world.js";
import type { Serving } from "./serving.js";
import { get, post, serving } from "./serving.js";

const schemas: Readonly<
  Record<string, { readonly schema: JsonObject; readonly contexts: readonly unknown[] }>
> = {
  "local references": {
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      required: ["payee"],
      properties: { payee: { $ref: "#/definitions/party" }, tree: { $ref: "#" } },
      definitions: {
        party: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
      },
    },
    contexts: [
      { payee: { name: "x" } },
      { payee: {} },
      { payee: { name: "x" }, tree: { payee: { name: 1 } } },
      { payee: { name: "x" }, tree: { payee: { name: "y" } } },
      {},
    ],
  },
  "an id of its own": {
    schema: {
      $id: "https://schemas.example/wire.json",
      type: "object",
      properties: {
        a: { $ref: "#amount" },
        b: { $ref: "wire.json#/definitions/amount" },
        c: { $ref: "https://schemas.example/wire.json#amount" },
        d: { $ref: "https://schemas.example/wire.json" },
      },
      definitions: { amount: { $id: "#amount", type: "number", minimum: 0 } },
    },
    contexts: [
      { a: 1 },
      { a: -1 },
      { b: "1" },
      { b: 1 },
      { c: -1 },
      { c: 2 },
      { d: { a: -1 } },
      { d: { a: 1 } },
    ],
  },
  "an id within": {
    schema: {
      type: "object",
      properties: {
        a: { $ref: "https://schemas.example/part.json" },
        b: { $ref: "https://schemas.example/part.json#/definitions/x" },
      },
      definitions: {
        part: {
          $id: "https://schemas.example/part.json",
          type: "object",
          required: ["x"],
          properties: { x: { $ref: "#/definitions/x" } },
          definitions: { x: { type: "integer" } },
        },
      },
    },
    contexts: [{ a: { x: 1 } }, { a: { x: "1" } }, { a: {} }, { b: 1 }, { b: "1" }],
  },
  "keywords as names and values": {
    schema: {
      type: "object",
      required: ["$id"],
      properties: {
        $id: { type: "string" },
        $schema: { type: "number" },
        $ref: { type: "boolean" },
        c: { const: { $ref: "#/x", $id: "y" } },
        e: { enum: [{ $ref: "#/x" }] },
      },
    },
    contexts: [
      {},
      { $id: "x" },
      { $id: 1 },
      { $id: "x", $schema: "1" },
      { $id: "x", $ref: 1 },
      { $id: "x", c: { $ref: "#/x", $id: "y" } },
      { $id: "x", c: { $ref: "#/y" } },
      { $id: "x", e: { $ref: "#/x" } },
      { $id: "x", e: {} },
    ],
  },
};

/** An independent OpenAPI validator. */
function accepts(document: JsonObject, pointer: string, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "https://document.example/", ...document });
  return ajv.validate({ $ref: `https://document.example/#${pointer}` }, value);
}

describe("a schema embedded in another document", () => {
  const cases = Object.entries(schemas).flatMap(([name, { schema, contexts }]) =>
    contexts.map((context) => ({ name, schema, context, shown: JSON.stringify(context) })),
  );

  it.each(cases)("accepts and rejects the same as alone: $name, $shown", ({ schema, context }) => {
    const own = compileContextSchema(schema)(context as JsonObject).length === 0;
    const at = "#/components/schemas/a~1b/$defs/context";
    const document = { components: { schemas: { "a/b": { $defs: { context: embedSchema(schema, at) } } } } };
    expect(accepts(document, at.slice(1), context)).toBe(own);
  });

  it.each(Object.keys(schemas))("has accepted and rejected cases in this test: %s", (name) => {
    const { schema, contexts } = schemas[name]!;
    const verdicts = contexts.map(
      (context) => compileContextSchema(schema)(context as JsonObject).length === 0,
    );
    expect(new Set(verdicts)).toEqual(new Set([true, false]));
  });
});

describe("the OpenAPI document", () => {
  let server: Serving;

  beforeAll(async () => {
    const decisions = join(mkdtempSync(join(tmpdir(), "agent-33-actions-")), "decisions");
    mkdirSync(decisions);
    const gates = [
      { name: "wire.approve", version: 1 },
      { name: "wire.approve", version: 2 },
      { name: "wire_approve", version: 2 },
      { name: "wire:approve", version: 2 },
    ];
    for (const [at, { name, version }] of gates.entries()) {
      const decision = {
        id: `gate-${at}`,
        name: `Gate ${at}`,
        version: "1.0.0",
        type: "gate",
        action: { org: "acme", domain: "payments", name, world_model_version: version },
        context_schema: { ...schemas["local references"]!.schema, maxProperties: at + 1 },
        rules: [{ id: "all", tier: "T3", severity: 1, when: "true", status: "GREEN", reason: "ok" }],
        aggregation: "winner_takes_all",
      };
      writeFileSync(join(decisions, `gate-${at}.yaml`), JSON.stringify({ decision }));
    }
    server = await serving({ world: await sampleWorld(decisions) });
  });

  it("is valid and names every route", async () => {
    const { body } = await get(server, "/openapi.json");
    expect(await new Validator().validate(structuredClone(body))).toEqual({ valid: true });
    expect(Object.keys(body["paths"] as object)).toEqual(
      expect.arrayContaining([
        "/decide",
        "/check",
        "/records/{id}/explain",
        "/orgs/{org}/domains/{domain}/actions",
        ...["/healthz", "/readyz", "/metrics", "/openapi.json"],
      ]),
    );
    expect(body["paths"]).not.toHaveProperty("/mcp");
    for (const path of Object.keys(body["paths"] as object)) {
      const methods = Object.keys((body["paths"] as Record<string, object>)[path]!).map((each) =>
        each.toUpperCase(),
      );
      const refused = await fetch(`${server.url}${path.replaceAll(/\{\w+\}/g, "x")}`, { method: "PATCH" });
      expect(refused.status).toBe(405);
      expect(refused.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(methods));
      await refused.text();
    }
  });

  it("includes MCP if it is enabled", async () => {
    const mcp = (): Promise<void> => Promise.resolve();
    const { body } = await get(await serving({ world: server.reloadingWorld.current, mcp }), "/openapi.json");
    expect(await new Validator().validate(structuredClone(body))).toEqual({ valid: true });
    expect(Object.keys((body["paths"] as Record<string, object>)["/mcp"]!)).toEqual([
      "post",
      "get",
      "delete",
    ]);
  });

  it("describes answers and problems", async () => {
    const { body } = await get(server, "/openapi.json");
    const ready = await get(server, "/readyz");
    const at = (path: string): string => `/paths/${path}/responses/200/content/application~1json/schema`;
    expect(accepts(body as JsonObject, at("~1readyz/get"), ready.body)).toBe(true);
    const asked = {
      org_id: "acme",
      domain: "payments",
      action: "wire.approve",
      context: { payee: { name: "x" } },
    };
    const decided = await post(server, "/decide", asked);
    expect(accepts(body as JsonObject, at("~1decide/post"), decided.body)).toBe(true);
    const evaluated = await post(server, "/decisions/gate-1/evaluate", { context: asked.context });
    expect(accepts(body as JsonObject, at("~1decisions~1{id}~1evaluate/post"), evaluated.body)).toBe(true);
    const refused = await post(server, "/decide", {});
    const problem = "/components/schemas/Problem";
    expect(accepts(body as JsonObject, problem, refused.body)).toBe(true);
    expect(accepts(body as JsonObject, problem, { ...refused.body, errors: "none" })).toBe(false);
  });

  it("exists for the actions of a domain, with one schema per action", async () => {
    const { body } = await get(server, "/orgs/acme/domains/payments/actions");
    expect(await new Validator().validate(structuredClone(body))).toEqual({ valid: true });
    const { components } = body as {
      readonly components: { readonly schemas: Readonly<Record<string, object>> };
    };
    expect(Object.keys(components.schemas).length).toBe(6);
  });

  const payee = { name: "x" };
  const key = { org_id: "acme", domain: "payments" };
  it.each([
    { ...key, action: "wire.approve", context: { payee } },
    { ...key, action: "wire.approve", context: { payee, a: 1 } },
    { ...key, action: "wire.approve", context: { payee, a: 1, b: 1 } },
    { ...key, action: "wire.approve", world_model_version: 1, context: { payee } },
    { ...key, action: "wire.approve", world_model_version: 1, context: { payee, a: 1 } },
    { ...key, action: "wire_approve", context: { payee, a: 1, b: 1 } },
    { ...key, action: "wire:approve", context: { payee, a: 1, b: 1, c: 1 } },
    { ...key, action: "wire_approve", context: { payee, a: 1, b: 1, c: 1 } },
    { ...key, action: "wire.approve", context: { payee: {} } },
  ])("accepts and rejects the same as the gate: %j", async (asked) => {
    const { body } = await get(server, "/orgs/acme/domains/payments/actions");
    const pointer = "/paths/~1decide/post/requestBody/content/application~1json/schema";
    const answer = await post(server, "/decide", asked);
    expect(answer.status).toBe(200);
    const isFit = answer.body["status"] === "GREEN";
    expect(accepts(body as JsonObject, pointer, asked)).toBe(isFit);
  });
});
