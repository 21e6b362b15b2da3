import { describe, expect, it } from "vitest";
import { noteSeen, noteSigned, refuseRolledBack, seenLock } from "../../src/record/seen-lock.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { approving, binary, newKey } from "../definition/approval/locks.js";

const key = newKey();
const first = approving(key, [binary("a")]);
const second = approving(key, [binary("a", "input > 0.5")], first);
const other = approving(key, [binary("a", "input > 0.6")], first);

describe("the newest lock that was seen", () => {
  it("is remembered for each lock", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    const stranger = approving(key, [binary("a")]);
    expect(stranger.lock_id).not.toBe(first.lock_id);
    expect(await seenLock(shelf, first)).toBeUndefined();
    await noteSeen(shelf, second);
    await noteSeen(shelf, stranger);
    expect((await seenLock(shelf, first))?.serial).toBe(2);
    expect((await seenLock(shelf, stranger))?.serial).toBe(1);
  });

  it("keeps an older one from taking its place, and another one with its serial", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    await noteSeen(shelf, first);
    await noteSeen(shelf, second);
    const seen = await seenLock(shelf, first);
    expect(() => refuseRolledBack(second, seen)).not.toThrow();
    expect(() => refuseRolledBack(first, seen)).toThrow("was rolled back from serial 2 to 1");
    expect(() => refuseRolledBack(other, seen)).toThrow("another one than was seen before with serial 2");
    await expect(noteSeen(shelf, first)).rejects.toMatchObject({ code: "not_approved" });
    await expect(noteSeen(shelf, other)).rejects.toMatchObject({ code: "not_approved" });
    expect(await seenLock(shelf, first)).toEqual(seen);
  });

  it("is not taken back by one that was signed before and noted later", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    await noteSigned(shelf, second);
    await noteSigned(shelf, first);
    expect((await seenLock(shelf, first))?.serial).toBe(2);
  });

  it("is not forgotten because it cannot be understood", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    await shelf.put([{ key: first.lock_id, value: "serial 5" }]);
    await expect(seenLock(shelf, first)).rejects.toMatchObject({ code: "store_failed" });
  });
});
