import { DecisionError } from "../errors.js";
import type { Io } from "./io.js";

/** Whether something that cannot be undone may be done: `--yes`, or a yes on the terminal. */
export function confirmed(question: string, { yes = false }: { readonly yes?: boolean }, io: Io): boolean {
  if (yes) return true;
  if (!io.stdin.isTerminal || !io.err.isTerminal) {
    throw new DecisionError("usage", "this cannot be undone, so it has to be confirmed", {
      hint: "add --yes to do it without being asked",
    });
  }
  io.err.write(`${question} [y/N] `);
  const answer = readAnswer(io);
  if (!answer.endsWith("\n")) io.err.write("\n");
  return /^y(?:es)?$/i.test(answer.trim());
}

function readAnswer(io: Io): string {
  const buffer = new Uint8Array(256);
  return Buffer.from(buffer.subarray(0, io.stdin.read(buffer))).toString("utf8");
}
