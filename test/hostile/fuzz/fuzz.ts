import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { samples as samplesFolder } from "../../acceptance/command.js";
import { isThorough } from "../../thoroughness.js";
import { bundleChild, watch } from "../watched-child.js";
import type { Fault, Tally } from "./child.js";
import type { Samples } from "./inputs.js";
import { inputAt } from "./inputs.js";

/** `AGENT33_FUZZ=seed` for other inputs, `AGENT33_FUZZ=seed:case` for a single one again. */
const [seed = 33, only] = (process.env["AGENT33_FUZZ"] ?? "33").split(":").map(Number);

const files = readdirSync(samplesFolder)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => join(samplesFolder, name));

/** Far more than a case may work for: this is where its process is taken for lost. */
const patience = 10_000;
const mostFaults = 20;

/** Feeds that many random inputs to the compiler of expressions and to the reader of definitions. */
export function fuzz(cases: number, timeout: number): void {
  it(
    `${cases} random inputs are taken or refused, each within a second`,
    async () => {
      const { faults, accepted } = await run(only ?? 0, only === undefined ? cases : 1);
      expect(faults.map(describe).join("\n\n")).toBe("");
      if (only === undefined && isThorough) {
        const met = Object.keys(accepted).sort();
        expect(met).toEqual(["a mutated sample", "random bytes", "random tokens"]);
      }
    },
    timeout,
  );
}

async function run(
  first: number,
  cases: number,
): Promise<{ faults: readonly Fault[]; accepted: Tally["accepted"] }> {
  const folder = mkdtempSync(join(tmpdir(), "agent-33-fuzz-"));
  try {
    const script = await bundleChild("fuzz/child", folder);
    const args = [String(seed), String(first), String(cases), ...files];
    const { said, deaths } = await watch(
      { script, args, cases: first + cases, folder, patience },
      mostFaults,
    );
    const faults = (said as (Fault | Tally)[]).filter((each) => "index" in each);
    const [tally] = (said as (Fault | Tally)[]).filter((each) => "cases" in each);
    const died = deaths.map(({ index, cause }) => ({ index, what: cause }));
    return { faults: [...faults, ...died], accepted: tally?.accepted ?? {} };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function describe({ index, what }: Fault): string {
  const samples = files.map((file) => readFileSync(file)) as unknown as Samples;
  const input = inputAt(seed, index, samples);
  const written = input.door === "expression" ? input.text : Buffer.from(input.bytes).toString("latin1");
  return [
    what,
    `${input.kind} for ${input.door === "expression" ? "an expression" : "the definitions"}, again with AGENT33_FUZZ=${seed}:${index}`,
    JSON.stringify(written).slice(0, 10_000),
  ].join("\n");
}
