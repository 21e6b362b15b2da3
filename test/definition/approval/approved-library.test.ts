import { describe, expect, it } from "vitest";
import { approving, at, binary, gate, loadedDefinition, newKey, newLockId, policy } from "./locks.js";
import { approvalOf, approvedLibrary } from "../../../src/definition/approval/approved-library.js";
import { retirementStatement, reviseLock } from "../../../src/definition/approval/lock.js";
import type { DefinitionSummary, FileSummary } from "../../../src/definition/definition-file.js";
import { findGate, parseGateKey } from "../../../src/definition/gate-key.js";
import type { Library } from "../../../src/definition/library.js";
import { buildLibrary } from "../../../src/definition/library.js";
import { findPolicies } from "../../../src/definition/tool-match.js";
import type { ApprovalLock } from "../../../src/model/approval.js";
import type { Definition, LoadedDefinition, Guardrail } from "../../../src/model/definition.js";

const key = newKey();
const place = { line: 2, column: 1 };

interface Files {
  readonly loaded: readonly LoadedDefinition[];
  readonly guardrails?: readonly Guardrail[];
  readonly masks?: readonly string[];
  /** What the summaries say instead of the truth. */
  readonly lie?: (summary: DefinitionSummary) => DefinitionSummary;
}

function libraryOf({ loaded, guardrails = [], masks = [], lie = (each) => each }: Files): Library {
  const definitions = loaded.map(({ definition, definition_hash }) =>
    lie({ id: definition.id, definition_hash, position: place, reached: [], ...named(definition) }),
  );
  const file: FileSummary = {
    file: "all.yaml",
    definitions,
    guardrails: guardrails.map((guardrail) => ({ guardrail, ...place })),
    masks,
    diagnostics: [],
    claimedIds: [],
  };
  return buildLibrary([file], (_file, position) => {
    const found = loaded[position];
    return found === undefined ? Promise.reject(new Error("gone")) : Promise.resolve(found.definition);
  });
}

function named(definition: Definition): Partial<DefinitionSummary> {
  if (definition.type === "policy") return { tools: [definition.tool].flat() };
  return definition.type === "gate" ? { action: definition.action } : {};
}

const bounds: Guardrail = { type: "weight_bounds", min_weight: 1 };

const approved = (files: Files, lock: ApprovalLock): Library =>
  approvedLibrary(libraryOf(files), lock, "decisions.lock");

const retiring = (lock: ApprovalLock, id: string): ApprovalLock =>
  reviseLock(
    lock,
    lock.entries.filter((entry) => entry.decision_id === id).map((entry) => retirementStatement(entry, at)),
    { signer: key, above: 0, newLockId },
  );

describe("a decision", () => {
  const lock = approving(key, [binary("a")]);

  it("that is approved is found, frozen, with hashes of its own", async () => {
    const lie = (summary: DefinitionSummary): DefinitionSummary => ({ ...summary, definition_hash: "x" });
    const library = approved({ loaded: [binary("a")], lie }, lock);
    const { definition, definition_hash, environment } = await library.find("a");
    expect(definition_hash).toBe(binary("a").definition_hash);
    expect(Object.isFrozen(definition)).toBe(true);
    expect(Object.isFrozen(environment)).toBe(true);
    expect(await library.find("a")).toBe(await library.find("a"));
  });

  it.each([
    {
      name: "was never approved",
      files: { loaded: [binary("a"), binary("z")] },
      id: "z",
      why: "`z` is not approved: it is not in the lock",
    },
    {
      name: "changed",
      files: { loaded: [binary("a", "true")] },
      id: "a",
      why: "`a` changed since it was approved with serial 1: its definition",
    },
    {
      name: "has other guardrails beside it",
      files: { loaded: [binary("a")], guardrails: [bounds] },
      id: "a",
      why: "changed since it was approved with serial 1: its guardrails, targets, endpoints, masks, observers or overrides of other decisions",
    },
    {
      name: "is not there any more",
      files: { loaded: [] },
      id: "a",
      why: "`a` was approved with serial 1, but its definition is missing",
    },
  ])("that $name is refused", async ({ files, id, why }) => {
    await expect(approved(files, lock).find(id)).rejects.toMatchObject({
      code: "not_approved",
      message: expect.stringContaining(why) as string,
    });
  });

  it("is refused where its summary claims the approved hash for something else", async () => {
    const hash = binary("a").definition_hash;
    const lie = (summary: DefinitionSummary): DefinitionSummary => ({ ...summary, definition_hash: hash });
    const library = approved({ loaded: [binary("a", "true")], lie }, lock);
    await expect(library.find("a")).rejects.toMatchObject({ code: "not_approved" });
  });

  it("is refused in an older form that was approved once", async () => {
    const newer = approving(key, [binary("a", "input > 0.9")], lock);
    await expect(approved({ loaded: [binary("a")] }, newer).find("a")).rejects.toThrow(
      "changed since it was approved with serial 2",
    );
  });

  it("is refused once it was retired, and taken again once it is approved again", async () => {
    const retired = retiring(lock, "a");
    await expect(approved({ loaded: [binary("a")] }, retired).find("a")).rejects.toThrow(
      "`a` was retired with serial 2",
    );
    const again = approving(key, [binary("a")], retired);
    expect((await approved({ loaded: [binary("a")] }, again).find("a")).definition.id).toBe("a");
  });

  it("that does not exist is still not found", async () => {
    await expect(approved({ loaded: [binary("a")] }, lock).find("b")).rejects.toMatchObject({
      code: "definition_not_found",
    });
  });

  it("has one of four states", () => {
    const retired = retiring(lock, "a");
    const known = { serial: 1, key: key.key, at };
    expect(approvalOf(lock, "a", binary("a"))).toEqual({ state: "approved", ...known });
    expect(approvalOf(lock, "a", binary("a", "true"))).toEqual({ state: "changed", ...known });
    expect(approvalOf(retired, "a", binary("a"))).toEqual({ state: "retired", ...known, serial: 2 });
    expect(approvalOf(lock, "b", binary("b"))).toEqual({ state: "unknown" });
  });
});

