import { describe, expect, it } from "vitest";
import {
  recordSeenLock,
  recordSignedLock,
  assertNotRolledBack,
  readLastSeenLock,
} from "../../src/record/last-seen-lock.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { approving, binary, newKey } from "../definition/approval/locks.js";

const key = newKey();
const first = approving(key, [binary("a")]);
const second = approving(key, [binary("a", "input > 0.5")], first);
const other = approving(key, [binary("a", "input > 0.6")], first);

describe("the last seen lock", () => {
  it("is stored per lock", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    const stranger = approving(key, [binary("a")]);
    expect(stranger.lock_id).not.toBe(first.lock_id);
    expect(await readLastSeenLock(shelf, first)).toBeUndefined();
    await recordSeenLock(shelf, second);
    await recordSeenLock(shelf, stranger);
    expect((await readLastSeenLock(shelf, first))?.serial).toBe(2);
    expect((await readLastSeenLock(shelf, stranger))?.serial).toBe(1);
  });

  it("is not replaced by an older lock or a different one with the same serial", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    await recordSeenLock(shelf, first);
    await recordSeenLock(shelf, second);
    const seen = await readLastSeenLock(shelf, first);
    expect(() => assertNotRolledBack(second, seen)).not.toThrow();
    expect(() => assertNotRolledBack(first, seen)).toThrow("was rolled back from serial 2 to 1");
    expect(() => assertNotRolledBack(other, seen)).toThrow("differs from the one seen before with serial 2");
    await expect(recordSeenLock(shelf, first)).rejects.toMatchObject({ code: "not_approved" });
    await expect(recordSeenLock(shelf, other)).rejects.toMatchObject({ code: "not_approved" });
    expect(await readLastSeenLock(shelf, first)).toEqual(seen);
  });

  it("is not replaced by a lock that was signed earlier and recorded later", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    await recordSignedLock(shelf, second);
    await recordSignedLock(shelf, first);
    expect((await readLastSeenLock(shelf, first))?.serial).toBe(2);
  });

  it("is not ignored where its entry is malformed", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    await shelf.put([{ key: first.lock_id, value: "serial 5" }]);
    await expect(readLastSeenLock(shelf, first)).rejects.toMatchObject({ code: "store_failed" });
  });
});
