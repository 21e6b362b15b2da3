import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkpointSignatureCheck, signerFromFile } from "../../src/store/signing.js";
import { filled, headOf, segmentFile, segmentFiles, storeDirectory } from "./jsonl-log.js";
import type { Tampered } from "./tampering.js";
import { editLines, eightKilobytes, flipBits, forgeAnew, moveSegments, truncate } from "./tampering.js";

const single = { every: 1, of: "one a byte" } as const;

function expectAllSeen({ tried, unseen }: Tampered, least: number): void {
  expect(unseen).toEqual([]);
  expect(tried).toBeGreaterThanOrEqual(least);
}

describe("with the head intact", () => {
  it("every flipped bit in a log of 8 KB is detected", async () => {
    expectAllSeen(flipBits(await eightKilobytes(), segmentFile(1), { every: 20, of: "one a byte" }), 400);
  }, 180_000);

  it("a cut anywhere in the log is detected", async () => {
    const directory = await filled(60, { durability: "fast", checkpointEvery: 25 });
    expectAllSeen(truncate(directory, segmentFile(1), 397), 140);
  }, 180_000);

  it("a cut anywhere in a log without checkpoints is detected", async () => {
    expectAllSeen(truncate(await filled(9), segmentFile(1), 31), 200);
  });

  it("swapped, repeated, removed and added lines are detected", async () => {
    expectAllSeen(editLines(await eightKilobytes(), segmentFile(1)), 180);
  });

  it("are detected in each of several segments", async () => {
    const directory = await filled(14, { segmentSize: 3000, checkpointEvery: 5 });
    for (const name of segmentFiles(directory)) {
      expectAllSeen(editLines(directory, name), 20);
      expectAllSeen(truncate(directory, name, 173), 10);
    }
  });

  it("swapped, repeated and removed segments are detected", async () => {
    expectAllSeen(moveSegments(await filled(24, { segmentSize: 3000, checkpointEvery: 5 })), 50);
  });
});

describe("the other files of the log", () => {
  it("every flipped bit of the head is detected", async () => {
    expectAllSeen(flipBits(await eightKilobytes(), "head", single), 512);
  });

  it("every flipped bit of the head of a log with durability `fast` is detected", async () => {
    const directory = await filled(9, { durability: "fast", checkpointEvery: 5 });
    expectAllSeen(flipBits(directory, "head", single), 512);
  }, 180_000);

  it("every flipped bit, cut and edit of the checkpoints is detected", async () => {
    const directory = await filled(6, { checkpointEvery: 2 });
    expectAllSeen(flipBits(directory, "checkpoints.jsonl", single), 600);
    expectAllSeen(truncate(directory, "checkpoints.jsonl", 7), 90);
    expectAllSeen(editLines(directory, "checkpoints.jsonl"), 20);
  });
});

describe("a changed record with a forged chain and head", () => {
  const folder = storeDirectory();
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const [secret, open] = [join(folder, "secret.pem"), join(folder, "open.pem")];
  writeFileSync(secret, privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(open, publicKey.export({ type: "spki", format: "pem" }));
  const signed = { checkpointEvery: 4, sign: signerFromFile(secret) };

  it.each(["chain", "checkpoints too", "old signatures"] as const)(
    "is detected with the key if a signed checkpoint follows it (%s)",
    async (forging) => {
      const withKey = { checkSignature: checkpointSignatureCheck(open) };
      expectAllSeen(await forgeAnew(await filled(16, signed), forging, withKey), 16);
    },
  );

  it.each(["chain", "checkpoints too"] as const)(
    "is detected with a noted size and head (%s)",
    async (forging) => {
      const directory = await filled(15, { checkpointEvery: 4 });
      const { size, head } = headOf(directory);
      expectAllSeen(await forgeAnew(directory, forging, { expect: { size, head } }), 15);
    },
  );

  it("is detected with a noted size and head in a log without checkpoints", async () => {
    const directory = await filled(7);
    const { size, head } = headOf(directory);
    expectAllSeen(await forgeAnew(directory, "chain", { expect: { size, head } }), 7);
  });
});
