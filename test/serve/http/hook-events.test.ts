import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../acceptance/command.js";
import { sampleWorld } from "../sample-world.js";
import type { Answered, Serving } from "./serving.js";
import { post, serving } from "./serving.js";

const definitions = `
decision:
  id: writes
  type: policy
  tool: Write
  policies:
    - { name: after_read, version: 1.0.0, requires: [Read] }
---
decision:
  id: deletes
  type: policy
  tool: Delete
  policies:
    - name: never
      version: 1.0.0
      conditions: [{ name: safe, expression: "get(params, 'safe', false)" }]
    - { name: made_safe, version: 1.0.0, overrides: [never], action: modify_params, params: { safe: true } }
`;

let server: Serving;

beforeAll(async () => {
  const directory = join(temporaryDirectory(), "decisions");
  mkdirSync(directory);
  writeFileSync(join(directory, "policies.yaml"), definitions);
  server = await serving({ world: await sampleWorld(directory) });
});

const event = (name: string, tool_name: string, more: object = {}): object => ({
  session_id: "s-1",
  transcript_path: "transcript.jsonl",
  cwd: "/repo",
  permission_mode: "default",
  hook_event_name: name,
  tool_name,
  tool_input: { file_path: "a.txt" },
  tool_use_id: "toolu_01",
  ...more,
});

const check = (tool: string): Promise<Answered> => post(server, "/check", event("PreToolUse", tool));

describe("the body of a coding agent's hook", () => {
  it("is checked and reported as it is", async () => {
    expect(await check("Write")).toMatchObject({ status: 200, body: { tool: "Write", allowed: false } });
    expect((await check("Read")).body).toMatchObject({ allowed: true, params: { file_path: "a.txt" } });
    const failed = event("PostToolUse", "Read", { tool_response: { success: false } });
    expect((await post(server, "/results", failed)).body).toMatchObject({ ok: false, session_id: "s-1" });
    expect((await check("Write")).body).toMatchObject({ allowed: false });
    const [read] = (await check("Read")).body["decisions"] as readonly { readonly record_id: string }[];
    const done = event("PostToolUse", "Read", { tool_response: { file: "a.txt" } });
    expect((await post(server, "/results", done)).body).toMatchObject({
      ok: true,
      decision_records: [read?.record_id],
    });
    expect((await check("Write")).body).toMatchObject({ allowed: true });
  });

  it("is not allowed by changing params, which a hook does not apply", async () => {
    const call = { tool: "Delete", params: {}, session_id: "s-1" };
    expect((await post(server, "/check", call)).body).toMatchObject({
      allowed: true,
      params: { safe: true },
    });
    expect((await check("Delete")).body).toMatchObject({ allowed: false });
  });

  it.each([
    { path: "/check", body: event("PostToolUse", "Read", { tool_response: {} }) },
    { path: "/results", body: event("PreToolUse", "Read") },
    { path: "/check", body: event("PreToolUse", "Read", { tool_input: "x" }) },
    { path: "/check", body: event("PreToolUse", "") },
    { path: "/check", body: event("PreToolUse", "Read", { session_id: "" }) },
    { path: "/decide", body: event("PreToolUse", "Read") },
  ])("is refused at $path if it does not fit", async ({ path, body }) => {
    const before = await server.recorded();
    expect((await post(server, path, body)).status).toBe(400);
    expect(await server.recorded()).toBe(before);
  });
});
