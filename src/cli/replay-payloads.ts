import { DecisionError } from "../errors.js";
import { present } from "../present/format.js";
import { replayedView } from "../present/replayed-view.js";
import { printable } from "../printable.js";
import { replayPayload } from "../replay/replay.js";
import type { ReplayedDecision } from "../replay/replayed.js";
import type { ExitCode } from "./exit-codes.js";
import type { CommonFlags } from "./flags.js";
import { formatFor, styleFor } from "./flags.js";
import { parseJson, readText, withoutMark } from "./input.js";
import type { Io } from "./io.js";
import { warn } from "./world.js";

interface PayloadFlags extends CommonFlags {
  readonly payload: string;
  readonly strict: boolean;
}

/** Decides again by the votes of audit payloads: one document, or one on each line as `--inputs --format audit` writes them. */
export async function replayPayloads(flags: PayloadFlags, io: Io): Promise<ExitCode> {
  const payloads = payloadsIn(flags.payload, io);
  const format = formatFor(flags, io, { answer: payloads.length === 1 ? "one" : "many" });
  const tell = (text: string): void => io.err.write(`${text}\n`);
  const replayed: ReplayedDecision[] = [];
  const failures: DecisionError[] = [];
  for (const [index, payload] of payloads.entries()) {
    try {
      replayed.push(replayPayload(payload, { strict: flags.strict, warn: tell }));
      if (!isSealed(payload))
        warn(flags, io, `${lineText(payloads, index)}it has no hash, so nothing proves its votes`);
    } catch (error) {
      if (!(error instanceof DecisionError)) throw error;
      failures.push(atLine(error, lineText(payloads, index)));
    }
  }
  if (replayed.length > 0)
    io.out.write(await present(replayedView(replayed), format, await styleFor(flags, io)));
  const [first, ...others] = failures;
  for (const other of others) tell(`error: ${printable(other.message)}`);
  if (first !== undefined) throw first;
  return 0;
}

const isSealed = (payload: unknown): boolean =>
  typeof payload !== "object" ||
  payload === null ||
  ["deterministic_hash", ":deterministic_hash"].some((key) => Object.hasOwn(payload, key));

const lineText = ({ length }: readonly unknown[], index: number): string =>
  length === 1 ? "" : `line ${index + 1}: `;

/** The same error, saying where; one payload alone needs no place. */
function atLine(error: DecisionError, where: string): DecisionError {
  if (where === "") return error;
  const { code, message, hint, details } = error;
  return new DecisionError(code, `${where}${message}`, { hint, details, cause: error });
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
