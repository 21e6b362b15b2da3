import { stringify } from "yaml";
import { buildProgram } from "../../src/cli/program.js";
import { exitCodeOf, exitCodes } from "../../src/cli/exit-codes.js";
import type { ErrorCode } from "../../src/errors.js";
import type { BadOperandResults } from "../../src/expression/function-table.js";
import { allErrored, functionGroups, signature } from "../../src/expression/function-table.js";
import { operatorTable } from "../../src/expression/operator-table.js";
import { ruleOperatorGroups } from "../../src/expression/rule/rule-operators.js";
import { fakeIo } from "../cli/fake-io.js";

/** The parts of pages that are written from the tables in the code, by the name of their marks. */
export const generatedSections: Readonly<
  Record<string, { readonly page: string; readonly lines: () => string | Promise<string> }>
> = {
  operators: {
    page: "docs/expressions.md",
    lines: () =>
      table(
        ["Operator", "Meaning", "Example", "Missing, null or mistyped operand"],
        operatorTable.map(({ spelling, summary, example, badOperandResults }) => [
          spelling
            .split(/ {2,}/)
            .map((each) => code(each))
            .join(", "),
          summary,
          arrow(example.expression, example.answer),
          onBadOperand(badOperandResults),
        ]),
      ),
  },
  functions: {
    page: "docs/expressions.md",
    lines: () =>
      functionGroups()
        .map(({ title, entries }) =>
          [
            `### ${title}\n`,
            table(
              ["Function", "Result", "Example", "Missing, null or mistyped argument"],
              entries.map((entry) => [
                code(signature(entry)),
                entry.summary,
                arrow(entry.example.expression, entry.example.answer),
                onBadOperand(entry.badOperandResults ?? allErrored),
              ]),
            ),
          ].join("\n"),
        )
        .join("\n"),
  },
  "rule operators": {
    page: "docs/scored.md",
    lines: () =>
      ruleOperatorGroups()
        .map(({ title, entries }) =>
          [
            `### ${title}\n`,
            table(
              ["Operator", "True if", "`value`", "Example"],
              entries.map(({ name, symbol, summary, takes, example: { condition, context, answer } }) => [
                symbol === undefined ? code(name) : `${code(name)} (${code(symbol)})`,
                summary,
                takes,
                `${code(flow(condition))} on ${code(flow(context))}: ${answer}`,
              ]),
            ),
          ].join("\n"),
        )
        .join("\n"),
  },
  "exit codes": {
    page: "docs/exit-codes.md",
    lines: () =>
      table(
        ["Code", "Meaning"],
        exitCodes.map(({ code: number, means }) => [String(number), means]),
      ),
  },
  "error codes": {
    page: "docs/exit-codes.md",
    lines: () =>
      table(
        ["`code`", "Meaning", "Exit code"],
        Object.entries(errorMeanings).map(([name, meaning]) => [
          code(name),
          meaning,
          String(exitCodeOf(name as ErrorCode)),
        ]),
      ),
  },
  "plain columns": {
    page: "docs/formatting.md",
    lines: () =>
      table(
        ["Command", "Columns of a line"],
        plainColumns.map(({ command, columns }) => [command, columns.join(", ")]),
      ),
  },
  commands: { page: "README.md", lines: commandTable },
};

/** A record, so that the compiler finds a code that is missing. */
const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  usage: "the command line is wrong",
  input_invalid: "the input is not JSON, or not what is expected",
  definition_not_found: "there is no decision or action with this name",
  record_not_found: "there is no such record",
  definitions_missing: "there is no directory of definitions",
  file_exists: "a file exists already and is not overwritten",
  forbidden: "the caller may not do this",
  invalid_rule_dsl: "rules or an audit payload have a wrong structure",
  invalid_configuration: "the options of a library call contradict each other",
  definition_invalid: "a definition is invalid",
  expression_invalid: "an expression cannot be compiled",
  not_approved: "a definition is not approved, or an approval cannot be accepted",
  condition_errored: "a condition or the input could not be evaluated, with `--strict` or `on_error: fail`",
  hit_policy_violated: "the rules that matched violate the `hit_policy` of the table",
  output_errored: "an output could not be evaluated, or cannot be aggregated or ordered",
  decision_cycle: "`--follow` came back to a decision that was already made",
  no_evaluations: "no evaluator of a scored decision cast a vote",
  invalid_weight: "the weight of a vote is not between 0 and 1",
  invalid_confidence: "a confidence is not between 0 and 1",
  invalid_evaluator: "an evaluator written in code is not one, or returned an invalid vote",
  invalid_scoring_strategy: "a strategy written in code is not one, or returned an invalid result",
  invalid_audit_adapter: "an audit adapter written in code is not one",
  file_unreadable: "a file could not be read",
  file_unwritable: "a file could not be written",
  store_busy: "another process held the lock of the store for too long",
  store_failed: "the store could not be read or written",
  not_replayable: "a record cannot be evaluated again, for example without its inputs",
  log_damaged: "the log is damaged; see `agent-33 decision verify`",
  fetch_refused: "a fetch was refused before it was sent, for example to a private address",
  request_failed: "an endpoint answered with an error",
  request_timeout: "an endpoint did not answer in time",
  network_failed: "an endpoint could not be reached",
  circuit_open: "an endpoint failed too often and is not called for a while",
  rate_limited: "the rate limit of an endpoint is used up",
  replay_mismatch: "a replay led to another answer",
  nothing_to_check: "a check had nothing to check, and --allow-empty is not given",
};

