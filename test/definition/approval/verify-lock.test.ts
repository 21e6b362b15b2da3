import { describe, expect, it } from "vitest";
import { approving, at, binary, newKey, newLockId, trusting } from "./locks.js";
import {
  parseLock,
  lockText,
  retirementStatement,
  reviseLock,
  verifyLock,
} from "../../../src/definition/approval/lock.js";
import type { ApprovalLock, LockEntry } from "../../../src/model/approval.js";

const key = newKey();
const stranger = newKey();
const lock = approving(key, [binary("a"), binary("b")]);
const entry = (id: string, of: ApprovalLock = lock): LockEntry => {
  const found = of.entries.find(({ decision_id }) => decision_id === id);
  if (found === undefined) throw new Error(`no entry of ${id}`);
  return found;
};
const [a, b] = [entry("a"), entry("b")];
const withA = (change: object): object => ({ ...lock, entries: [{ ...a, ...change }, b] });

/** What is said of a lock that is written to a file and read again. */
function verdictOn(value: unknown, verify = trusting(key)): string {
  try {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    verifyLock(parseLock(text, "decisions.lock"), "decisions.lock", verify);
    return "fine";
  } catch (error) {
    expect(error).toMatchObject({ code: "not_approved" });
    return (error as Error).message;
  }
}

describe("a lock", () => {
  it("holds as it was signed", () => {
    expect(verdictOn(lockText(lock))).toBe("fine");
  });

  it("holds where several keys have signed, if all are trusted", () => {
    const both = approving(stranger, [binary("c")], lock);
    expect(verdictOn(both, trusting(key, stranger))).toBe("fine");
    expect(verdictOn(both, trusting(key))).toContain("signed by a key that is not trusted");
    expect(verdictOn(both, trusting(stranger))).toContain("signed by a key that is not trusted");
  });

  it("keeps only the newest of each decision, and counts on", () => {
    const next = approving(key, [binary("a", "input > 0.5")], lock);
    expect(next.entries.map(({ decision_id, serial }) => [decision_id, serial])).toEqual([
      ["a", 3],
      ["b", 2],
    ]);
    expect(next.head.serial).toBe(3);
    expect(verdictOn(next)).toBe("fine");
    const after = approving(key, [binary("b")], next, 40);
    expect(entry("b", after).serial).toBe(41);
  });

  it("keeps no definition of what is retired", () => {
    const next = reviseLock(lock, [retirementStatement(a, at)], { signer: key, above: 0, newLockId });
    expect(entry("a", next)).not.toHaveProperty("definition");
    expect(verdictOn(next)).toBe("fine");
  });

  it.each([
    { name: "no JSON", forged: "entries: []", why: "is not JSON" },
    { name: "nothing", forged: "", why: "is not JSON" },
    { name: "half of one", forged: lockText(lock).slice(0, 700), why: "is not JSON" },
    { name: "NUL bytes", forged: "\0".repeat(100), why: "is not JSON" },
    { name: "a list", forged: [lock], why: "is not a JSON object" },
    { name: "null", forged: null, why: "is not a JSON object" },
    { name: "another format", forged: { ...lock, format: 2 }, why: "has the format `2`" },
    { name: "no format", forged: { head: lock.head, entries: lock.entries }, why: "has the format" },
    { name: "no head", forged: { format: 1, entries: lock.entries }, why: "has no head" },
    { name: "no entries", forged: { ...lock, entries: [] }, why: "has no entries" },
    { name: "no list of entries", forged: { format: 1, head: lock.head }, why: "has no list of entries" },
    { name: "an unknown field", forged: { ...lock, more: 1 }, why: "unknown field `more`" },
    {
      name: "an unknown field in an entry",
      forged: withA({ note: "" }),
      why: "unknown field `entries/0/note`",
    },
    {
      name: "an entry that is none",
      forged: { ...lock, entries: [null] },
      why: "must have an object",
    },
    { name: "an unknown status", forged: withA({ status: "fine" }), why: "invalid `entries/0/status`" },
    { name: "an unknown type", forged: withA({ type: "oracle" }), why: "invalid `entries/0/type`" },
    { name: "a serial that is no number", forged: withA({ serial: "1" }), why: "invalid `entries/0/serial`" },
    { name: "a serial of 0", forged: withA({ serial: 0 }), why: "invalid `entries/0/serial`" },
    { name: "no definition", forged: withA({ definition: undefined }), why: "has no `entries/0/definition`" },
    { name: "a serial twice", forged: withA({ serial: b.serial }), why: "has the serial 2 more than once" },
    { name: "a decision twice", forged: withA({ decision_id: "b" }), why: "more than one entry of `b`" },
    { name: "a removed entry", forged: { ...lock, entries: [b] }, why: "has other entries" },
    { name: "the newest removed", forged: { ...lock, entries: [a] }, why: "its newest entry has 1" },
    { name: "a renamed decision", forged: withA({ decision_id: "c" }), why: "signature of the entry" },
    { name: "another hash", forged: withA({ definition_hash: b.definition_hash }), why: "is invalid" },
    {
      name: "another environment",
      forged: withA({ environment_hash: a.definition_hash }),
      why: "is invalid",
    },
    { name: "a raised serial", forged: withA({ serial: 9 }), why: "is invalid" },
    { name: "another time", forged: withA({ at: "2027-11-17T10:00:00.000000Z" }), why: "is invalid" },
    { name: "the signature of another", forged: withA({ signature: b.signature }), why: "is invalid" },
    { name: "that of the head", forged: withA({ signature: lock.head.signature }), why: "is invalid" },
    { name: "a forged name of a key", forged: withA({ key: stranger.key }), why: "not trusted" },
    {
      name: "a definition that was not approved",
      forged: withA({ definition: binary("a", "true").definition }),
      why: "what it holds of `a` is not what was approved with serial 1",
    },
    { name: "another environment in it", forged: withA({ environment: {} }), why: "what it holds of `a`" },
    { name: "a raised head", forged: { ...lock, head: { ...lock.head, serial: 9 } }, why: "serial 9" },
    { name: "a stranger's lock", forged: approving(stranger, [binary("a")]), why: "not trusted" },
    {
      name: "a stranger's head",
      forged: { ...lock, head: approving(stranger, [binary("a"), binary("b")]).head },
      why: "other entries",
    },
    {
      name: "a stranger's entry under a trusted name",
      forged: approving({ ...stranger, key: key.key }, [binary("a")]),
      why: "is invalid",
    },
  ])("with $name is refused", ({ forged, why }) => {
    expect(verdictOn(forged)).toContain(why);
  });

  it("that was flipped from retired to approved is refused", () => {
    const retired = reviseLock(lock, [retirementStatement(a, at)], { signer: key, above: 0, newLockId });
    const { definition, environment } = a;
    const flipped = { ...entry("a", retired), status: "approved", definition, environment };
    expect(verdictOn({ ...retired, entries: [flipped, b] })).toContain("is invalid");
  });

  it("whose entry is an older one of its own is refused", () => {
    const next = approving(key, [binary("a", "input > 0.5")], lock);
    expect(verdictOn({ ...next, entries: [a, b] })).toContain("head with serial 3");
    expect(verdictOn({ ...approving(key, [binary("b")], next), entries: [a, b] })).toContain(
      "head with serial 4",
    );
  });
});
