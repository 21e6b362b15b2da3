import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import { peakOf, writeContexts } from "../acceptance/long-inputs.js";

const lines = process.env["AGENT33_TORTURE"] === "full" ? 1_000_000 : 240_000;

it.each(["evaluate", "dry-run"] as const)(
  `answers ${lines} lines in memory that does not grow with their number: %s`,
  // On a busy machine the garbage collector can be late.
  { retry: 2 },
  async (verb) => {
    const folder = temporaryDirectory();
    const [few, many] = [join(folder, "few.jsonl"), join(folder, "many.jsonl")];
    writeContexts(few, Math.floor(lines / 3));
    writeContexts(many, lines);
    const small = await peakOf(few, folder, verb);
    const large = await peakOf(many, folder, verb);
    expect(large).toMatchObject({ answers: lines, errors: lines / 1000, exitCode: 1 });
    expect(large.megabytes - small.megabytes).toBeLessThan(40);
  },
);
