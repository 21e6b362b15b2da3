import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../acceptance/command.js";

export interface Places {
  readonly decisions: string;
  readonly store: string;
}

/** Longer than it takes to notice a change. */
const changeEvery = 700;

/** Changes definitions again and again, now and then into what cannot be used, until it is over; then mends them. */
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

/** Decides by command what nobody else does, in the same store; gives the records that it was told of. */
export async function decideByCommand({ decisions, store }: Places, rest: Rest): Promise<readonly string[]> {
  const told: string[] = [];
  const words = ["decision", "evaluate", "decision-artifact-type-router"];
  const places = ["--decisions", decisions, "--store", store, "--json"];
  while (await rest(500)) {
    const { exitCode, stdout, stderr } = await run([...words, "--input", '{"artifact": {}}', ...places]);
    if (exitCode !== 0) throw new Error(`the command failed: ${stderr}`);
    told.push((JSON.parse(stdout) as { readonly record_id: string }).record_id);
  }
  return told;
}

/** Waits so many milliseconds; false: it is over. */
export type Rest = (milliseconds: number) => Promise<boolean>;

/** Lets everybody rest until it is over, and wakes them then. */
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
