import { cpSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Reply } from "../serve/transports.js";
import { askHttp, askMcp } from "../serve/transports.js";
import { ServedProcess } from "../serve/soaking/served-process.js";
import type { AskedCommand } from "./asked-commands.js";
import { askedCommands, exportedIn } from "./asked-commands.js";
import { bin, cleanEnvironment, run, samples, temporaryDirectory } from "./command.js";
import { consoleBlocks } from "./console-blocks.js";
import { copySamples, SampleServer } from "./sample-server.js";

/** Ids of records, checks and requests, and moments: whatever is asked is asked at another one each time. */
const ownKeys = new Set([
  ...["record_id", "parent_record_id", "decision_records", "check_id"],
  ...["timestamp", "fetched_at", "request_id", "request_time"],
]);

const blocks = consoleBlocks("decisions/README.md");
let asked: readonly AskedCommand[];

beforeAll(async () => {
  asked = (await Promise.all(blocks.map(askedCommands))).flat();
});

it("takes up every sample that is shown", () => {
  expect(new Set(asked.map(({ question }) => question))).toEqual(
    new Set(["evaluate", "dry_run", "check_tool_call", "record_tool_result", "decide"]),
  );
  const typed = blocks.flatMap(({ commands }) => commands.map(({ line }) => line));
  const shown = typed.filter((line) => /decision (evaluate|dry-run|check|gate) /.test(line));
  expect(asked.length).toBeGreaterThanOrEqual(shown.length);
});

/** All in one store each, so that what rests on what was asked before does so through every door. */
describe.each([false, true])("where the server of the samples is there: %s", (needsServer) => {
  it("every door gives the same answers, field for field", async () => {
    const own = blocks.filter(
      (block) => (block.beside === "sample-server") === needsServer && block.beside !== "serve",
    );
    const commands = (await Promise.all(own.map(askedCommands))).flat();
    const server = needsServer ? await SampleServer.start() : undefined;
    const home = temporaryDirectory();
    const place = {
      home,
      decisions: join(home, "decisions"),
      env: Object.fromEntries(own.flatMap((block) => Object.entries(exportedIn(block)))),
    };
    if (server === undefined) cpSync(samples, place.decisions, { recursive: true });
    else copySamples(place.decisions, server);
    try {
      const [expected, ...others] = await Promise.all(
        [byCommand, overHttp, overMcp].map((ask) => ask(commands, place)),
      );
      for (const [index, { text }] of commands.entries()) {
        for (const [other, door] of ["HTTP", "MCP"].entries()) {
          expect(others[other]?.[index], `${door}: ${text}`).toEqual(expected?.[index]);
        }
      }
    } finally {
      await server?.stop();
    }
  });
});

interface Place {
  readonly home: string;
  readonly decisions: string;
  readonly env: Readonly<Record<string, string>>;
}

const placeFlags = ({ home, decisions }: Place, store: string): readonly string[] => [
  ...["--decisions", decisions, "--store", join(home, store)],
];

async function byCommand(commands: readonly AskedCommand[], place: Place): Promise<readonly Json[]> {
  const answers: Json[] = [];
  for (const { words, question } of commands) {
    const { stdout } = await run([...words, "--json", ...placeFlags(place, "cli")], { env: place.env });
    const answer = JSON.parse(stdout) as JsonObject;
    answers.push(withoutOwn(question === "decide" ? gateAnswer(answer) : answer));
  }
  return answers;
}

async function overHttp(commands: readonly AskedCommand[], place: Place): Promise<readonly Json[]> {
  const server = await ServedProcess.start(["--port", "0", ...placeFlags(place, "http")], place.env);
  try {
    const origin = `http://127.0.0.1:${server.port}`;
    return await inOrder(commands, ({ question: name, input }) => askHttp(origin, { name, input }));
  } finally {
    await server.end("SIGTERM");
  }
}

async function overMcp(commands: readonly AskedCommand[], place: Place): Promise<readonly Json[]> {
  const args = [bin, "decision", "mcp", ...placeFlags(place, "mcp")];
  const env = cleanEnvironment(place.env) as Record<string, string>;
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  try {
    const connected = Promise.resolve(client);
    return await inOrder(commands, ({ question: name, input }) => askMcp(() => connected, { name, input }));
  } finally {
    await client.close();
  }
}

/** What `decide` answers of the whole result. */
const gateAnswer = ({
  status,
  work_frame,
  decision_metadata,
  because,
  warnings,
  record_id,
}: JsonObject): JsonObject =>
  ({ status, work_frame, decision_metadata, because, warnings, record_id }) as JsonObject;

/** One after the other, as what is asked may rest on what was asked before. */
async function inOrder(
  commands: readonly AskedCommand[],
  ask: (command: AskedCommand) => Promise<Reply>,
): Promise<readonly Json[]> {
  const answers: Json[] = [];
  for (const command of commands) {
    const reply = await ask(command);
    if ("refused" in reply) throw new Error(`${command.text}: ${JSON.stringify(reply.refused)}`);
    answers.push(withoutOwn(reply.answer));
  }
  return answers;
}

function withoutOwn(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutOwn);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, ownKeys.has(key) ? hidden(each) : withoutOwn(each)]),
  );
}

/** That it is there still counts, and of what kind, and how many. */
function hidden(value: Json): Json {
  return Array.isArray(value) ? value.map(hidden) : typeof value;
}
