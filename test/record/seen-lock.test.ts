import { describe, expect, it } from "vitest";
import { noteSeen, refuseRolledBack, seenLock } from "../../src/record/seen-lock.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { approving, binary, newKey } from "../definition/approval/locks.js";

const key = newKey();
const first = approving(key, [binary("a")]);
const second = approving(key, [binary("a", "input > 0.5")], first);
const other = approving(key, [binary("a", "input > 0.6")], first);

describe("the newest lock that was seen", () => {
  it("is remembered for each directory", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    expect(await seenLock(shelf, "/one")).toBeUndefined();
    await noteSeen(shelf, "/one", second);
    await noteSeen(shelf, "/two", first);
    expect((await seenLock(shelf, "/one"))?.serial).toBe(2);
    expect((await seenLock(shelf, "/two"))?.serial).toBe(1);
  });

  it("keeps an older one from taking its place, and another one with its serial", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    await noteSeen(shelf, "/one", first);
    await noteSeen(shelf, "/one", second);
    const seen = await seenLock(shelf, "/one");
    expect(() => refuseRolledBack(second, seen)).not.toThrow();
    expect(() => refuseRolledBack(first, seen)).toThrow("was rolled back from serial 2 to 1");
    expect(() => refuseRolledBack(other, seen)).toThrow("another one than was seen before with serial 2");
    await expect(noteSeen(shelf, "/one", first)).rejects.toMatchObject({ code: "not_approved" });
    await expect(noteSeen(shelf, "/one", other)).rejects.toMatchObject({ code: "not_approved" });
    expect(await seenLock(shelf, "/one")).toEqual(seen);
  });

  it("is not forgotten because it cannot be understood", async () => {
    const shelf = openMemoryStore().shelf("approvals");
    await shelf.put([{ key: "/one", value: "serial 5" }]);
    await expect(seenLock(shelf, "/one")).rejects.toMatchObject({ code: "store_failed" });
  });
});
