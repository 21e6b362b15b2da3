import type { DrawnNode } from "../model/drawing.js";
import type { Entity, InputSource, OverrideApplication, PolicyEvaluation } from "../model/lineage.js";
import type { Branch, Proposal } from "./branches.js";
import { branchesOf } from "./branches.js";
import type { DecisionSummary, NamedRecord, RecordSummary } from "./record-summary.js";

/*
 * Anything may be called anything, so the id of a node says what it is: record:…, artifact:…, entity:TYPE:ID,
 * input:…, policy:NAME@VERSION, override:NAME@VERSION, target:…
 */

export const recordNodeId = (recordId: string): string => `record:${recordId}`;

export function recordNode(record: NamedRecord): DrawnNode {
  const id = recordNodeId(record.record_id);
  switch (record.kind) {
    case "missing":
      return { id, name: record.record_id, kind: "record", note: "not in the log" };
    case "tool_result":
      return { id, name: `#${record.seq} ${record.tool}`, kind: "result", note: record.ok ? "ok" : "failed" };
    case "decision":
      return {
        id,
        name: `#${record.seq} ${record.decision_id}`,
        label: answerText(record),
        kind: "decision",
        note: record.type,
      };
  }
}

/** The same with the time, for the one that all is about, and with an answer that did not stand. */
export function centralNode(record: RecordSummary, proposed: Proposal | null): DrawnNode {
  const { label = "", note = "", ...node } = recordNode(record);
  const time = record.timestamp.slice(0, 19).replace("T", " ");
  const instead = proposed === null ? "" : answerThatWas(proposed);
  const said = instead === "" ? label : `${label} (proposed: ${instead})`;
  return { ...node, ...(said !== "" && { label: said }), note: `${note}, ${time}` };
}

/** Those with targets are drawn. */
function answerThatWas({ branches, outcome, status }: Proposal): string {
  const answers = branches.filter(({ target }) => target === null).map(branchText);
  return outcome ?? status ?? answers.join(", ");
}

/** What was decided, in a few words. */
function answerText(record: DecisionSummary): string {
  const answer = branchesOf(record).map(branchText).join(", ");
  if (record.escalated) return answer === "" ? "escalated" : `escalated → ${answer}`;
  if (record.blocked) return answer === "" ? "blocked" : `blocked, ${answer}`;
  return record.tool === undefined ? answer : `${answer}: ${record.tool}`;
}

/** A label that says nothing beside the target is left out. */
export function branchText({ label, target }: Branch): string {
  if (target === null || label === null || label === target) return target ?? label ?? "";
  return `${label} → ${target}`;
}

export const artifactNode = (artifact: string): DrawnNode => ({
  id: `artifact:${artifact}`,
  name: artifact,
  kind: "artifact",
});

export const entityNode = ({ type, id }: Entity): DrawnNode => ({
  id: `entity:${type}:${id}`,
  name: `${type}:${id}`,
  kind: "entity",
});

export const inputNode = ({ source, keys }: InputSource): DrawnNode => ({
  id: `input:${source}`,
  name: source,
  ...(keys.length > 0 && { label: keys.join(", ") }),
  kind: "input",
});

export function policyNode({ name, version, base_decision, ...said }: PolicyEvaluation): DrawnNode {
  const reason = said.denial_reason === null ? "denied" : `denied: ${said.denial_reason}`;
  const flipped = said.override === null ? reason : `${reason} (overridden)`;
  return { ...versioned("policy", name, version), label: base_decision === "allow" ? "allowed" : flipped };
}

export const overrideNode = ({ name, version, reason }: OverrideApplication): DrawnNode => ({
  ...versioned("override", name, version),
  ...(reason !== "" && { label: reason }),
});

function versioned(kind: string, name: string, version: string): DrawnNode {
  const full = version === "" ? name : `${name}@${version}`;
  return { id: `${kind}:${full}`, name: full, kind };
}

export const targetNode = (target: string): DrawnNode => ({
  id: `target:${target}`,
  name: target,
  kind: "target",
});
