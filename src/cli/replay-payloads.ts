import { DecisionError } from "../errors.js";
import { present } from "../present/format.js";
import { replayedView } from "../present/replayed-view.js";
import { replayPayload } from "../replay/replay.js";
import type { ExitCode } from "./exit-codes.js";
import type { CommonFlags } from "./flags.js";
import { formatFor, styleFor } from "./flags.js";
import { parseJson, readText, withoutMark } from "./input.js";
import type { Io } from "./io.js";

interface PayloadFlags extends CommonFlags {
  readonly payload: string;
  readonly strict: boolean;
}

/** Decides again by the votes of audit payloads: one document, or one on each line as `--inputs --format audit` writes them. */
export async function replayPayloads(flags: PayloadFlags, io: Io): Promise<ExitCode> {
  const payloads = payloadsIn(flags.payload, io);
  const format = formatFor(flags, io, { answer: payloads.length === 1 ? "one" : "many" });
  const warn = (text: string): void => io.err.write(`${text}\n`);
  const replayed = payloads.map((payload) => replayPayload(payload, { strict: flags.strict, warn }));
  io.out.write(await present(replayedView(replayed), format, await styleFor(flags, io)));
  return 0;
}

function payloadsIn(given: string, io: Io): readonly unknown[] {
  const { text, from } = readText(given, io, "--payload");
  const whole = withoutMark(text).trim();
  if (whole === "") throw new DecisionError("input_invalid", `${from} is empty`);
  const lines = whole.split("\n");
  if (lines.length === 1 || !isJson(lines[0] ?? "")) return [parseJson(whole, from)];
  return lines.flatMap((line, index) =>
    line.trim() === "" ? [] : [parseJson(line, `line ${index + 1} of ${from}`)],
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
