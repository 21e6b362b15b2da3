import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../acceptance/command.js";

export interface Places {
  readonly decisions: string;
  readonly store: string;
}

/** Longer than the reload interval. */
const changeEvery = 700;

/** Changes definitions until the soak ends, sometimes to invalid ones, then restores them. */
export async function changeDefinitions({ decisions }: Places, rest: Rest): Promise<void> {
  const files = ["quality-gate.yaml", "wire-transfer.yaml"].map((name) => join(decisions, name));
  const texts = files.map((file) => readFileSync(file, "utf8"));
  for (let turn = 1; await rest(changeEvery); turn++) {
    const [file = "", text = ""] = [files[turn % 2], texts[turn % 2]];
    const isBroken = turn % 4 === 0;
    const changed = text
      .replace(/version: "[\d.]+"/, `version: "1.${turn}.0"`)
      .replace(/( {2}name: .*)\n/, `$1\n${isBroken ? "  nonsense: 1" : `  # changed ${turn} times`}\n`);
    writeFileSync(file, changed);
  }
  files.forEach((file, index) => writeFileSync(file, texts[index] ?? ""));
}

/** Makes decisions with the command line in the same store, and returns their record ids. */
export async function decideByCommand({ decisions, store }: Places, rest: Rest): Promise<readonly string[]> {
  const recordIds: string[] = [];
  const words = ["decision", "evaluate", "decision-artifact-type-router"];
  const places = ["--decisions", decisions, "--store", store, "--json"];
  while (await rest(500)) {
    const { exitCode, stdout, stderr } = await run([...words, "--input", '{"artifact": {}}', ...places]);
    if (exitCode !== 0) throw new Error(`the command failed: ${stderr}`);
    recordIds.push((JSON.parse(stdout) as { readonly record_id: string }).record_id);
  }
  return recordIds;
}

/** Waits; returns false when the soak has ended. */
export type Rest = (milliseconds: number) => Promise<boolean>;

/** Sleeps that end early when the soak ends. */
export function resting(): { readonly rest: Rest; readonly end: () => void } {
  const sleepers = new Set<() => void>();
  let isOver = false;
  return {
    rest: (milliseconds) =>
      new Promise((resolve) => {
        if (isOver) {
          resolve(false);
          return;
        }
        const wake = (): void => {
          clearTimeout(timer);
          sleepers.delete(wake);
          resolve(!isOver);
        };
        const timer = setTimeout(wake, milliseconds);
        sleepers.add(wake);
      }),
    end: () => {
      isOver = true;
      for (const wake of sleepers) wake();
    },
  };
}
