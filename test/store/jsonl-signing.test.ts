import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { VerifyOptions } from "../../src/store/drivers/jsonl/verify-store.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { checkpointSignatureCheck, signerFromFile } from "../../src/store/signing.js";
import { decided, noted } from "./entries.js";
import { chained, forgeCheckpoints, forgeLog, withoutCheckpoint } from "./forging.js";
import {
  checkpointsOf,
  expectSound,
  filled,
  headOf,
  isNoticed,
  linesOf,
  logFile,
  openLog,
  readLog,
  segmentFile,
  segmentFiles,
  storeDirectory,
  writeHeadFile,
  writeLog,
} from "./jsonl-log.js";

interface Keys {
  readonly secret: string;
  readonly open: string;
}

function makeKeys(): Keys {
  const folder = storeDirectory();
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const [secret, open] = [join(folder, "secret.pem"), join(folder, "open.pem")];
  writeFileSync(secret, privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(open, publicKey.export({ type: "spki", format: "pem" }));
  return { secret, open };
}

const keys = makeKeys();
const signing = { checkpointEvery: 5, sign: signerFromFile(keys.secret), segmentSize: 8000 };
const withKey: VerifyOptions = { checkSignature: checkpointSignatureCheck(keys.open) };

describe("signed checkpoints", () => {
  it("are all signed with the private key, and verify with the public key", async () => {
    const directory = await filled(12, signing);
    expect(expectSound(directory, withKey)).toMatchObject({ checkpoints: 3, signed: 3 });
    expectSound(directory);
    for (const each of checkpointsOf(directory))
      expect(each).toMatchObject({ key: /^[0-9a-f]{64}$/, signature: /=$/ });
  });

  it("do not verify with another key", async () => {
    const directory = await filled(12, signing);
    const another = { checkSignature: checkpointSignatureCheck(makeKeys().open) };
    expect(verifyStore(directory, another).problems).toMatchObject([{ kind: "signature" }]);
  });

  it("are reported as missing if there are none", async () => {
    expect(verifyStore(await filled(12, { checkpointEvery: 5 }), withKey).problems).toMatchObject([
      { kind: "signature" },
    ]);
    expect(verifyStore(await filled(2, signing), withKey).problems).toMatchObject([{ kind: "signature" }]);
  });

  it("are reported as missing if the last one is not signed", async () => {
    const directory = await filled(12, signing);
    await filled(10, { ...signing, sign: undefined }, directory);
    expect(isNoticed(directory)).toBe(false);
    expect(isNoticed(directory, withKey)).toBe(true);
  });

  it.each(["rsa", "ec", "garbage", "missing"])("need an Ed25519 key: %s is refused", (kind) => {
    const file = join(storeDirectory(), "key.pem");
    if (kind === "garbage") writeFileSync(file, "no key");
    if (kind === "rsa")
      writeFileSync(
        file,
        generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({
          type: "pkcs8",
          format: "pem",
        }),
      );
    if (kind === "ec")
      writeFileSync(
        file,
        generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
          type: "pkcs8",
          format: "pem",
        }),
      );
    expect(() => signerFromFile(file)("text")).toThrow(expect.objectContaining({ code: "usage" }) as Error);
    expect(() => checkpointSignatureCheck(file)).toThrow(expect.objectContaining({ code: "usage" }) as Error);
  });

  it.each([
    { name: "a pipe", put: (file: string) => execFileSync("mkfifo", [file]), why: "is not a regular file" },
    {
      name: "a device that never ends",
      put: (file: string) => symlinkSync("/dev/zero", file),
      why: "is not a regular file",
    },
    { name: "a directory", put: (file: string) => mkdirSync(file), why: "is a directory" },
    {
      name: "a large file",
      put: (file: string) => writeFileSync(file, Buffer.alloc(1024 ** 2 + 1)),
      why: "it does not contain a key in PEM format",
    },
  ])("are not written if the key is $name", async ({ put, why }) => {
    const file = join(storeDirectory(), "key.pem");
    put(file);
    const store = openLog(storeDirectory(), { sign: signerFromFile(file), checkpointEvery: 2 });
    await store.log.append({ body: decided({ input: 1 }) });
    await expect(store.log.append({ body: decided({ input: 2 }) })).rejects.toThrow(
      new RegExp(`^cannot use the key in \`[^\`]+\`: (\`[^\`]+\`)? ?${why}$`),
    );
    await store.close();
  });

  it("are signed with the key that was in the file when the store was opened", async () => {
    const { secret, open } = makeKeys();
    const sign = signerFromFile(secret);
    rmSync(secret);
    const directory = await filled(12, { ...signing, sign });
    expect(isNoticed(directory, { checkSignature: checkpointSignatureCheck(open) })).toBe(false);
  });
});