const logColumns = [
  "number",
  "time",
  "decision",
  "labels",
  "targets",
  "workflow",
  "stage",
  "record",
  "session",
  "correlation",
  "`cached` or empty",
  "reasons",
  "fetched data",
];

/** The columns of `--format plain`; a test runs the commands that need no further arguments. */
export const plainColumns: readonly { readonly command: string; readonly columns: readonly string[] }[] = [
  {
    command: "`evaluate`, `dry-run`, `gate`",
    columns: ["target (or decision, outcome, status)", "labels", "decision", "type", "reasons"],
  },
  { command: "`check`", columns: ["outcome", "tool", "reason"] },
  { command: "`result`", columns: ["a sentence"] },
  {
    command: "`list`",
    columns: ["id", "type", "number of cases", "version", "approval (if keys are trusted)", "name", "file"],
  },
  { command: "`show`", columns: ["the columns of the table, a line for each case, rule or policy"] },
  { command: "`validate`", columns: ["`file:line:column`", "severity", "message", "hint (if there is one)"] },
  {
    command: "`approve`, `retire`",
    columns: ["id", "serial", "status", "status before", "changes", "definition hash", "environment hash"],
  },
  {
    command: "`keygen`",
    columns: ["fingerprint", "private file", "public file", "public key", "command that trusts it"],
  },
  { command: "`diff`", columns: ["`definition` or `environment`", "path", "before", "after"] },
  { command: "`graph`, `lineage RECORD`, `lineage --impact`", columns: ["from", "label", "to", "kind"] },
  { command: "`log`, and lists of `lineage` and `precedents`", columns: logColumns },
  { command: "`explain RECORD`", columns: ["name", "value", "further values"] },
  {
    command: "`explain --session-id`",
    columns: ["number", "time", "decision or tool", "answer", "reason", "authority", "record"],
  },
  { command: "`distribution`", columns: ["label", "target", "count", "share", "expected share"] },
  {
    command: "`distribution --all-definitions`",
    columns: ["label", "target", "count", "share", "expected share", "hash (other definitions only)"],
  },
  { command: "`distribution --by`", columns: ["period", "label", "count", "share"] },
  {
    command: "`precedents ID`, `precedents --record`",
    columns: ["similarity", "outcome", "`matched` or `deviated`", "record", "number", "time", "reason"],
  },
  {
    command: "`precedents --deviations`",
    columns: ["severity and summary in the first line; then: kind", "record", "precedent", "decision", "why"],
  },
  {
    command: "`replay`",
    columns: [
      "`replayed`",
      "total",
      "matched",
      "mismatched",
      "not replayable (more lines: differences, reasons)",
    ],
  },
  {
    command: "`backtest`",
    columns: ["`backtest`", "decision", "total", "changed", "rate", "not replayable (more lines: changes)"],
  },
  {
    command: "`verify`",
    columns: [
      "`log` or `export`",
      "`ok`, `damaged`, `unsigned` or `unexpected`",
      "`SIZE:HEAD` (more lines: problems)",
    ],
  },
  {
    command: "`overrides`",
    columns: ["decision", "override", "version", "status", "window", "uses", "last use", "record of it"],
  },
  {
    command: "`overrides --patterns`",
    columns: [
      ...["decision", "policy", "override", "flips", "denials", "share", "sessions", "callers"],
      ...["first flip", "last flip", "change, or why there is none"],
    ],
  },
  { command: "`cache status`", columns: ["name", "value"] },
  {
    command: "`endpoints`",
    columns: [
      ...["name", "method", "URL", "circuit", "open until", "failures", "fresh responses", "stale responses"],
      ...["last fetch", "its milliseconds", "its error", "result of `--check`", "environment variables"],
    ],
  },
  { command: "`import`", columns: ["records", "`SIZE:HEAD`"] },
  { command: "`prune`", columns: ["records", "number of the last one", "bytes"] },
  { command: "`config list`", columns: ["setting", "value", "source"] },
];

/** A row for each group of commands, in the words of `agent-33 decision --help`. */
async function commandTable(): Promise<string> {
  const program = await buildProgram(fakeIo(), () => undefined);
  const decision = program.commands.find((each) => each.name() === "decision");
  const groups = new Map<string, string[]>();
  for (const each of decision?.commands ?? []) {
    const group = each.helpGroup().replace(":", "");
    groups.set(group, [...(groups.get(group) ?? []), `${code(each.name())} ${each.summary()}`]);
  }
  return table(
    ["Group", "Commands of `agent-33 decision`"],
    [...groups].map(([group, commands]) => [group, commands.join("; ")]),
  );
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return [titles, titles.map(() => "---"), ...rows].map(row).join("");
}

const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);
/** YAML on one line, as definitions write it. */
const flow = (value: unknown): string =>
  stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();

const arrow = (expression: string, answer: unknown): string =>
  `${code(expression)} → ${code(JSON.stringify(answer))}`;

function onBadOperand({ missing, null: empty, mistyped }: BadOperandResults): string {
  return [missing, empty, mistyped].every((each) => each === "errored")
    ? "all errored"
    : `${missing}, ${empty}, ${mistyped}`;
}
