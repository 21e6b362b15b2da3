import { rmSync } from "node:fs";
import { expect } from "vitest";
import type { Appended, Entry } from "../../src/model/store.js";
import { decided } from "./entries.js";
import { FaultyFiles } from "./faulty-files.js";
import { expectSound, linesOf, openLog, storeDirectory } from "./jsonl-log.js";

/** Appends with limited space, then with enough. All acknowledged records must be in the log, and appends continue. */
export async function appendWithRoom(before: number, room: number): Promise<void> {
  const directory = storeDirectory();
  const options = { segmentSize: 2000, checkpointEvery: 2, durability: "fast" as const };
  const counted = (input: number): Entry => ({ body: decided({ input }), counts: ["uses", "others"] });
  const first = openLog(directory, options);
  for (let input = 0; input < before; input++) await first.log.append(counted(input));
  await first.close();
  const faulty = new FaultyFiles();
  const store = openLog(directory, { ...options, files: faulty.files });
  faulty.room = room;
  const outcomes: (Appended | Error)[] = [];
  for (let input = 0; input < 2; input++)
    outcomes.push(await store.log.append(counted(input)).catch((error: unknown) => error as Error));
  const acknowledged = outcomes.flatMap((each) => ("hash" in each ? [each.hash] : []));
  for (const each of outcomes)
    if (each instanceof Error) expect(each).toMatchObject({ code: "store_failed" });
  expectSound(directory);
  faulty.heal();
  expect({ room, appended: await store.log.append(counted(9)) }).toMatchObject({
    room,
    appended: { hash: expect.any(String) as string },
  });
  await store.close();
  expectSound(directory);
  const lines = linesOf(directory);
  for (const hash of acknowledged) expect(lines.some((line) => line.includes(`"hash":"${hash}"`))).toBe(true);
  const decisions = lines.filter((line) => line.includes('"kind":"decision"')).length;
  expect([room, (await store.log.counter("uses")).count]).toEqual([room, decisions]);
  expect([room, (await store.log.counter("others")).count]).toEqual([room, decisions]);
  rmSync(directory, { recursive: true });
}
