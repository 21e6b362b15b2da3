import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import type { Io } from "./io.js";
import type { JsonLimits } from "../digest/parse-json.js";
import { InvalidJson, parseJson } from "../digest/parse-json.js";
import { DecisionError, fileErrorHint } from "../errors.js";
import { assertBeforeCall, callOfEvent, hasSucceeded } from "../decide/hook-event.js";
import type { JsonObject } from "../model/json.js";

/** Reads the JSON document of a flag such as `--input`: JSON, `@file`, or `-` for standard input. */
export function readDocument(value: string, io: Io, flag = "--input"): unknown {
  const { text, from } = readText(value, io, flag);
  if (text.trim() === "")
    throw new DecisionError("input_invalid", `${from} is empty`, { hint: "pass a JSON object, such as {}" });
  return parseDocument(stripByteOrderMark(text), from, { hint: jsonHint(value, flag) });
}

/** Parses JSON from the user. `hint` is for malformed text without quotes: a shell may have removed them. */
export function parseDocument(
  text: string,
  from: string,
  { hint, ...limits }: JsonLimits & { readonly hint?: string | undefined } = {},
): unknown {
  try {
    return parseJson(text, limits);
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    const isMalformed = error.value === undefined;
    const problem = isMalformed ? "is not valid JSON" : "cannot be used";
    throw new DecisionError("input_invalid", `${from} ${problem}: ${error.message}`, {
      hint: isMalformed && !text.includes('"') ? (hint ?? error.hint) : (error.hint ?? hint),
      cause: error,
    });
  }
}

/** Removes the byte order mark that some editors put at the start of a file. */
export const stripByteOrderMark = (text: string): string =>
  text.startsWith("\ufeff") ? text.slice(1) : text;

/** Returns the hint for a value of a flag that is not JSON. */
export function jsonHint(value: string, flag: string): string | undefined {
  if (value === "-" || value.startsWith("@")) return undefined;
  if (existsSync(value)) return `to read the file, use ${flag} @${value}`;
  return `quote the JSON for the shell, as in ${flag} '{"key": "value"}', or use ${flag} @file`;
}

export function readText(
  value: string,
  io: Io,
  flag: string,
): { readonly text: string; readonly from: string } {
  if (value === "-")
    return { text: decodeText(readStandardInput(io), "standard input"), from: "standard input" };
  if (!value.startsWith("@")) return { text: value, from: flag };
  const path = value.slice(1);
  return { text: decodeText(readInputFile(path), `\`${path}\``), from: `\`${path}\`` };
}

function readInputFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new DecisionError("input_invalid", `cannot read \`${path}\`: ${(error as Error).message}`, {
      hint:
        (error as NodeJS.ErrnoException).code === "ENOENT"
          ? "@ must be followed by a path, relative to the current directory"
          : fileErrorHint(error, path),
      cause: error,
    });
  }
}

/** Throws for text that is not UTF-8, instead of replacing parts of it. */
export function decodeText(bytes: Buffer, from: string): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw new DecisionError("input_invalid", `${from} is not UTF-8 text`, {
    hint: isUtf16(bytes)
      ? "it is UTF-16: save it as UTF-8, or use `iconv -f UTF-16 -t UTF-8`"
      : "save it as UTF-8",
  });
}

/** Whether the bytes start with the byte order mark of UTF-16. */
const isUtf16 = ([first, second]: Buffer): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

function readStandardInput(io: Io): Buffer {
  assertNotTerminal(io);
  const chunks: Uint8Array[] = [];
  for (;;) {
    const buffer = new Uint8Array(65_536);
    const length = io.stdin.read(buffer);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, length));
  }
}

export function assertNotTerminal(io: Io): void {
  if (!io.stdin.isTerminal) return;
  throw new DecisionError("usage", "cannot read input from standard input: it is a terminal", {
    hint: "pipe the JSON in, or pass it with --input JSON or --input @file",
  });
}

/** Converts an input document to the context of a decision. */
export type ToContext = (document: unknown) => unknown;

/** Reads the --map template. Without one, the input is the context. */
export async function readEventMap(map: string | undefined, io: Io): Promise<ToContext> {
  if (map === undefined) return (document) => document;
  if (map === "-") {
    throw new DecisionError("usage", "--map cannot be read from standard input", {
      hint: "pass it as JSON or @file; to read events from standard input, use --inputs -",
    });
  }
  const document = readDocument(map, io, "--map");
  const { compileEventMap } = await import("../decide/event-map.js");
  return compileEventMap(document);
}

