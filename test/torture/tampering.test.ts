import { expect, it } from "vitest";
import { filled, headOf, segmentFile, segmentFiles } from "../store/jsonl-log.js";
import type { Tampered } from "../store/tampering.js";
import {
  editLines,
  eightKilobytes,
  flipBits,
  forgeAnew,
  moveSegments,
  truncate,
} from "../store/tampering.js";

const isFull = process.env["AGENT33_TORTURE"] === "full";
const bits = { every: 1, of: isFull ? "all" : "one a byte" } as const;

/** Says how often something was tried, as that is what the long form is for. */
function expectAllSeen(what: string, { tried, unseen }: Tampered): void {
  process.stdout.write(`${what}: ${tried} tried, ${unseen.length} unseen\n`);
  expect(unseen).toEqual([]);
  expect(tried).toBeGreaterThan(0);
}

it(`sees bits (${bits.of}) of a log of 8 KB that are flipped`, async () => {
  expectAllSeen("bits of the log", flipBits(await eightKilobytes(), segmentFile(1), bits));
});

it("sees every bit of the head and of the checkpoints that is flipped", async () => {
  const directory = await filled(9, { checkpointEvery: 2 });
  expectAllSeen("bits of the head", flipBits(directory, "head", { every: 1, of: "all" }));
  const unwaited = await filled(9, { durability: "fast", checkpointEvery: 5 });
  expectAllSeen("bits of a head that did not wait", flipBits(unwaited, "head", { every: 1, of: "all" }));
  expectAllSeen("bits of the checkpoints", flipBits(directory, "checkpoints.jsonl", bits));
});

it("sees a log of 300 records that is cut", async () => {
  const directory = await filled(300, { durability: "fast", checkpointEvery: 50 });
  expectAllSeen("cuts of the log", truncate(directory, segmentFile(1), isFull ? 1 : 97));
});

it("sees lines and segments that are swapped, repeated or removed", async () => {
  const directory = await filled(isFull ? 60 : 20, { segmentSize: 16_000, checkpointEvery: 7 });
  for (const name of segmentFiles(directory)) expectAllSeen(`lines of ${name}`, editLines(directory, name));
  expectAllSeen("segments", moveSegments(directory));
});

it("sees any record that was changed with chain, head and checkpoints forged anew", async () => {
  const directory = await filled(isFull ? 200 : 30, { checkpointEvery: 9, durability: "fast" });
  const { size, head } = headOf(directory);
  expectAllSeen("forged records", await forgeAnew(directory, "checkpoints too", { expect: { size, head } }));
});
