import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { execa } from "execa";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { afterFile } from "../../after-file.js";
import { sampleWorld } from "../sample-world.js";
import { routine, typed } from "./every-tool.js";
import { optionsOf, serveHttp } from "./serving.js";

let url: URL;

beforeAll(async () => {
  const world = await sampleWorld();
  ({ url } = await serveHttp(optionsOf({ world: () => world })));
});

describe("a client of version 1 of the SDK", () => {
  let client: Client;

  beforeAll(async () => {
    client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(url));
    afterFile(() => client.close());
  });

  it("shows the error of every tool", async () => {
    // After listing the tools, the client validates structured content against their output schemas.
    const { tools } = await client.listTools();
    for (const { name } of tools) {
      const result = await client.callTool({ name, arguments: { zzzz: 1 } });
      expect(result, name).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/^error: .*unknown key `zzzz`/) as unknown }],
      });
    }
  });

  it("accepts answers", async () => {
    const quality = { decision_id: "decision-quality-gate", context: { artifact: { quality_score: 0.9 } } };
    for (const [name, given] of Object.entries({
      [typed]: { context: routine },
      evaluate: quality,
      dry_run: quality,
      check_tool_call: { tool: "t", params: {}, session_id: "s" },
      record_tool_result: { tool: "t", session_id: "s", ok: true },
      find_records: {},
      show_record: { record_id: "latest" },
      explain_record: { record_id: "latest" },
    }))
      expect((await client.callTool({ name, arguments: given })).isError, name).toBeUndefined();
  });
});

describe("the command line of the inspector", () => {
  const command = fileURLToPath(
    new URL("../../../node_modules/@modelcontextprotocol/inspector-cli/build/cli.js", import.meta.url),
  );

  it("shows an error", async () => {
    const call = ["--method", "tools/call", "--tool-name", "evaluate"];
    const given = ["--tool-arg", "decision_id=decision-quality-gat", "--tool-arg", "context={}"];
    // It looks for its package relative to the working directory.
    const options = { cwd: dirname(command), reject: false };
    const { stdout } = await execa("node", [command, "--cli", url.href, ...call, ...given], options);
    expect(JSON.parse(stdout)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/hint: did you mean `decision-quality-gate`\?$/) as unknown }],
    });
  });
});
