import { chmodSync, cpSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import type { ReplayReport } from "../../src/replay/replay-log.js";
import type { Verification } from "../../src/store/drivers/jsonl/verify-store.js";
import { fakeIo } from "../cli/fake-io.js";
import { filesIn } from "../cli/files-in.js";

/*
 * What version 0.1.0 has recorded must come to the same answers for good. The store was made once, by the
 * built command of that version with the definitions of mixed-definitions.ts as they were then: a few lines
 * for each by `evaluate ID --inputs -` (two of them twice, for the cache, and with --workflow-id, --feedback
 * and the like where that matters), then calls by `check` and `result` in two sessions, then `gate`; with
 * AGENT33_CHECKPOINT_EVERY=20 and AGENT33_SEGMENT_SIZE=65536. Kept of it are the log with its head and
 * checkpoints, the counters, and the definitions and environments. It is never made anew: where this test
 * fails, the program is wrong.
 */
const kept = fileURLToPath(new URL("../fixtures/replay/store-0.1.0", import.meta.url));

let store: string;
beforeAll(() => {
  store = join(mkdtempSync(join(tmpdir(), "agent-33-kept-")), "store");
  cpSync(kept, store, { recursive: true });
  for (const [path] of filesIn(store)) chmodSync(join(store, path), 0o600);
});

async function ask(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  const io = fakeIo({ env: { AGENT33_STORE: store, AGENT33_DECISIONS: "nowhere" } });
  const code = await main(["decision", ...words, "--json"], io);
  return { code, out: io.written.out };
}

describe("the store of version 0.1.0", () => {
  it("replays without mismatches", async () => {
    const { code, out } = await ask("replay", "--all");
    const answer = JSON.parse(out) as ReplayReport;
    expect({ code, mismatches: answer.mismatches }).toEqual({ code: 0, mismatches: [] });
    expect(answer).toMatchObject({ total: 59, matched: 57, mismatched: 0, not_replayable: 2 });
    expect(answer.reasons.map(({ reason }) => reason).sort()).toEqual([
      "it read masked values",
      "its inputs were not logged",
    ]);
  });

  it("passes verification", async () => {
    const { code, out } = await ask("verify");
    expect({ code, ...(JSON.parse(out) as Verification) }).toMatchObject({
      code: 0,
      ok: true,
      size: 61,
      problems: [],
      checkpoints: 5,
    });
  });

  it("has records of every type and every kind of outcome", async () => {
    const answer = JSON.parse((await ask("log", "--limit", "100")).out) as Record<string, unknown>[];
    const count = (field: string, value: unknown): number =>
      answer.filter((record) => record[field] === value).length;
    const types = ["binary", "switch", "weighted", "rule_table", "scored", "policy", "gate"];
    expect(types.map((type) => count("type", type))).toEqual([10, 5, 6, 10, 12, 9, 7]);
    expect([count("cached", true), count("blocked", true), count("escalated", true)]).toEqual([2, 3, 2]);
  });

  it("contains neither derived files nor machine paths", () => {
    expect(readdirSync(kept).sort()).toEqual(["counters", "definitions", "environments", "log"]);
    const files = filesIn(kept);
    expect(files.map(([path]) => path)).not.toContain("log/index");
    expect(files.reduce((sum, [, text]) => sum + text.length, 0)).toBeLessThan(300_000);
    expect(files.filter(([, text]) => /\/(?:home|root|tmp|Users|work)\b/.test(text))).toEqual([]);
  });
});
