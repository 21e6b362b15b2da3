import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import type { Io } from "./io.js";
import { DecisionError } from "../errors.js";

/** The document of a flag such as `--input`: JSON, `@file`, or `-` for standard input. */
export function readDocument(value: string, io: Io, flag = "--input"): unknown {
  const { text, from } = readText(value, io, flag);
  if (text.trim() === "")
    throw new DecisionError("input_invalid", `${from} is empty`, { hint: "give a JSON object, such as {}" });
  return parseJson(stripByteOrderMark(text), from, jsonHint(value, flag));
}

export function parseJson(text: string, from: string, hint?: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const { message } = error as Error;
    throw new DecisionError("input_invalid", `${from} is not JSON: ${message}`, { hint, cause: error });
  }
}

/** Some editors begin a file with a byte order mark. */
export const stripByteOrderMark = (text: string): string =>
  text.startsWith("\ufeff") ? text.slice(1) : text;

function jsonHint(value: string, flag: string): string | undefined {
  if (value === "-" || value.startsWith("@")) return undefined;
  if (existsSync(value)) return `to read the file, write ${flag} @${value}`;
  return `quote the JSON for the shell, as in ${flag} '{"key": "value"}', or use ${flag} @file`;
}

export function readText(
  value: string,
  io: Io,
  flag: string,
): { readonly text: string; readonly from: string } {
  if (value === "-") return { text: readStandardInput(io), from: "standard input" };
  if (!value.startsWith("@")) return { text: value, from: flag };
  const path = value.slice(1);
  try {
    return { text: readFileSync(path, "utf8"), from: `\`${path}\`` };
  } catch (error) {
    throw new DecisionError("input_invalid", `cannot read \`${path}\`: ${(error as Error).message}`, {
      hint: "after the @ comes the path of a file, taken from the current directory",
      cause: error,
    });
  }
}

function readStandardInput(io: Io): string {
  assertNotTerminal(io);
  const chunks: Uint8Array[] = [];
  for (;;) {
    const buffer = new Uint8Array(65_536);
    const length = io.stdin.read(buffer);
    if (length === 0) return Buffer.concat(chunks).toString("utf8");
    chunks.push(buffer.subarray(0, length));
  }
}

export function assertNotTerminal(io: Io): void {
  if (!io.stdin.isTerminal) return;
  throw new DecisionError("usage", "the input should come from standard input, but that is a terminal", {
    hint: "pipe JSON in, or give it with --input JSON or --input @file",
  });
}

/** How what is given becomes the context; without a map it is the context. */
export type ToContext = (given: unknown) => unknown;

export async function readEventMap(map: string | undefined, io: Io): Promise<ToContext> {
  if (map === undefined) return (given) => given;
  if (map === "-") {
    throw new DecisionError("usage", "--map is not read from standard input", {
      hint: "give it as JSON or as @file; events come from standard input with --inputs -",
    });
  }
  const document = readDocument(map, io, "--map");
  const { compileEventMap } = await import("../decide/event-map.js");
  return compileEventMap(document);
}

/** Flags that say which call is meant. */
export interface CallFlags {
  readonly params?: string;
  readonly context?: string;
  readonly event?: string;
  readonly sessionId?: string;
}

/** A call of a tool in a session. */
interface ToolCall {
  readonly tool: string;
  readonly params: unknown;
  readonly context?: unknown;
  readonly session_id: string;
}

export function addCallFlags(command: Command): Command {
  return command
    .option("--params <json>", "what it is called with: JSON, @file or - for standard input (else {})")
    .option(
      "--event <json>",
      "the call as the hook of a coding agent is told of it: {session_id, tool_name, tool_input}",
    );
}

/** From the words of the command line, or from the event of a hook. */
export function readCall(tool: string | undefined, flags: CallFlags, io: Io): ToolCall {
  const context = flags.context === undefined ? undefined : readDocument(flags.context, io, "--context");
  const more = context === undefined ? {} : { context };
  if (flags.event !== undefined) return { ...readEvent(tool, flags, io), ...more };
  // A variable of a script that is not set makes an empty word.
  if (tool === undefined || tool === "") {
    throw new DecisionError("usage", "the tool is missing", {
      hint: "name it, as in `agent-33 decision check TOOL --params JSON --session-id ID`, or give --event",
    });
  }
  const { sessionId } = flags;
  if (sessionId === undefined || sessionId === "") throw missingSession("give it with --session-id ID");
  const params = flags.params === undefined ? {} : readDocument(flags.params, io, "--params");
  return { tool, params, session_id: sessionId, ...more };
}

function readEvent(
  tool: string | undefined,
  { event = "-", params, sessionId }: CallFlags,
  io: Io,
): ToolCall {
  if (tool !== undefined || params !== undefined) {
    throw new DecisionError("usage", "--event says already which tool is called with what", {
      hint: "leave out the tool and --params",
    });
  }
  const document = readDocument(event, io, "--event");
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new DecisionError("input_invalid", "the event must be a JSON object", { hint: eventHint });
  }
  const {
    tool_name: name,
    tool_input: input = {},
    session_id: session = sessionId,
  } = document as Partial<Record<string, unknown>>;
  if (typeof name !== "string" || name === "") {
    throw new DecisionError("input_invalid", "the event names no tool", { hint: eventHint });
  }
  if (typeof session !== "string" || session === "") {
    throw missingSession("the event must have a `session_id` that is a text, or give --session-id");
  }
  return { tool: name, params: input, session_id: session };
}

const eventHint = 'such as {"session_id": "s-1", "tool_name": "write_file", "tool_input": {"path": "a.txt"}}';

const missingSession = (hint: string): DecisionError =>
  new DecisionError("usage", "the session is missing", { hint });
