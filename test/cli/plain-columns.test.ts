import { describe, expect, it } from "vitest";
import { plainColumns } from "../acceptance/generated-sections.js";
import { temporaryDirectory } from "../acceptance/command.js";
import { runInProcess as run } from "./in-process.js";

const env = { AGENT33_HOME: temporaryDirectory() };

/** Commands on the samples; the first ones make the records that the others show. */
const commands: readonly { readonly row: string; readonly words: string }[] = [
  { row: "`evaluate`", words: 'evaluate decision-quality-gate --input {"artifact":{"quality_score":0.9}}' },
  { row: "`evaluate`", words: 'evaluate decision-ab-prompt-variant --input {"request":{"id":"r-1"}}' },
  { row: "`check`", words: 'check filter_customers --session-id s-1 --params {"segment":"enterprise"}' },
  { row: "`graph`", words: "graph decision-quality-gate" },
  { row: "`log`", words: "log" },
  { row: "`explain --session-id`", words: "explain --session-id s-1" },
  { row: "`distribution`", words: "distribution decision-ab-prompt-variant" },
  { row: "`replay`", words: "replay --all" },
  { row: "`backtest`", words: "backtest decision-quality-gate" },
  { row: "`verify`", words: "verify" },
  { row: "`overrides`", words: "overrides" },
  { row: "`cache status`", words: "cache status" },
  { row: "`endpoints`", words: "endpoints" },
  { row: "`config list`", words: "config list" },
];

describe("--format plain has the columns that the page lists", () => {
  it.each(commands)("$words", async ({ row, words }) => {
    const { stdout } = await run(["decision", ...words.split(" "), "--format", "plain"], { env });
    const [first = ""] = stdout.split("\n");
    const documented = plainColumns.find(({ command }) => command.startsWith(row))?.columns.length;
    expect(first.split("\t"), stdout).toHaveLength(documented ?? NaN);
  });

  it("list, without trusted keys", async () => {
    const { stdout } = await run(["decision", "list", "--format", "plain"], { env });
    const columns = plainColumns.find(({ command }) => command === "`list`")?.columns.length ?? NaN;
    expect(stdout.split("\n")[0]?.split("\t")).toHaveLength(columns - 1);
  });
});
