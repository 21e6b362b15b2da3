import { canonicalJson } from "../../digest/canonical-json.js";
import { deepFreeze } from "../../digest/freeze.js";
import { sha256Hex } from "../../digest/sha256.js";
import { DecisionError } from "../../errors.js";
import type { ApprovalLock, LockEntry } from "../../model/approval.js";
import type { Definition, Environment, LoadedDefinition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import { definitionHash } from "../definition-hash.js";
import type { DefinitionSummary } from "../definition-file.js";
import type { BrokenGate, Library } from "../library.js";
import { toolsOf } from "../tool-match.js";
import { entryOf, refuseUnapproved } from "./approval-of.js";

/** The part of a library whose definitions are approved; a verified lock says which. */
export function approvedLibrary<L extends Library>(library: L, lock: ApprovalLock, file: string): L {
  const missing = lock.entries.flatMap((entry) => lostIn(library, entry));
  const approved = new Map<string, LoadedDefinition>();
  const find = async (id: string): Promise<LoadedDefinition> => {
    const known = approved.get(id);
    if (known !== undefined) return known;
    const lost = missing.find(({ entry }) => entry.decision_id === id);
    if (lost !== undefined && !library.broken.includes(id)) throw lostError(lost);
    const loaded = withOwnHashes(await library.find(id).catch(asUnapproved));
    refuseUnapproved(lock, id, loaded);
    approved.set(id, loaded);
    return loaded;
  };
  return {
    ...library,
    summaries: library.summaries.map((summary) => asApproved(summary, entryOf(lock, summary.id))),
    broken: [...new Set([...library.broken, ...missing.map(({ entry }) => entry.decision_id)])],
    brokenGates: [...library.brokenGates, ...missing.flatMap((lost) => brokenGate(lost, file))],
    find,
    everywhere() {
      const environment = deepFreeze(library.everywhere());
      refuseOtherGuardrails(environment, lock);
      return environment;
    },
    async refuseUnapprovedPolicies() {
      const lost = missing.find(({ entry }) => entry.type === "policy");
      if (lost !== undefined) throw lostError(lost);
      const isPolicy = ({ id, tools }: DefinitionSummary): boolean =>
        tools !== undefined || entryOf(lock, id)?.type === "policy";
      for (const { id } of library.summaries.filter(isPolicy)) await find(id);
    },
  };
}

/** What was approved and cannot be decided by, with what to say of it. */
interface Lost {
  readonly entry: LockEntry;
  readonly message: string;
  readonly hint: string;
}

function lostIn({ ids, broken }: Library, entry: LockEntry): readonly Lost[] {
  const { status, decision_id: id, serial } = entry;
  if (status !== "approved" || ids.includes(id)) return [];
  const was = `\`${id}\` was approved with serial ${serial}, but its definition is not`;
  if (broken.includes(id)) return [{ entry, message: `${was} valid any more`, hint: ofInvalid }];
  const hint = `put it back, or retire it with \`agent-33 decision retire ${id} --key FILE\``;
  return [{ entry, message: `${was} there`, hint }];
}

const ofInvalid = "`agent-33 decision validate` tells what is wrong with it";

/** Hashed anew from the very values that are evaluated, whatever a summary or a cache says of them. */
export function withOwnHashes(loaded: LoadedDefinition): LoadedDefinition {
  const definition = deepFreeze(loaded.definition);
  const environment = deepFreeze(loaded.environment);
  return {
    ...loaded,
    definition,
    definition_hash: definitionHash(definition),
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
  };
}

/** What is exchanged while it is read cannot be told to be approved. */
function asUnapproved(error: unknown): never {
  if (!(error instanceof DecisionError) || error.code !== "file_unreadable") throw error;
  throw new DecisionError("not_approved", error.message, { hint: error.hint, cause: error });
}

/** What a decision is asked for by is as it was approved: it must not get out of the way of a question. */
function asApproved(summary: DefinitionSummary, entry: LockEntry | undefined): DefinitionSummary {
  if (entry?.status !== "approved") return summary;
  const said = Object.entries(summary).filter(([key]) => key !== "tools" && key !== "action");
  const rest = Object.fromEntries(said) as unknown as Omit<DefinitionSummary, "tools" | "action">;
  const definition = entry.definition as unknown as Definition;
  if (definition.type === "policy") return { ...rest, tools: toolsOf(definition) };
  return definition.type === "gate" ? { ...rest, action: definition.action } : rest;
}

function lostError({ entry: { decision_id, serial }, message, hint }: Lost): DecisionError {
  return new DecisionError("not_approved", message, { hint, details: { decision_id, serial } });
}

/** Of the gates of an action, none may answer for one that is not there. */
function brokenGate({ entry, message, hint }: Lost, file: string): readonly BrokenGate[] {
  const { decision_id } = entry;
  const gate = entry.definition as unknown as Definition;
  if (gate.type !== "gate") return [];
  const place = { file, line: 1, column: 1, severity: "error", decision_id } as const;
  return [{ actions: [gate.action.name], problems: [{ ...place, message, hint }] }];
}

/** Where no policy is asked there is no entry for what is; then the guardrails are to be those approved last. */
function refuseOtherGuardrails({ guardrails = [] }: Environment, { entries }: ApprovalLock): void {
  const newest = entries
    .filter(({ status }) => status === "approved")
    .toSorted((a, b) => b.serial - a.serial)
    .at(0);
  if (newest === undefined) return;
  const approved = newest.environment?.["guardrails"] ?? [];
  if (canonicalJson(approved) === canonicalJson(guardrails as unknown as Json)) return;
  throw new DecisionError(
    "not_approved",
    `the guardrails for every decision changed since serial ${newest.serial}`,
    { hint: `see what changed with \`agent-33 decision diff ${newest.decision_id}\`` },
  );
}
