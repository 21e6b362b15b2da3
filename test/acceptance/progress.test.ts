import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { bin, samples, temporaryDirectory } from "./command.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

const command = `'${process.execPath}' '${bin}' decision dry-run decision-ab-prompt-variant --inputs in.jsonl --format target`;

/** Decides 20,000 lines at a terminal of 80 columns. */
async function longBatch(cwd: string, commandLine: string): Promise<string> {
  const lines = Array.from({ length: 20_000 }, (_, index) => `{"request":{"id":"user-${index}"}}\n`);
  writeFileSync(join(cwd, "in.jsonl"), lines.join(""));
  const env = { AGENT33_DECISIONS: samples };
  const { exitCode, screen } = await typed(commandLine, { cwd, columns: 80, env });
  expect(exitCode).toBe(0);
  return screen;
}

describe.skipIf(!hasTerminal)(`a long batch at a terminal of 80 columns${noTerminal}`, () => {
  it("shows its share and the time left on one line, which never vanishes before the end", async () => {
    const cwd = temporaryDirectory();
    const screen = await longBatch(cwd, `${command} > out.txt`);
    expect(readFileSync(join(cwd, "out.txt"), "utf8").match(/^stage-prompt-v\d$/gm)).toHaveLength(20_000);
    const frames = screen.split("\r").slice(1);
    expect(frames.length).toBeGreaterThan(1);
    expect(frames.pop()).toBe("\u001b[K");
    for (const frame of frames) {
      expect(frame.endsWith("\u001b[K")).toBe(true);
      expect(frame.slice(0, -3)).toMatch(
        /^\d+ %, [\d,]+ decided, [\d,]+ per second, (?:\d+ min )?\d+ s left$/,
      );
    }
  });

  it("does so on the last row while the results scroll above it", async () => {
    const screen = await longBatch(temporaryDirectory(), `stty rows 24\n${command}`);
    const results = stripVTControlCharacters(screen).match(/^stage-prompt-v\d$/gm);
    expect(results).toHaveLength(20_000);
    const [, ...scrolled] = screen.split("\u001b[1;23r");
    expect(scrolled.length).toBeGreaterThan(1);
    const erasures = scrolled.join("").split("\r\u001b[K");
    expect(erasures).toEqual([expect.stringMatching(/ \d+ s left/), ""]);
  });
});
