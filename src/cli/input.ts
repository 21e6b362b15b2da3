import { existsSync, readFileSync } from "node:fs";
import { DecisionError } from "../errors.js";
import type { Io } from "./io.js";

/** The document of a flag such as `--input`: JSON, `@file`, or `-` for standard input. */
export function readContext(value: string, io: Io, flag = "--input"): unknown {
  const { text, from } = readText(value, io, flag);
  if (text.trim() === "")
    throw new DecisionError("input_invalid", `${from} is empty`, { hint: "give a JSON object, such as {}" });
  return parseJson(withoutMark(text), from, hintFor(value, flag));
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
export const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

function hintFor(value: string, flag: string): string | undefined {
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
  refuseTerminal(io);
  const chunks: Uint8Array[] = [];
  for (;;) {
    const buffer = new Uint8Array(65_536);
    const length = io.stdin.read(buffer);
    if (length === 0) return Buffer.concat(chunks).toString("utf8");
    chunks.push(buffer.subarray(0, length));
  }
}

export function refuseTerminal(io: Io): void {
  if (!io.stdin.isTerminal) return;
  throw new DecisionError("usage", "the input should come from standard input, but that is a terminal", {
    hint: "pipe JSON in, or give it with --input JSON or --input @file",
  });
}