describe("policies", () => {
  const lock = approving(key, [policy("p", "write_*"), binary("a")]);
  const vet = (files: Files, by = lock): Promise<void> | undefined =>
    approved(files, by).assertPoliciesApproved?.();

  it("pass where all of them are approved, whatever became of other decisions", async () => {
    await expect(vet({ loaded: [policy("p", "write_*"), binary("a", "true")] })).resolves.toBeUndefined();
  });

  it.each([
    { name: "one is missing", loaded: [binary("a")], why: "`p` was approved with serial 1" },
    { name: "one was renamed", loaded: [policy("q", "write_*")], why: "`p` was approved with serial 1" },
    { name: "one changed", loaded: [policy("p", "nothing")], why: "`p` changed since" },
    { name: "one is new", loaded: [policy("p", "write_*"), policy("n", "x")], why: "`n` is not approved" },
    { name: "one became something else", loaded: [binary("p")], why: "`p` changed since" },
  ])("are refused, all of them, where $name", async ({ loaded, why }) => {
    await expect(vet({ loaded })).rejects.toThrow(why);
  });

  it("are refused where one was retired and is still there", async () => {
    const retired = retiring(lock, "p");
    await expect(vet({ loaded: [policy("p", "write_*")] }, retired)).rejects.toThrow("`p` was retired");
    await expect(vet({ loaded: [] }, retired)).resolves.toBeUndefined();
  });

  it("apply to the tools that were approved, whatever a summary says", () => {
    const lie = ({ id, definition_hash, position, reached }: DefinitionSummary): DefinitionSummary => ({
      id,
      definition_hash,
      position,
      reached,
    });
    const library = approved({ loaded: [policy("p", "write_*")], lie }, lock);
    expect(findPolicies("write_file", library)).toEqual(["p"]);
  });

  it("decide about their tools, although a summary says that they only have overrides", () => {
    const override = { name: "o", overrides: ["elsewhere"] };
    const lie = (summary: DefinitionSummary): DefinitionSummary => ({
      ...summary,
      policies: [],
      overrides: ["o"],
      foreignOverrides: [{ override, foreign: [], line: 1, column: 1 }],
    });
    const library = approved({ loaded: [policy("p", "write_*")], lie }, lock);
    expect(findPolicies("write_file", library)).toEqual(["p"]);
    expect(library.summaries).toMatchObject([{ id: "p", tools: ["write_*"], policies: [] }]);
    expect(library.summaries[0]).not.toHaveProperty("foreignOverrides");
  });

  it("leave calls that none is about to the guardrails and masks that were approved", () => {
    const guardrail = { type: "requires_approval", approval_target: "x" } as Guardrail;
    expect(() => approved({ loaded: [], guardrails: [guardrail] }, lock).sharedEnvironment()).toThrow(
      "the guardrails for every decision changed since serial 2",
    );
    expect(() => approved({ loaded: [], masks: ["/a"] }, lock).sharedEnvironment()).toThrow(
      "the masks for every decision changed since serial 2",
    );
    expect(approved({ loaded: [] }, lock).sharedEnvironment()).toEqual({ targets: [] });
  });
});

describe("masks for every decision", () => {
  it("that were approved are applied to the results of calls, whatever a file says", () => {
    const masked = loadedDefinition({ ...binary("a").definition }, { targets: [], masks: ["/a"] });
    const lock = approving(key, [masked]);
    expect(approved({ loaded: [], masks: ["/b"] }, lock).sharedMasks()).toEqual(["/b", "/a"]);
  });
});

describe("gates", () => {
  const lock = approving(key, [gate("v1", 1), gate("v2", 2)]);
  const ask = (files: Files): string => findGate(parseGateKey("acme/pay/wire"), approved(files, lock));

  it("answer with the highest version", () => {
    expect(ask({ loaded: [gate("v1", 1), gate("v2", 2)] })).toBe("v2");
  });

  it("do not answer for one that is missing", () => {
    expect(() => ask({ loaded: [gate("v1", 1)] })).toThrow("a gate of `acme/pay/wire` is not valid");
  });

  it("cannot get out of the way by changing what they are about", async () => {
    const files = { loaded: [gate("v1", 1), gate("v2", 0)] };
    expect(ask(files)).toBe("v2");
    await expect(approved(files, lock).find("v2")).rejects.toThrow("`v2` changed since");
  });
});
