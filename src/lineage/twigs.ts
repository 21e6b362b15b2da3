import type { DrawnNode } from "../model/drawing.js";
import type { Branch } from "./branches.js";
import { branchesOf } from "./branches.js";
import {
  artifactNode,
  entityNode,
  inputNode,
  overrideNode,
  policyNode,
  recordNode,
  targetNode,
} from "./lineage-nodes.js";
import type { NamedRecord, RecordSummary } from "./record-summary.js";
import type { Trace } from "./trace.js";
import type { TracedPrecedent } from "./upstream.js";

/** A thing, and what it has to do with the one that it is drawn beside. */
export interface Twig {
  readonly node: DrawnNode;
  readonly kind: string;
  readonly label?: string;
}

/** What a record rested on, but for the parents of its parent. */
export function restedOnTwigs({ restedOn }: Trace): readonly Twig[] {
  const { artifacts, entities, inputs, policies, override, allowed_by, parents, cached_from } = restedOn;
  return [
    ...artifacts.map((each) => ({
      node: artifactOrRecord(each, restedOn.artifact_records),
      kind: "input_of",
    })),
    ...entities.map((each) => ({ node: entityNode(each), kind: "about" })),
    ...inputs.map((each) => ({ node: inputNode(each), kind: "read_by" })),
    ...policies.map((each) => ({ node: policyNode(each), kind: "governs" })),
    ...(override === null ? [] : [{ node: overrideNode(override), kind: "overrides" }]),
    ...allowed_by.map((each) => ({ node: recordNode(each), kind: "result" })),
    ...(allowed_by.length > 0 ? [] : parents.slice(0, 1).map((each) => childTwig(each))),
    ...(cached_from === null ? [] : [{ node: recordNode(cached_from), kind: "cached_answer" }]),
    ...restedOn.precedents.map(precedentTwig),
  ];
}

/** Some artifacts are records themselves. */
function artifactOrRecord(artifact: string, records: readonly RecordSummary[]): DrawnNode {
  const record = records.find(({ record_id }) => record_id === artifact);
  return record === undefined ? artifactNode(artifact) : recordNode(record);
}

/** What the parents, and the decisions that allowed a call, have as their parents; a circle is closed. */
export function parentLinks({ record, restedOn: { allowed_by, parents } }: Trace): readonly Link[] {
  const known = new Map([record, ...allowed_by, ...parents].map((each) => [each.record_id, each]));
  return [...allowed_by, ...parents].flatMap((child) => {
    const parent = child.kind === "missing" ? undefined : known.get(child.parent_record_id ?? "");
    return parent === undefined ? [] : [{ child, parent: childTwig(parent) }];
  });
}

/** A parent, drawn beside its child. */
export interface Link {
  readonly child: NamedRecord;
  readonly parent: Twig;
}

const childTwig = (parent: NamedRecord): Twig => ({ node: recordNode(parent), kind: "child" });

function precedentTwig({ record, similarity, outcome_matched }: TracedPrecedent): Twig {
  const outcome = outcome_matched ? "same outcome" : "other outcome";
  return {
    node: recordNode(record),
    kind: "precedent",
    label: `precedent (similarity ${similarity}, ${outcome})`,
  };
}

export const sameCheckTwigs = ({ sameCheck }: Trace): readonly Twig[] =>
  sameCheck.map((each) => ({ node: recordNode(each), kind: "same_check" }));

/** Where a decision led. */
export function targetTwigs(record: RecordSummary): readonly Twig[] {
  if (record.kind !== "decision") return [];
  const twigs = toTargets(branchesOf(record), "leads_to");
  return record.escalated ? twigs.map((twig) => ({ ...twig, label: "escalated" })) : twigs;
}

/** Where it would have led. */
export function proposedTwigs({ ledTo: { proposed } }: Trace): readonly Twig[] {
  if (proposed === null) return [];
  return toTargets(proposed.branches, "proposed").map((twig) => ({
    ...twig,
    label: twig.label === undefined ? "proposed" : `proposed ${twig.label}`,
  }));
}

/** A label that says no more than the target is left out. */
function toTargets(branches: readonly Branch[], kind: string): readonly Twig[] {
  return branches.flatMap(({ label, target }) => {
    if (target === null) return [];
    return [{ node: targetNode(target), kind, ...(label !== null && label !== target && { label }) }];
  });
}
