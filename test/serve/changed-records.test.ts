import type { Client } from "@modelcontextprotocol/client";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { compose } from "../../src/compose.js";
import type { JsonObject } from "../../src/model/json.js";
import { openApiDocument } from "../../src/serve/http/openapi.js";
import { afterFile } from "../after-file.js";
import { samples } from "./sample-world.js";
import type { Serving } from "./http/serving.js";
import { get, serving } from "./http/serving.js";
import { connectHttp, optionsOf, serveHttp } from "./mcp/serving.js";

let server: Serving;
let client: Client;

/** Records three decisions, then changes the second one in the log file. */
beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), "agent-33-changed-"));
  const world = await compose({ decisions: samples, store: { directory, durability: "fast" }, env: {} });
  afterFile(() => world.close());
  for (const quality_score of [0.91, 0.92, 0.93]) {
    await world.decide({ decision_id: "decision-quality-gate", context: { artifact: { quality_score } } });
  }
  const file = join(directory, "log", "000000000001.jsonl");
  const lines = readFileSync(file, "utf8").split("\n");
  lines[1] = lines[1]!.replaceAll("stage-deploy", "stage-deplox");
  writeFileSync(file, lines.join("\n"));
  const { records } = world;
  if (records === undefined) throw new Error("there is a store");
  const served = { ...world, records };
  server = await serving({ world: served });
  client = await connectHttp((await serveHttp(optionsOf({ world: () => served }))).url);
});

const forged = ["stage-deplox"];

async function called(name: string, input: object): Promise<JsonObject> {
  const {
    structuredContent,
    content,
    isError = false,
  } = await client.callTool({ name, arguments: { ...input } });
  if (isError) throw new Error(JSON.stringify(content));
  return structuredContent as JsonObject;
}

const textsOf = async (uri: string): Promise<readonly object[]> => {
  const { contents } = await client.readResource({ uri });
  return contents.map((each) => JSON.parse("text" in each ? each.text : "") as object);
};

const asksForOne: readonly { readonly name: string; readonly ask: (id: string) => Promise<object> }[] = [
  { name: "GET /records/{id}", ask: async (id) => (await get(server, `/records/${id}`)).body },
  {
    name: "GET /records/{id}/explain",
    ask: async (id) => (await get(server, `/records/${id}/explain`)).body,
  },
  { name: "show_record", ask: (id) => called("show_record", { record_id: id }) },
  { name: "explain_record", ask: (id) => called("explain_record", { record_id: id }) },
  { name: "a resource", ask: async (id) => (await textsOf(`agent33://records/${id}`))[0] ?? {} },
];

describe("a record that was changed after it was written", () => {
  it.each(asksForOne)("is marked, and its neighbours are not: $name", async ({ ask }) => {
    expect(await ask("2")).toMatchObject({ seq: 2, selected_targets: forged, intact: false });
    for (const id of ["1", "3"]) {
      const shown = await ask(id);
      expect(shown).toMatchObject({ seq: Number(id), selected_targets: ["stage-deploy"] });
      expect(shown).not.toHaveProperty("intact");
    }
  });

  it.each([
    { name: "GET /records", ask: async () => (await get(server, "/records")).body },
    { name: "GET /records?after=0", ask: async () => (await get(server, "/records?after=0")).body },
    { name: "find_records", ask: () => called("find_records", {}) },
  ])("is marked in a list: $name", async ({ ask }) => {
    const { records } = (await ask()) as { readonly records: readonly JsonObject[] };
    expect(records.map(({ seq, intact }) => [seq, intact])).toEqual([
      [1, undefined],
      [2, false],
      [3, undefined],
    ]);
  });

  it("is marked in the list of resources", async () => {
    const { resources } = await client.listResources();
    const records = resources.filter(({ uri }) => uri.startsWith("agent33://records/"));
    expect(records.map(({ description }) => description)).toEqual([
      undefined,
      "Changed after it was written.",
      undefined,
    ]);
  });

  it("is marked in its explanation, as on the command line", async () => {
    expect((await get(server, "/records/2/explain")).body).toMatchObject({
      explanation: { intact: false },
      intact: false,
    });
  });
});

describe("the mark of a changed record", () => {
  const intact = { type: "boolean", description: expect.stringContaining("changed") as unknown };

  it("is explained in the list of tools", async () => {
    const { tools } = await client.listTools();
    for (const name of ["show_record", "explain_record", "find_records"]) {
      const tool = tools.find((each) => each.name === name);
      expect(tool?.description).toContain("`intact: false`");
      if (name !== "find_records")
        expect(tool?.outputSchema).toMatchObject({ properties: { intact: { type: "boolean" } } });
    }
  });

  it("is part of the OpenAPI document", () => {
    const { paths } = openApiDocument({ mcp: false }) as { readonly paths: JsonObject };
    const answering = (schema: object): object => ({
      get: { responses: { "200": { content: { "application/json": { schema } } } } },
    });
    expect(paths).toMatchObject({
      "/records": answering({ properties: { records: { items: { properties: { intact } } } } }),
      "/records/{id}": answering({ properties: { intact } }),
      "/records/{id}/explain": answering({ properties: { intact } }),
    });
  });
});
