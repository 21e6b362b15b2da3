import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/model/store.js";
import { verifyDerived } from "../../src/store/drivers/jsonl/verify-derived.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { decided } from "./entries.js";
import { filled, openLog, segmentFile } from "./jsonl-log.js";

const small = { segmentSize: 3000, checkpointEvery: 5, durability: "fast" } as const;

const counted = { body: decided({ input: "counted", session_id: "s" }), counts: ["uses"] };
const derived = ["cache", "breakers", "responses"] as const;
const answer = { key: "k", group: "gate", value: "answer" };

/** A store with every kind of file. */
async function complete(): Promise<string> {
  const directory = await filled(12, small);
  const store = openLog(directory, small);
  await store.log.append(counted);
  await store.log.tally("gate", {});
  await store.log.tallyByHour("gate", {});
  await store.shelf("approvals").put([{ key: "lock", value: { serial: 1 } }]);
  for (const name of derived) await store.shelf(name).put([answer]);
  await store.close();
  // What the test writes to the cache is not the answer of a record.
  rmSync(join(directory, "cache"), { recursive: true });
  return directory;
}

/** Derived from the log, or of which nothing is lost. */
const derivedFiles = [
  "counters/table",
  "counters/",
  "cache/all.jsonl",
  "breakers/all.jsonl",
  "responses/all.jsonl",
  "log/index/state.json",
  "log/index/rows-",
  "log/index/postings-",
  "log/index/tally-",
  "log/index/hours-",
];

/** `isSample`: with some of the derived files only, because comparing them with the log takes a while. */
const kinds = [
  { name: "a pipe", isSample: false, put: (path: string) => execFileSync("mkfifo", [path]) },
  { name: "a device that never ends", isSample: true, put: (path: string) => symlinkSync("/dev/zero", path) },
  { name: "a directory", isSample: true, put: (path: string) => mkdirSync(path, { recursive: true }) },
];

/** Finds a file by the beginning of its path. */
function findFile(directory: string, beginning: string): string {
  const found = readdirSync(directory, { recursive: true, encoding: "utf8" }).find(
    (name) => name.startsWith(beginning) && /\.json|-|head$/.test(basename(name)),
  );
  return found ?? beginning;
}

/** Puts something else in place of a file. Returns its path within the store. */
function replace(directory: string, beginning: string, put: (path: string) => unknown): string {
  const file = findFile(directory, beginning);
  rmSync(join(directory, file), { force: true });
  if (!file.includes("/index/")) mkdirSync(join(directory, file, ".."), { recursive: true });
  put(join(directory, file));
  return file;
}

const refused = { code: expect.stringMatching(/^(?:store_failed|log_damaged)$/) as string };

describe.skipIf(process.platform === "win32").each(kinds)("$name", ({ isSample, put }) => {
  it.each([
    { file: "log/head", kind: "head" },
    { file: "log/checkpoints.jsonl", kind: "checkpoint" },
    { file: `log/${segmentFile(1)}`, kind: "missing" },
    { file: "log/000000000013", kind: "missing" },
  ])("in place of $file is named by verify, and nothing is recorded", async ({ file, kind }) => {
    const directory = await complete();
    const name = basename(replace(directory, file, put));
    await expect(openLog(directory, small).log.append(counted)).rejects.toMatchObject(refused);
    expect(verifyStore(directory).problems).toContainEqual(
      expect.objectContaining({ kind, message: `\`${name}\` is not a regular file` }),
    );
  });

  it.each([
    {
      file: "definitions/all.jsonl",
      kind: "definition",
      use: async (store: Store) => store.shelf("definitions").get("x"),
    },
    {
      file: "environments/all.jsonl",
      kind: "definition",
      use: async (store: Store) => store.shelf("environments").put([answer]),
    },
    {
      file: "approvals/all.jsonl",
      kind: "approvals",
      use: async (store: Store) => store.shelf("approvals").get("lock"),
    },
  ])("in place of $file is named by verify, and not used", async ({ file, kind, use }) => {
    const directory = await complete();
    replace(directory, file, put);
    await expect(use(openLog(directory, small))).rejects.toMatchObject(refused);
    expect(verifyStore(directory).problems).toEqual([
      expect.objectContaining({ kind, message: "`all.jsonl` is not a regular file" }),
    ]);
  });

  it.each(isSample ? derivedFiles.slice(0, 3) : derivedFiles)(
    "in place of %s, which is derived, is named by verify and replaced by the next use",
    async (beginning) => {
      const directory = await complete();
      const file = replace(directory, beginning, put);
      expect(verifyStore(directory).problems).toEqual([]);
      expect(verifyDerived(directory)).toContainEqual(expect.objectContaining({ kind: "derived", file }));
      const store = openLog(directory, small);
      await store.log.append(counted);
      expect((await store.log.counter("uses")).count).toBe(2);
      expect((await store.log.tally("gate", {})).total).toBe(14);
      expect((await store.log.tallyByHour("gate", {})).map(({ count }) => count)).toEqual([14]);
      for (const name of derived) {
        await store.shelf(name).get("k");
        await store.shelf(name).put([answer]);
        expect(await store.shelf(name).get("k")).toMatchObject(answer);
      }
      await store.close();
    },
  );

  it.each(["damaged", "suspected"])(
    "in place of a mark (%s) is removed once the log is verified",
    async (mark) => {
      const directory = await complete();
      replace(directory, `log/index/${mark}`, put);
      const store = openLog(directory, small);
      await store.log.append(counted);
      await store.close();
      expect(readdirSync(join(directory, "log/index"))).not.toContain(mark);
    },
  );
});
