import { describe, expect, it } from "vitest";
import { assertBeforeCall, callOfEvent, hasSucceeded, isHookEvent } from "../../src/decide/hook-event.js";
import type { JsonObject } from "../../src/model/json.js";

const before: JsonObject = {
  session_id: "s-1",
  transcript_path: "transcript.jsonl",
  cwd: "/repo",
  hook_event_name: "PreToolUse",
  tool_name: "Write",
  tool_input: { file_path: "a.txt" },
};

const after = (tool_response: JsonObject[string], more: JsonObject = {}): JsonObject => ({
  ...before,
  hook_event_name: "PostToolUse",
  tool_response,
  ...more,
});

describe("a hook event of a coding agent", () => {
  it("is recognised by `tool_name`", () => {
    expect(isHookEvent(before)).toBe(true);
    for (const other of [{ tool: "t", params: {} }, { ...before, tool: "t" }, [], null, "x"])
      expect(isHookEvent(other)).toBe(false);
  });

  it("has tool, params and session of the call", () => {
    expect(callOfEvent(before)).toEqual({ tool: "Write", params: { file_path: "a.txt" }, session_id: "s-1" });
    expect(callOfEvent({ tool_name: "t" }, { defaultSession: "s-2" })).toEqual({
      tool: "t",
      params: {},
      session_id: "s-2",
    });
  });

  it.each([
    { name: "no object", event: [], code: "input_invalid" },
    { name: "no tool", event: { session_id: "s" }, code: "input_invalid" },
    { name: "an empty tool", event: { session_id: "s", tool_name: "" }, code: "input_invalid" },
    { name: "no session", event: { tool_name: "t" }, code: "usage" },
    { name: "a session that is not text", event: { tool_name: "t", session_id: 1 }, code: "usage" },
  ])("is refused with $name", ({ event, code }) => {
    expect(() => callOfEvent(event)).toThrow(expect.objectContaining({ code }) as Error);
  });

  it("can be checked only if it is from before the call", () => {
    expect(() => assertBeforeCall(before)).not.toThrow();
    const named = ["PostToolUseFailure", "PostToolUse", "AfterTool", "afterFileEdit"].map((name) => ({
      ...before,
      hook_event_name: name,
    }));
    for (const event of [after({}), after(null), ...named])
      expect(() => assertBeforeCall(event)).toThrow("the event is from after the call");
  });

  it("has a result only if it is from after the call", () => {
    expect(() => hasSucceeded(before)).toThrow("the event has no `tool_response`");
  });

  it.each<{ readonly response: JsonObject[string]; readonly ok: boolean }>([
    { response: { filePath: "a.txt", success: true }, ok: true },
    { response: { stdout: "", stderr: "", interrupted: false }, ok: true },
    { response: { error: null, is_error: false, isError: false }, ok: true },
    { response: [{ type: "text", text: "done" }], ok: true },
    { response: "done", ok: true },
    { response: { success: false }, ok: false },
    { response: { success: "no" }, ok: false },
    { response: { is_error: true }, ok: false },
    { response: { isError: true }, ok: false },
    { response: { interrupted: true }, ok: false },
    { response: { error: "not found" }, ok: false },
    { response: { error: { code: 1 } }, ok: false },
    { response: null, ok: false },
    { response: false, ok: false },
    { response: [{ type: "text", text: "x", isError: true }], ok: false },
    { response: { type: "error" }, ok: false },
    { response: { status: "failed" }, ok: false },
    { response: { exit_code: 1 }, ok: false },
    { response: { exit_code: 0, errors: [] }, ok: true },
    { response: { errors: ["x"] }, ok: false },
    { response: { IsError: true }, ok: false },
    { response: { content: [{ type: "error" }] }, ok: false },
    { response: { result: { is_error: true } }, ok: false },
    { response: [[{ data: { error: "x" } }]], ok: false },
    { response: { content: [{ type: "text", flags: [null, false] }], meta: null }, ok: true },
  ])("has succeeded ($ok) with the response $response", ({ response, ok }) => {
    expect(hasSucceeded(after(response))).toBe(ok);
  });

  it("has failed if its name says so", () => {
    expect(hasSucceeded(after({ success: true }, { hook_event_name: "PostToolUseFailure" }))).toBe(false);
    expect(hasSucceeded({ ...before, hook_event_name: "PostToolUseFailure", error: "x" })).toBe(false);
  });
});
