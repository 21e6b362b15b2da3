import { canonicalJson } from "../../digest/canonical-json.js";
import { deepFreeze } from "../../digest/freeze-json.js";
import { DecisionError } from "../../errors.js";
import type { ApprovalLock, LockEntry, Approval } from "../../model/approval.js";
import type { Definition, Environment, LoadedDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { DefinitionSummary } from "../definition-file.js";
import { gatesIn } from "../gate-key.js";
import { withRecomputedHashes } from "../loaded-definition.js";
import { lookupKeys } from "../lookup-keys.js";
import type { Library } from "../library.js";
import type { BrokenGate } from "../checks/check-library.js";

/** Returns a library that only finds approved definitions, according to a verified lock. */
export function approvedLibrary<L extends Library>(library: L, lock: ApprovalLock, file: string): L {
  const missing = lock.entries.flatMap((entry) => missingApproved(library, entry));
  const summaries = library.summaries.map((summary) =>
    withApprovedLookup(summary, findEntry(lock, summary.id)),
  );
  const approved = new Map<string, LoadedDefinition>();
  const find = async (id: string): Promise<LoadedDefinition> => {
    const earlier = approved.get(id);
    if (earlier !== undefined) return earlier;
    const lost = missing.find(({ entry }) => entry.decision_id === id);
    if (lost !== undefined && !library.broken.includes(id)) throw missingDecisionError(lost);
    const loaded = withRecomputedHashes(await library.find(id));
    assertApproved(lock, id, loaded);
    approved.set(id, loaded);
    return loaded;
  };
  return {
    ...library,
    summaries,
    gates: gatesIn(summaries),
    broken: [...new Set([...library.broken, ...missing.map(({ entry }) => entry.decision_id)])],
    brokenGates: [...library.brokenGates, ...missing.flatMap((lost) => toBrokenGate(lost, file))],
    brokenOrgs: new Map([
      ...library.brokenOrgs,
      ...missing.flatMap((lost) =>
        toBrokenGate(lost, file).map(({ orgs }) => [lost.entry.decision_id, orgs] as const),
      ),
    ]),
    find,
    sharedEnvironment() {
      const environment = deepFreeze(library.sharedEnvironment());
      assertSharedApproved(environment, lock);
      return environment;
    },
    // Results of calls are recorded without approval, so masks can be added, but not removed.
    sharedMasks() {
      const { masks = [] } = (newestApproval(lock)?.environment ?? {}) as Partial<Environment>;
      return [...new Set([...library.sharedMasks(), ...masks])];
    },
    async assertPoliciesApproved() {
      const lost = missing.find(({ entry }) => entry.type === "policy");
      if (lost !== undefined) throw missingDecisionError(lost);
      const isPolicy = ({ id, tools }: DefinitionSummary): boolean =>
        tools !== undefined || findEntry(lock, id)?.type === "policy";
      for (const { id } of library.summaries.filter(isPolicy)) await find(id);
    },
  };
}

/** An approved decision without a valid definition, with the error about it. */
interface MissingDecision {
  readonly entry: LockEntry;
  readonly message: string;
  readonly hint: string;
}

function missingApproved({ ids, broken }: Library, entry: LockEntry): readonly MissingDecision[] {
  const { status, decision_id: id, serial } = entry;
  if (status !== "approved" || ids.includes(id)) return [];
  const was = `\`${id}\` was approved with serial ${serial}, but its definition is`;
  if (broken.includes(id)) return [{ entry, message: `${was} no longer valid`, hint: invalidHint }];
  const hint = `put it back, or retire it with \`agent-33 decision retire ${id} --key FILE\``;
  return [{ entry, message: `${was} missing`, hint }];
}

const invalidHint = "`agent-33 decision validate` shows what is wrong with it";

/** Derives the lookup keys from the approved definition, so that neither an edit nor a cache can hide a decision. */
function withApprovedLookup(summary: DefinitionSummary, entry: LockEntry | undefined): DefinitionSummary {
  if (entry?.status !== "approved") return summary;
  const { id, definition_hash, position, reached, fetches } = summary;
  return {
    id,
    definition_hash,
    position,
    reached,
    ...(fetches !== undefined && { fetches }),
    ...lookupKeys(entry.definition as unknown as Definition, () => position),
  };
}

function missingDecisionError({
  entry: { decision_id, serial },
  message,
  hint,
}: MissingDecision): DecisionError {
  return new DecisionError("not_approved", message, { hint, details: { decision_id, serial } });
}

/** A missing gate must not be replaced by another one of the same action. */
function toBrokenGate({ entry, message, hint }: MissingDecision, file: string): readonly BrokenGate[] {
  const { decision_id } = entry;
  const gate = entry.definition as unknown as Definition;
  if (gate.type !== "gate") return [];
  const place = { file, line: 1, column: 1, severity: "error", decision_id } as const;
  const { org, name } = gate.action;
  return [{ orgs: [org], actions: [name], diagnostics: [{ ...place, message, hint }] }];
}

/** The guardrails, masks and observers for every decision must be those of the newest approval. */
function assertSharedApproved(environment: Environment, lock: ApprovalLock): void {
  const newest = newestApproval(lock);
  if (newest === undefined) return;
  const { serial, decision_id: id, environment: approved = {} } = newest;
  const current = environment as unknown as JsonObject;
  const changed = (["guardrails", "masks", "observers"] as const).find(
    (key) => canonicalJson(approved[key] ?? []) !== canonicalJson(current[key] ?? []),
  );
  if (changed === undefined) return;
  throw new DecisionError(
    "not_approved",
    `the ${changed} for every decision changed since serial ${serial}`,
    {
      hint: `see what changed with \`agent-33 decision diff ${id}\``,
    },
  );
}

const newestApproval = ({ entries }: ApprovalLock): LockEntry | undefined =>
  entries
    .filter(({ status }) => status === "approved")
    .toSorted((a, b) => b.serial - a.serial)
    .at(0);

type Hashes = Pick<LoadedDefinition, "definition_hash" | "environment_hash">;

export const findEntry = ({ entries }: ApprovalLock, id: string): LockEntry | undefined =>
  entries.find(({ decision_id }) => decision_id === id);

/** Returns the approval of a decision with these hashes, according to a verified lock. */
export function approvalOf(lock: ApprovalLock, id: string, hashes: Hashes): Approval {
  const entry = findEntry(lock, id);
  if (entry === undefined) return { state: "unknown" };
  const { serial, key, at, status } = entry;
  const said = { serial, key, at };
  if (status === "retired") return { state: "retired", ...said };
  return { state: changedParts(entry, hashes).length === 0 ? "approved" : "changed", ...said };
}

/** Throws unless a decision is exactly what was approved last. */
export function assertApproved(lock: ApprovalLock, id: string, hashes: Hashes): void {
  const entry = findEntry(lock, id);
  const { state } = approvalOf(lock, id, hashes);
  if (state === "approved") return;
  throw new DecisionError("not_approved", `\`${id}\` ${notApprovedReason(entry, hashes)}`, {
    hint: hintFor(state, id),
    details: {
      decision_id: id,
      state,
      ...(entry !== undefined && { serial: entry.serial }),
      ...pickHashes(hashes),
    },
  });
}

const pickHashes = ({ definition_hash, environment_hash }: Hashes): Hashes => ({
  definition_hash,
  environment_hash,
});

function notApprovedReason(entry: LockEntry | undefined, hashes: Hashes): string {
  if (entry === undefined) return "is not approved: it is not in the lock";
  if (entry.status === "retired") return `was retired with serial ${entry.serial}`;
  return `changed since it was approved with serial ${entry.serial}: ${changedParts(entry, hashes).join(", and ")}`;
}

/** Names the parts that differ. */
function changedParts(entry: LockEntry, hashes: Hashes): readonly string[] {
  return [
    ...(entry.definition_hash === hashes.definition_hash ? [] : ["its definition"]),
    ...(entry.environment_hash === hashes.environment_hash
      ? []
      : ["its guardrails, targets, endpoints, masks, observers or overrides of other decisions"]),
  ];
}

function hintFor(state: Approval["state"], id: string): string {
  const approve = `approve it with \`agent-33 decision approve ${id} --key FILE\``;
  if (state === "changed") return `see what changed with \`agent-33 decision diff ${id}\`; ${approve}`;
  return state === "retired" ? `remove its definition, or ${approve} again` : approve;
}