/** Flags that describe a tool call. */
export interface CallFlags {
  readonly params?: string;
  readonly context?: string;
  readonly event?: string;
  readonly sessionId?: string;
}

interface ToolCall {
  readonly tool: string;
  readonly params: unknown;
  readonly context?: unknown;
  readonly session_id?: string;
}

export function addCallFlags(command: Command): Command {
  return command
    .option("--params <json>", "parameters of the call: JSON, @file, or - for standard input (default {})")
    .option(
      "--event <json>",
      "the call as a hook event of a coding agent, {session_id, tool_name, tool_input}: JSON, @file or -",
    );
}

/** Reads a tool call to check. The event must be from before the call. */
export function readCallToCheck(tool: string | undefined, flags: CallFlags, io: Io): ToolCall {
  return readCall(tool, flags, io, (event) => {
    assertBeforeCall(event, { otherWay: "`agent-33 decision result --event -`" });
  });
}

/** Reads a tool call from the command line or from a hook event. */
function readCall(
  tool: string | undefined,
  flags: CallFlags,
  io: Io,
  checkEvent?: (event: JsonObject) => void,
): ToolCall {
  const context = flags.context === undefined ? undefined : readDocument(flags.context, io, "--context");
  const more = context === undefined ? {} : { context };
  if (flags.event !== undefined) {
    const { call, event } = readEvent(tool, flags, io);
    checkEvent?.(event);
    return { ...call, ...more };
  }
  // An unset variable in a script gives an empty argument.
  if (tool === undefined || tool === "") {
    throw new DecisionError("usage", "specify a tool", {
      hint: "for example `agent-33 decision check TOOL --params JSON --session-id ID`, or use --event",
    });
  }
  const { sessionId } = flags;
  if (sessionId === "") throw missingSession();
  const params = flags.params === undefined ? {} : readDocument(flags.params, io, "--params");
  return { tool, params, ...(sessionId !== undefined && { session_id: sessionId }), ...more };
}

/** Flags that say how a call went. */
export interface ResultFlags extends CallFlags {
  readonly ok?: boolean;
  readonly failed?: boolean;
  readonly record?: string;
  readonly value?: string;
}

interface ReportedCall extends ToolCall {
  readonly ok: boolean;
  readonly value?: unknown;
}

/** Reads a tool call and how it went. Its session may be that of --record. */
export function readToolResult(tool: string | undefined, flags: ResultFlags, io: Io): ReportedCall {
  const result = readOutcome(tool, flags, io);
  if (result.session_id === undefined && flags.record === undefined)
    throw missingSession(", or --record RECORD");
  return flags.value === undefined ? result : { ...result, value: readDocument(flags.value, io, "--value") };
}

/** Reads a tool call and whether it succeeded. Without --ok and --failed, the event says it. */
function readOutcome(tool: string | undefined, flags: ResultFlags, io: Io): ReportedCall {
  const { ok = false, failed = false } = flags;
  if (ok && failed) {
    throw new DecisionError("usage", "--ok and --failed cannot be combined", {
      hint: "use --ok or --failed",
    });
  }
  if (ok || failed) return { ...readCall(tool, flags, io), ok };
  if (flags.event === undefined) {
    throw new DecisionError("usage", "specify the result of the call", { hint: "use --ok or --failed" });
  }
  const { call, event } = readEvent(tool, flags, io);
  return { ...call, ok: hasSucceeded(event, { otherWay: "use --ok or --failed" }) };
}

function readEvent(
  tool: string | undefined,
  { event: value = "-", params, sessionId: defaultSession }: CallFlags,
  io: Io,
): { readonly call: ToolCall; readonly event: JsonObject } {
  if (tool !== undefined || params !== undefined) {
    throw new DecisionError("usage", "--event cannot be combined with a tool or --params", {
      hint: "remove the tool and --params: the event has both",
    });
  }
  const event = readDocument(value, io, "--event");
  const call = callOfEvent(event, { defaultSession, otherWay: "use --session-id ID" });
  return { call, event: event as JsonObject };
}

const missingSession = (otherWay = ""): DecisionError =>
  new DecisionError("usage", "specify a session", { hint: `add --session-id ID${otherWay}` });
