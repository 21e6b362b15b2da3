import { allErrored, functionGroups, signature } from "../../expression/function-table.js";
import type { BadOperandResults } from "../../expression/function-table.js";
import { operatorTable } from "../../expression/operator-table.js";

/** The manual of the expression language, written from the tables that define it. */
export function expressionsTopic(): string {
  return [
    "EXPRESSIONS",
    "",
    "One language for `input`, `condition` and everything in {{ … }} or ${ … }.",
    "",
    "VALUES",
    "  text          'single' or \"double\" quotes; \\' \\\" \\\\ stand for the character, any other \\ for itself",
    "  numbers       12  0.8  1e6",
    "  constants     true  false  null",
    "  lists         ('a', 'b')  ['a', 'b']",
    "  paths         artifact.quality_score   items.0.name   get(headers, 'x-tier')",
    "",
    "NAMES",
    "  The keys of the context; `input` (the value of the decision's input), `facts` and `system`",
    "  (`system.request_time`; over HTTP with a token, `system.authenticated_caller`: who asks, see",
    "  `agent-33 help http`), which win over keys of the context that are called so; and `context`, the whole",
    "  context, unless it has a key of that name.",
    "  Only a document's own keys can be read: `constructor`, `__proto__` and `prototype` never.",
    "",
    "TEMPLATES",
    '  "{{ artifact.type }}" alone keeps the type of its value; within text it is rendered.',
    "",
    "CONDITIONS",
    "  A condition is matched, not matched or errored. It is errored where a path is missing, types do not fit,",
    "  or the result is not true or false. An errored condition never selects a branch: it is shown as a",
    "  warning, and ends the decision with exit code 1 under --strict or `on_error: fail`.",
    "",
    "OPERATORS, from the loosest to the tightest (the answer for a missing, a null, a mistyped operand)",
    ...operatorTable.flatMap(({ spelling, summary, example, badOperandResults: answers }) => [
      `  ${spelling.padEnd(24)} ${summary}`,
      `  ${"".padEnd(24)} ${example.expression}  →  ${JSON.stringify(example.answer)}    (${cells(answers)})`,
    ]),
    ...functionGroups.flatMap(({ title, entries }) => [
      "",
      title.toUpperCase(),
      ...entries.flatMap((entry) => [
        `  ${signature(entry).padEnd(28)} ${entry.summary}`,
        `  ${"".padEnd(28)} ${entry.example.expression}  →  ${JSON.stringify(entry.example.answer)}    (${cells(entry.badOperandResults ?? allErrored)})`,
      ]),
    ]),
    "",
    "LIMITS",
    "  4 KiB an expression, nested at most 64 deep, patterns of 1,024 characters. Regular expressions run in",
    "  linear time. There is no clock and no randomness: the time is `system.request_time`.",
    "",
  ].join("\n");
}

function cells({ missing, null: empty, mistyped }: BadOperandResults): string {
  return [missing, empty, mistyped].every((each) => each === "errored")
    ? "all errored"
    : `missing: ${missing}, null: ${empty}, mistyped: ${mistyped}`;
}
