import { approvalOf, entryOf } from "../definition/approval/approval-of.js";
import { approvalStatement, restatement, retirementStatement } from "../definition/approval/revise-lock.js";
import { DecisionError } from "../errors.js";
import type { ApprovalState } from "../model/approval.js";
import type { LoadedDefinition } from "../model/definition.js";
import { refuseRolledBack, rollback } from "../record/seen-lock.js";
import type { Found, Planned, Signing, SigningOptions } from "./sign-lock.js";
import { signLock } from "./sign-lock.js";

/** Signs definitions as they are. What the same key has approved already stays as it is. */
export function approve(
  loaded: readonly LoadedDefinition[],
  options: SigningOptions,
): Promise<readonly Signing[]> {
  return signLock(options, (found) => {
    refuseOlder(found);
    return loaded.map((each) => plannedApproval(each, found, options));
  });
}

export interface ApprovingAll extends SigningOptions {
  /** Whether the lock may be older than one that was seen, or another one. */
  readonly mayGoBack: boolean;
}

export interface ApprovedAll {
  readonly signings: readonly Signing[];
  /** What was gone back over, in words. */
  readonly wentBack: string | undefined;
  /** How many are defined and stay retired. */
  readonly stayRetired: number;
}

/** The same of all that is defined; what was retired on purpose stays so. Afterwards all is signed by this key. */
export async function approveAll(
  loaded: readonly LoadedDefinition[],
  options: ApprovingAll,
): Promise<ApprovedAll> {
  let wentBack: string | undefined;
  let retired: readonly LoadedDefinition[] = [];
  const signings = await signLock(options, (found) => {
    if (!options.mayGoBack) refuseOlder(found);
    wentBack = found.lock && rollback(found.lock, found.seen);
    retired = loaded.filter(({ definition }) => isRetired(definition.id, found));
    const living = loaded.filter((each) => !retired.includes(each));
    const planned = living.map((each) => plannedApproval(each, found, options));
    const carried = plannedAgain(living, found, options);
    if (loaded.length === 0 && carried.every(({ stays }) => stays)) {
      throw new DecisionError("usage", "no decision is defined here");
    }
    // Nothing of an older lock counts by the way: all is signed anew.
    if (wentBack !== undefined) return [...planned, ...carried].map((each) => ({ ...each, stays: false }));
    return [...planned, ...carried.filter(({ stays }) => !stays)];
  });
  return { signings, wentBack, stayRetired: retired.length };
}

/** Signs that these are not to be decided by any more, whether their files are still there or not. */
export function retire(ids: readonly string[], options: SigningOptions): Promise<readonly Signing[]> {
  const { key, at } = options;
  return signLock(options, (found) => {
    refuseOlder(found);
    return ids.map((id) => {
      const before = found.lock && entryOf(found.lock, id);
      if (before === undefined) throw neverApproved(id);
      const stays = before.status === "retired" && before.key === key.name;
      return { statement: retirementStatement(before, at), before, was: before.status, stays };
    });
  });
}

const isRetired = (id: string, { lock }: Found): boolean =>
  lock !== undefined && entryOf(lock, id)?.status === "retired";

function refuseOlder({ lock, seen }: Found): void {
  if (lock !== undefined) refuseRolledBack(lock, seen);
}

function plannedApproval(
  loaded: LoadedDefinition,
  { lock }: Found,
  { key, at }: Pick<SigningOptions, "key" | "at">,
): Planned {
  const before = lock && entryOf(lock, loaded.definition.id);
  const was: ApprovalState = lock ? approvalOf(lock, loaded.definition.id, loaded).state : "unknown";
  const stays = was === "approved" && before?.key === key.name;
  return { statement: approvalStatement(loaded, at), before, was, stays };
}

/** What is retired, or approved and not there, is said again as it is, so that no other key need be trusted. */
function plannedAgain(
  living: readonly LoadedDefinition[],
  { lock }: Found,
  { key, at }: Pick<SigningOptions, "key" | "at">,
): readonly Planned[] {
  const ids = new Set(living.map(({ definition }) => definition.id));
  const others = (lock?.entries ?? []).filter(({ decision_id }) => !ids.has(decision_id));
  return others.map((before) => {
    const stays = before.key === key.name;
    return { statement: restatement(before, at), before, was: before.status, stays };
  });
}

function neverApproved(id: string): DecisionError {
  return new DecisionError("usage", `\`${id}\` was never approved, so it cannot be retired`, {
    hint: "`agent-33 decision list` shows what is approved",
  });
}
