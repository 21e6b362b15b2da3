import { describe, expect, it } from "vitest";
import type { Line } from "../../src/cli/batch.js";
import { readLines } from "../../src/cli/batch.js";

async function* arriving(pieces: readonly Buffer[], after = (): void => undefined): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield await Promise.resolve(piece);
  after();
}

async function linesOf(pieces: AsyncIterable<Buffer>, signal: AbortSignal): Promise<readonly Line[][]> {
  const groups: Line[][] = [];
  for await (const lines of readLines(pieces, signal)) groups.push([...lines]);
  return groups;
}

const never = new AbortController().signal;

describe("lines", () => {
  it("are joined wherever they were cut, within a character too", async () => {
    const bytes = Buffer.from('{"a":"ä€😀"}\n{"b":1}\n');
    for (let cut = 1; cut < bytes.length; cut++) {
      const groups = await linesOf(arriving([bytes.subarray(0, cut), bytes.subarray(cut)]), never);
      expect(groups.flat()).toEqual([
        { number: 1, text: '{"a":"ä€😀"}' },
        { number: 2, text: '{"b":1}' },
      ]);
    }
  });

  it("come together as they arrived together", async () => {
    const pieces = ["1\n2\n", "3", "\n", "4\n5"].map((text) => Buffer.from(text));
    const groups = await linesOf(arriving(pieces), never);
    expect(groups.map((lines) => lines.map(({ number }) => number))).toEqual([[1, 2], [3], [4], [5]]);
  });

  it("end with half a line only where the stream ends by itself", async () => {
    const pieces = [Buffer.from("1\n2")];
    const interrupt = new AbortController();
    expect((await linesOf(arriving(pieces), never)).flat()).toHaveLength(2);
    const cutShort = arriving(pieces, () => interrupt.abort());
    expect((await linesOf(cutShort, interrupt.signal)).flat()).toEqual([{ number: 1, text: "1" }]);
  });
});
