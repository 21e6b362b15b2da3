import type { Command } from "commander";
import { DecisionError } from "../errors.js";
import { readContext } from "./input.js";
import type { Io } from "./io.js";

/** Flags that say which call is meant. */
export interface CallFlags {
  readonly params?: string;
  readonly context?: string;
  readonly event?: string;
  readonly sessionId?: string;
}

/** A call of a tool in a session. */
export interface Call {
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
export function readCall(tool: string | undefined, flags: CallFlags, io: Io): Call {
  const context = flags.context === undefined ? undefined : readContext(flags.context, io, "--context");
  const more = context === undefined ? {} : { context };
  if (flags.event !== undefined) return { ...readEvent(tool, flags, io), ...more };
  // A variable of a script that is not set makes an empty word.
  if (tool === undefined || tool === "") {
    throw new DecisionError("usage", "the tool is missing", {
      hint: "name it, as in `agent-33 decision check TOOL --params JSON --session-id ID`, or give --event",
    });
  }
  const { sessionId } = flags;
  if (sessionId === undefined || sessionId === "") throw noSession("give it with --session-id ID");
  const params = flags.params === undefined ? {} : readContext(flags.params, io, "--params");
  return { tool, params, session_id: sessionId, ...more };
}

function readEvent(tool: string | undefined, { event = "-", params, sessionId }: CallFlags, io: Io): Call {
  if (tool !== undefined || params !== undefined) {
    throw new DecisionError("usage", "--event says already which tool is called with what", {
      hint: "leave out the tool and --params",
    });
  }
  const document = readContext(event, io, "--event");
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
    throw noSession("the event must have a `session_id` that is a text, or give --session-id");
  }
  return { tool: name, params: input, session_id: session };
}

const eventHint = 'such as {"session_id": "s-1", "tool_name": "write_file", "tool_input": {"path": "a.txt"}}';

const noSession = (hint: string): DecisionError =>
  new DecisionError("usage", "the session is missing", { hint });
