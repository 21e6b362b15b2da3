import { printable } from "../printable.js";
import type { Verification } from "../store/drivers/jsonl/verify.js";
import type { LogProblem, ProblemKind } from "../record/verify-log.js";
import { count } from "./amounts.js";
import type { Style, View } from "./format.js";

export function verificationView(
  verification: Verification,
  where: string,
  what: "log" | "export" = "log",
): View {
  const { size, records } = verification;
  const whole = `${count(size)} record${size === 1 ? "" : "s"}`;
  const found = `${count(records)} record${records === 1 ? "" : "s"}`;
  const amount = what === "log" || records === size ? found : `${count(records)} of ${whole}`;
  return {
    value: verification,
    plain: () => plain(verification, what),
    table: (style) => table(verification, `${amount} in ${printable(where)}`, style),
  };
}

function plain({ ok, size, head, problems }: Verification, what: string): string {
  const lines = [[what, ok ? "ok" : wordsFor(problems).plain, `${size}:${head}`].join("\t")];
  for (const { kind, seq, file, line, message } of problems) {
    lines.push(["problem", kind, seq ?? "", file ?? "", line ?? "", printable(message)].join("\t"));
  }
  return lines.join("\n");
}

function table(verification: Verification, what: string, { paint }: Style): string {
  const { ok, size, head, problems, pruned, checkpoints, signed, notes } = verification;
  const verdict = ok ? paint("green", "✓ intact") : paint("red", `✗ ${wordsFor(problems).table}`);
  const lines = [`${paint("bold", verdict)}  ${what}`, ""];
  for (const problem of problems) lines.push(describeProblem(problem, { paint }));
  if (problems.length > 0) lines.push("");
  const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(11))} ${value}`;
  if (ok) lines.push(field("head", `${size}:${head}`));
  lines.push(field("checkpoints", `${count(checkpoints)}, ${count(signed)} signed`));
  if (pruned > 0) lines.push(field("pruned", `records 1 to ${count(pruned)}`));
  for (const note of notes) lines.push(field("note", printable(note)));
  return lines.join("\n");
}

/** What holds together may still not be what a key or a memory vouches for. */
function wordsFor(problems: readonly LogProblem[]): { readonly plain: string; readonly table: string } {
  const kinds = new Set(problems.map(({ kind }) => kind));
  const isOnly = (...expected: readonly ProblemKind[]): boolean =>
    [...kinds].every((kind) => expected.includes(kind));
  if (isOnly("signature")) return { plain: "unsigned", table: "not signed with this key" };
  if (isOnly("signature", "expectation")) return { plain: "unexpected", table: "not what was expected" };
  return { plain: "damaged", table: "not as it was written" };
}

function describeProblem(
  { file, line, message, record_id }: LogProblem,
  { paint }: Pick<Style, "paint">,
): string {
  const place = file === undefined ? [] : [`${file}${line === undefined ? "" : `:${line}`}`];
  const where = [...(record_id === undefined ? [] : [record_id]), ...place].join(", ");
  return `  ${paint("red", "✗")} ${printable(message)}${where === "" ? "" : ` ${paint("dim", `(${where})`)}`}`;
}
