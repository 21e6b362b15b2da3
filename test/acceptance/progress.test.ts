import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bin, samples, temporaryDirectory } from "./command.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

describe.skipIf(!hasTerminal)(`a long batch at a terminal of 80 columns${noTerminal}`, () => {
  it("shows its share and the time left on one line, which never vanishes before the end", async () => {
    const cwd = temporaryDirectory();
    const lines = Array.from({ length: 20_000 }, (_, index) => `{"request":{"id":"user-${index}"}}\n`);
    writeFileSync(join(cwd, "in.jsonl"), lines.join(""));
    const command = `'${process.execPath}' '${bin}' decision dry-run decision-ab-prompt-variant`;
    const { exitCode, screen } = await typed(`${command} --inputs in.jsonl --format target > out.txt`, {
      cwd,
      columns: 80,
      env: { AGENT33_DECISIONS: samples },
    });
    expect(exitCode).toBe(0);
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
});
