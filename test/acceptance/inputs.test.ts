import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "./command.js";
import { peakOf, writeContexts } from "./long-inputs.js";

describe("--inputs with many lines", () => {
  // On a busy machine the collector of garbage comes late, once in a while.
  it("answers every one in memory that does not grow with their number", { retry: 3 }, async () => {
    const folder = temporaryDirectory();
    const [few, many] = [join(folder, "few.jsonl"), join(folder, "many.jsonl")];
    writeContexts(few, 30_000);
    writeContexts(many, 90_000);
    const small = await peakOf(few, folder, "dry-run");
    const large = await peakOf(many, folder, "dry-run");
    expect(small).toMatchObject({ answers: 30_000, errors: 30, exitCode: 1 });
    expect(large).toMatchObject({ answers: 90_000, errors: 90, exitCode: 1 });
    expect(large.megabytes - small.megabytes).toBeLessThan(15);
  });
});
