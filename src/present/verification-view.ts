import { printable } from "../printable.js";
import type { Verification } from "../store/drivers/jsonl/verify.js";
import type { LogProblem } from "../record/verify-log.js";
import type { Style, View } from "./format.js";

export function verificationView(verification: Verification, where: string): View {
  return {
    value: verification,
    plain: () => plain(verification),
    table: (style) => table(verification, where, style),
  };
}

function plain({ ok, size, head, problems }: Verification): string {
  const lines = [["log", ok ? "ok" : "damaged", `${size}:${head}`].join("\t")];
  for (const { kind, seq, file, line, message } of problems) {
    lines.push(["problem", kind, seq ?? "", file ?? "", line ?? "", printable(message)].join("\t"));
  }
  return lines.join("\n");
}

function table(verification: Verification, where: string, { paint }: Style): string {
  const { ok, size, head, problems, pruned, checkpoints, signed, notes } = verification;
  const count = (number: number): string => number.toLocaleString("en");
  const verdict = ok ? paint("green", "✓ intact") : paint("red", `✗ not as it was written`);
  const lines = [`${paint("bold", verdict)}  ${count(size)} record${size === 1 ? "" : "s"} in ${where}`, ""];
  for (const problem of problems) lines.push(describeProblem(problem, { paint }));
  if (problems.length > 0) lines.push("");
  const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(11))} ${value}`;
  lines.push(field("head", `${size}:${head}`));
  lines.push(field("checkpoints", `${count(checkpoints)}, ${count(signed)} signed`));
  if (pruned > 0) lines.push(field("pruned", `records 1 to ${count(pruned)}`));
  for (const note of notes) lines.push(field("note", printable(note)));
  return lines.join("\n");
}

function describeProblem(
  { file, line, message, record_id }: LogProblem,
  { paint }: Pick<Style, "paint">,
): string {
  const place =
    file === undefined ? "" : ` ${paint("dim", `(${file}${line === undefined ? "" : `:${line}`})`)}`;
  const id = record_id === undefined ? "" : ` ${paint("dim", record_id)}`;
  return `  ${paint("red", "✗")} ${printable(message)}${id}${place}`;
}
