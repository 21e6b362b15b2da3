import type { Command } from "commander";
import { DecisionError } from "../errors.js";
import { didYouMean } from "../nearest.js";
import type { Format, Style } from "../present/format.js";
import { formats } from "../present/format.js";
import type { Io, Stream } from "./io.js";

/** Flags that every command which prints data has. */
export interface CommonFlags {
  readonly decisions?: string;
  readonly format?: string;
  readonly json?: boolean;
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Flags of the commands that write to the store or read it. */
export interface StoreFlags extends CommonFlags {
  readonly store?: string;
  readonly durability?: string;
}

/** Flags of the commands that decide. */
export interface DecideFlags extends StoreFlags {
  readonly requireApproval?: boolean;
}

export function addApprovalFlag(command: Command): Command {
  return command.option("--require-approval", "decide only by definitions that are approved");
}

export function addStoreFlags(command: Command): Command {
  return command.option("--store <dir>", "the directory of the log and the cache");
}

export function addDurabilityFlag(command: Command): Command {
  return command.option("--durability <how>", "full: wait until the record is on the disk; fast: do not");
}

export function addCommonFlags(command: Command, more: readonly string[] = []): Command {
  return command
    .option("--decisions <dir>", "the directory of definitions")
    .option("--format <format>", `how to write the answer: ${[...formats, ...more].join(", ")}`)
    .option("--json", "short for --format json")
    .option("--no-color", "no colours")
    .option("-q, --quiet", "only the answer and errors")
    .option("-v, --verbose", "timings, and where settings came from");
}

/** A table on a terminal; in a pipe, JSON for one thing and JSON lines for many. */
export function formatFor<T extends string = Format>(
  flags: CommonFlags,
  io: Io,
  { answer, more = [] }: { readonly answer: "one" | "many"; readonly more?: readonly T[] },
): Format | T {
  const wanted = flags.format ?? (flags.json ? "json" : undefined);
  if (wanted === undefined) return io.out.isTerminal ? "table" : answer === "one" ? "json" : "jsonl";
  const known: readonly (Format | T)[] = [...formats, ...more];
  const format = known.find((each) => each === wanted);
  if (format !== undefined) return format;
  throw new DecisionError("usage", `there is no format \`${wanted}\``, {
    hint: didYouMean(wanted, known) ?? `choose one of ${known.join(", ")}`,
  });
}

export function wantsJsonErrors(argv: readonly string[]): boolean {
  const format = argv.indexOf("--format");
  const named = format === -1 ? undefined : argv[format + 1];
  return (
    argv.includes("--json") ||
    argv.some((each) => /^--format=jsonl?$/.test(each)) ||
    /^jsonl?$/.test(named ?? "")
  );
}

/** Colour is decided once per stream. */
export function wantsColour(color: boolean, { env }: Io, stream: Stream): boolean {
  if (!color || env["NO_COLOR"] || env["FORCE_COLOR"] === "0") return false;
  if (env["FORCE_COLOR"]) return true;
  return stream.isTerminal && env["TERM"] !== "dumb";
}

export async function styleFor(
  flags: Pick<CommonFlags, "color">,
  io: Io,
  stream: Stream = io.out,
): Promise<Style> {
  const { columns } = stream;
  if (!wantsColour(flags.color, io, stream)) return { columns, paint: (_colour, text) => text };
  const { colourPaint } = await import("../present/paint.js");
  return { columns, paint: colourPaint() };
}
