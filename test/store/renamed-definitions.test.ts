import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openDefinitions } from "../../src/store/definitions.js";

/** Runs once, when a folder was listed; returns the names that the listing missed. */
let whileListing: ((folder: string) => readonly string[]) | undefined;

vi.mock("node:fs", async (original) => {
  const actual = await original<typeof fs>();
  const readdirSync = ((folder: string, options: { withFileTypes: true }) => {
    const entries = actual.readdirSync(folder, options);
    const act = whileListing;
    whileListing = undefined;
    const missed = act?.(folder) ?? [];
    return entries.filter(({ name }) => !missed.includes(name));
  }) as unknown as typeof fs.readdirSync;
  return { ...actual, readdirSync };
});

const start = Date.parse("2026-03-02T12:00:00Z");
let directory = "";
let elapsed = 0;

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), "agent-33-renamed-"));
  elapsed = 0;
  fs.mkdirSync(join(directory, "deep"));
  for (const path of ["a.yaml", "deep/b.yaml"])
    fs.writeFileSync(
      join(directory, path),
      `decision: { id: ${path.at(-6)}, type: policy, tool: rm, policies: [] }\n`,
    );
  for (const path of ["a.yaml", "deep/b.yaml", "deep", "."]) setTime(path, start - 3_600_000);
});

afterEach(() => fs.rmSync(directory, { recursive: true, force: true }));

const setTime = (path: string, at: number): void =>
  fs.utimesSync(join(directory, path), at / 1000, at / 1000);

/** Renames a file or folder at the current time of the test. */
function rename(from: string, to: string): void {
  fs.renameSync(join(directory, from), join(directory, to));
  setTime(join(to, ".."), start + elapsed);
}

const open = async (): Promise<readonly string[]> => {
  const time = {
    now: () => start + elapsed,
    stopwatch: () => elapsed,
    load: () => 0,
    sleep(milliseconds: number) {
      elapsed += milliseconds;
      return Promise.resolve();
    },
  };
  return [...(await openDefinitions({ directory, cacheHome: undefined, version: "1", time })).ids].sort();
};

describe("definitions that are renamed while they are searched", () => {
  it.each([
    { name: "a file that was listed", from: "a.yaml", to: "z.yaml", missed: [] },
    { name: "a file that was listed with neither name", from: "a.yaml", to: "z.yaml", missed: ["a.yaml"] },
    { name: "a file to a folder that was listed", from: "deep/b.yaml", to: "b.yaml", missed: [] },
    { name: "a folder that was listed", from: "deep", to: "deeper", missed: [] },
    { name: "a folder that was listed with neither name", from: "deep", to: "deeper", missed: ["deep"] },
  ])("are found: $name", async ({ from, to, missed }) => {
    whileListing = () => {
      rename(from, to);
      setTime(".", start + elapsed);
      return missed;
    };
    expect(await open()).toEqual(["a", "b"]);
  });

  it("are found if nothing is renamed, without waiting", async () => {
    expect(await open()).toEqual(["a", "b"]);
    expect(elapsed).toBe(0);
  });
});