/** A log with a changed answer and a recomputed chain and head. */
async function forged(): Promise<{ directory: string; expect: { size: number; head: string } }> {
  const directory = await filled(23, signing);
  const { size, head } = headOf(directory);
  const lines = linesOf(directory).map((line, at) =>
    at === 6 ? line.replace('["Pass"]', '["Fail"]') : line,
  );
  forgeLog(directory, chained(lines));
  return { directory, expect: { size, head } };
}

describe("a forged log", () => {
  it("does not match its checkpoints", async () => {
    const { directory, expect: expectation } = await forged();
    expect(isNoticed(directory)).toBe(true);
    expect(isNoticed(directory, withKey)).toBe(true);
    expect(isNoticed(directory, { expect: expectation })).toBe(true);
  });

  it("with forged checkpoints is detected with the key, or with a noted size and head", async () => {
    const { directory, expect: expectation } = await forged();
    forgeCheckpoints(directory);
    // Without the key or a noted head nothing can detect this.
    expect(isNoticed(directory)).toBe(false);
    expect(isNoticed(directory, withKey)).toBe(true);
    expect(isNoticed(directory, { expect: expectation })).toBe(true);
  });

  it("with the old signatures on forged checkpoints is detected with the key", async () => {
    const { directory } = await forged();
    forgeCheckpoints(directory, { keepSignatures: true });
    expect(isNoticed(directory)).toBe(false);
    expect(isNoticed(directory, withKey)).toBe(true);
  });

  it("with checkpoints signed by another key is detected with the key", async () => {
    const { directory } = await forged();
    const other = await filled(23, { ...signing, sign: signerFromFile(makeKeys().secret) });
    writeLog(directory, "checkpoints.jsonl", readLog(other, "checkpoints.jsonl"));
    expect(isNoticed(directory, withKey)).toBe(true);
  });

  it("without checkpoints is detected with the key, or with a noted size and head", async () => {
    const { directory, expect: expectation } = await forged();
    rmSync(logFile(directory, "checkpoints.jsonl"));
    writeHeadFile(directory, withoutCheckpoint(directory));
    expect(isNoticed(directory, withKey)).toBe(true);
    expect(isNoticed(directory, { expect: expectation })).toBe(true);
  });

  it("is detected if it claims a prune beyond the last signed checkpoint", async () => {
    for (const through of [20, 21, 23, 24, 100]) {
      const directory = await filled(23, signing);
      const { size, head } = headOf(directory);
      const before = "f".repeat(64);
      const body = (text: string): string => `{"seq":1,${text},"prev_hash":"${before}","hash":"${before}"}`;
      const note = body(noted({ through, hash: before, records: through }));
      const lines = chained([note, body(decided({ selected_labels: ["forged"] }))], through + 1, before);
      forgeLog(directory, lines, through + 1);
      expect({ through, noticed: isNoticed(directory, withKey) }).toEqual({ through, noticed: true });
      expect({ through, noticed: isNoticed(directory, { expect: { size, head } }) }).toEqual({
        through,
        noticed: true,
      });
    }
  });

  it("is distinguished from a pruned one", async () => {
    const directory = await filled(40, signing);
    const { log } = openLog(directory, signing);
    const found = await log.prunable({ keep: 10 });
    expect(found.through).toBeGreaterThan(0);
    await log.prune(found, noted);
    expectSound(directory, withKey);
    await filled(7, signing, directory);
    expectSound(directory, withKey);
    await log.prune(await log.prunable({ keep: 0 }), noted);
    expectSound(directory, withKey);
    expect(segmentFiles(directory)).toHaveLength(1);
  });

  it("with lines that are not JSON is detected", async () => {
    const directory = await filled(3);
    const lines = linesOf(directory).map((line, at) =>
      at === 1 ? line.replace('"facts":{}', '"note":"pruned",oops') : line,
    );
    forgeLog(directory, chained(lines));
    expect(() => verifyStore(directory)).not.toThrow();
  });
});

