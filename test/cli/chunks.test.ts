import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { input } from "../../src/cli/io.js";
import { readChunks } from "../../src/cli/batch.js";

const folder = mkdtempSync(join(tmpdir(), "agent-33-pieces-"));

/** Both ends of a pipe. */
function openPipe(name: string): { readonly reading: number; readonly writing: number } {
  const path = join(folder, name);
  execFileSync("mkfifo", [path]);
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reading, writing: openSync(path, "w") };
}

/** What is in a pipe is read in one turn of the event loop. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
}

const textOf = ({ value }: IteratorResult<Buffer, unknown>): string => String(value);

describe("data from a pipe", () => {
  it("is read as it arrives, and in one chunk if it arrived in between", async () => {
    const { reading, writing } = openPipe("meanwhile");
    const pieces = readChunks(input(reading), new AbortController().signal);
    writeSync(writing, "1\n");
    expect(textOf(await pieces.next())).toBe("1\n");
    const next = pieces.next();
    writeSync(writing, "2\n");
    expect(textOf(await next)).toBe("2\n");
    for (const text of ["3\n", "4\n", "5"]) {
      writeSync(writing, text);
      await turn();
    }
    expect(textOf(await pieces.next())).toBe("3\n4\n5");
    closeSync(writing);
    expect(await pieces.next()).toMatchObject({ done: true });
  });

  it("is yielded after the signal if it was read before", async () => {
    const { reading, writing } = openPipe("signal");
    const interrupt = new AbortController();
    const pieces = readChunks(input(reading), interrupt.signal);
    writeSync(writing, "1\n");
    await pieces.next();
    writeSync(writing, "2\n");
    await turn();
    interrupt.abort();
    expect(textOf(await pieces.next())).toBe("2\n");
    expect(await pieces.next()).toMatchObject({ done: true });
    closeSync(writing);
  });

  it("is not waited for after the signal", async () => {
    const { reading, writing } = openPipe("waiting");
    const interrupt = new AbortController();
    const next = readChunks(input(reading), interrupt.signal).next();
    await turn();
    interrupt.abort();
    expect(await next).toMatchObject({ done: true });
    closeSync(writing);
  });
});

describe("data from a file", () => {
  it("is read in large chunks until the signal", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "x".repeat(1_000_000));
    const sizes: number[] = [];
    for await (const piece of readChunks(input(openSync(file, "r")), new AbortController().signal)) {
      sizes.push(piece.length);
    }
    expect(sizes).toEqual([262_144, 262_144, 262_144, 213_568]);
    const interrupt = new AbortController();
    const pieces = readChunks(input(openSync(file, "r")), interrupt.signal);
    await pieces.next();
    interrupt.abort();
    expect(await pieces.next()).toMatchObject({ done: true });
  });
});
