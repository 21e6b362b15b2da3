import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const variant = "decision-ab-prompt-variant";
const gate = "decision-quality-gate";

/** A log with records of two decisions, of which the first, of the gate, was changed. */
async function damaged(): Promise<Workplace> {
  const place = workplace();
  await place.run(["evaluate", gate, "--input", '{"artifact":{"quality_score":0.9}}']);
  for (const id of ["a", "b"])
    await place.run(["evaluate", variant, "--input", JSON.stringify({ user: { id } })]);
  const path = join(place.store, "log", "000000000001.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").replace('"quality_score":0.9', '"quality_score":0.8'));
  return place;
}

describe("a command on a damaged log", async () => {
  const place = await damaged();

  it.each<{ words: readonly string[] }>([
    { words: ["replay", "latest"] },
    { words: ["replay", "--all", "--decision-id", variant] },
    { words: ["backtest", variant, "--max-change", "100%"] },
    { words: ["distribution", variant, "--check"] },
    { words: ["distribution", gate, "--check", "--allow-empty"] },
    { words: ["precedents", variant, "--deviations", "--check"] },
  ])("that answers with its exit code exits 6 and says why, also with --quiet: $words", async ({ words }) => {
    for (const more of [[], ["--quiet"]]) {
      const ran = await place.run([...words, ...more]);
      expect(ran.code).toBe(6);
      expect(ran.err).toContain("is damaged; run `agent-33 decision verify`");
    }
  });

  it.each<{ words: readonly string[] }>([
    { words: ["replay", "latest", "--no-strict"] },
    { words: ["backtest", variant] },
    { words: ["distribution", variant] },
    { words: ["precedents", variant, "--deviations"] },
  ])("that does not answer with it exits 0 with a warning: $words", async ({ words }) => {
    const ran = await place.run(words);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain("is damaged; run `agent-33 decision verify`");
  });
});