describe("a signed log that was cut", () => {
  const every5 = { ...signing, segmentSize: 64_000 };
  const append = (directory: string, options = every5): Promise<unknown> =>
    openLog(directory, options).log.append({ body: decided({ input: "more" }) });

  /** Keeps the first records and checkpoints of a log of 13 records with checkpoints at 5 and 10, and forges a head. */
  async function cut(records: number, checkpoints: number): Promise<string> {
    const directory = await filled(13, every5);
    const lines = readLog(directory, "checkpoints.jsonl").toString("utf8").split("\n").slice(0, checkpoints);
    const last = checkpointsOf(directory)[checkpoints - 1];
    const text = lines.map((line) => `${line}\n`).join("");
    if (text === "") rmSync(logFile(directory, "checkpoints.jsonl"));
    else writeLog(directory, "checkpoints.jsonl", text);
    forgeLog(directory, linesOf(directory).slice(0, records));
    const head = withoutCheckpoint(directory);
    writeHeadFile(
      directory,
      last === undefined ? head : { ...head, checkpoint: { size: last.size, hash: last.hash } },
    );
    return directory;
  }

  it.each([
    { name: "its checkpoints are gone", records: 7, checkpoints: 0, missing: 5 },
    { name: "its last checkpoint is gone", records: 12, checkpoints: 1, missing: 10 },
  ])("is not signed again if $name", async ({ records, checkpoints, missing }) => {
    const directory = await cut(records, checkpoints);
    expect(verifyStore(directory).problems).toMatchObject([
      { kind: "checkpoint", seq: missing, message: `the checkpoint at ${missing} records is missing` },
    ]);
    const appends = async (): Promise<void> => {
      for (let count = 0; count < 10; count++) await append(directory);
    };
    await expect(appends()).rejects.toMatchObject({ code: "log_damaged" });
    const isThere = existsSync(logFile(directory, "checkpoints.jsonl"));
    expect(isThere ? checkpointsOf(directory).length : 0).toBe(checkpoints);
    await expect(append(directory)).rejects.toMatchObject({ code: "log_damaged" });
    expect(isNoticed(directory, withKey)).toBe(true);
  });

  it("is not appended to while a checkpoint covers more records, and is read with a warning", async () => {
    const directory = await cut(7, 2);
    const heard: string[] = [];
    await openLog(directory, { onDamage: (message) => heard.push(message) }).log.tally("gate", {});
    expect(heard).toEqual([expect.stringContaining("is damaged")]);
    await expect(append(directory)).rejects.toMatchObject({
      code: "log_damaged",
      message: expect.stringContaining("a checkpoint covers 10 records, but there are 7") as string,
    });
  });

  it("is not appended to if another record stands where a checkpoint was written before the head", async () => {
    const directory = await filled(9, every5);
    const head = headOf(directory);
    await append(directory);
    const [last = ""] = linesOf(directory).slice(-1);
    const forged = chained([last.replace('["Pass"]', '["Fail"]')], 10, head.head);
    writeLog(directory, segmentFile(1), [...linesOf(directory).slice(0, 9), ...forged, ""].join("\n"));
    writeHeadFile(directory, head);
    await expect(append(directory)).rejects.toMatchObject({ code: "log_damaged" });
  });

  it("is signed again if nothing is left that shows the cut: only a noted size and head detects it", async () => {
    const whole = await filled(13, every5);
    const { size, head } = headOf(whole);
    const directory = await cut(4, 0);
    for (let count = 0; count < 10; count++) await append(directory);
    expectSound(directory, withKey);
    expect(isNoticed(directory, { expect: { size, head } })).toBe(true);
  });

  it("is distinguished from one that gets more checkpoints than before", async () => {
    const directory = await filled(13, { ...every5, checkpointEvery: 100 });
    for (let count = 0; count < 4; count++) await append(directory);
    expect(checkpointsOf(directory).map((each) => each.size)).toEqual([15]);
    expectSound(directory, withKey);
  });
});

describe("an expectation", () => {
  it("holds for a log that has grown since", async () => {
    const directory = await filled(3);
    const { size, head } = headOf(directory);
    await filled(4, {}, directory);
    expectSound(directory, { expect: { size, head } });
    expectSound(directory, { expect: { size: 0, head: "0".repeat(64) } });
  });

  it("does not hold for a shorter log, another one or none", async () => {
    const directory = await filled(5);
    const { size, head } = headOf(directory);
    const lines = linesOf(directory);
    forgeLog(directory, lines.slice(0, 4));
    expect(isNoticed(directory)).toBe(false);
    expect(isNoticed(directory, { expect: { size, head } })).toBe(true);
    expect(isNoticed(await filled(9), { expect: { size, head } })).toBe(true);
    expect(isNoticed(storeDirectory(), { expect: { size, head } })).toBe(true);
    expect(isNoticed(directory, { expect: { size: 4, head } })).toBe(true);
  });
});
