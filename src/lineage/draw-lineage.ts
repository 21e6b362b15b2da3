import type { Branch, NamedRecord, RecordSummary, Proposal, DecisionSummary } from "./record-summary.js";
import { branchesOf } from "./record-summary.js";
import type {
  LineageTrace,
  LineageOrigin,
  LineageStep,
  TracedPrecedent,
  Downstream,
  LineageLog,
} from "./trace.js";
import { findDownstream } from "./trace.js";
import type { Drawing, DrawnEdge, DrawnNode } from "../model/drawing.js";
import type { Entity, InputSource, OverrideApplication, PolicyEvaluation } from "../model/lineage.js";

/** A record amid what it rested on and what rests on it, each edge leading to what came of something. */
export function drawTrace(trace: LineageTrace): Drawing {
  const center = centralNode(trace.record, trace.ledTo.proposed);
  const sources = dependencyNodes(trace);
  const links = parentLinks(trace);
  const above: DrawingPart = {
    nodes: [center, ...[...sources, ...links.map(({ parent }) => parent)].map(({ node }) => node)],
    edges: [
      ...sources.map((twig) => edgeFrom(twig, center.id)),
      ...links.map(({ child, parent }) => edgeFrom(parent, recordNodeId(child.record_id))),
    ],
  };
  const beside = [...ledToNodes(trace), ...sameCheckNodes(trace)];
  const around: DrawingPart = {
    nodes: beside.map(({ node }) => node),
    edges: beside.map((twig) => edgeTo(center.id, twig)),
  };
  const sketch = mergeParts(above, around, drawDownstream(trace.ledTo.steps, center));
  return { ...sketch, roots: [center.id] };
}

const ledToNodes = (trace: LineageTrace): readonly RelatedNode[] => [
  ...targetNodes(trace.record),
  ...proposedNodes(trace),
];

const edgeFrom = ({ node, kind, label }: RelatedNode, to: string): DrawnEdge => ({
  from: node.id,
  to,
  ...(label !== undefined && { label }),
  kind,
});

/** The same as a tree with the record as its root; there it leads to what it rested on, too. */
export function drawTraceAsTree(trace: LineageTrace): Drawing {
  const center = centralNode(trace.record, trace.ledTo.proposed);
  const below = drawDownstream(trace.ledTo.steps, center);
  const edges = below.edges.map((edge) =>
    edge.from === center.id ? { ...edge, from: ledToGroup.id } : edge,
  );
  const links = parentLinks(trace);
  const sketch = mergeParts(
    { nodes: [center], edges: [] },
    drawGroup(center, dependsOnGroup, dependencyNodes(trace).map(labelFromBelow)),
    {
      nodes: links.map(({ parent }) => parent.node),
      edges: links.map(({ child, parent }) => edgeTo(recordNodeId(child.record_id), labelFromBelow(parent))),
    },
    drawGroup(center, sameCheckGroup, sameCheckNodes(trace).map(labelFromBelow)),
    drawGroup(center, ledToGroup, ledToNodes(trace), trace.ledTo.steps.length > 0),
    { nodes: below.nodes, edges },
  );
  return { ...sketch, roots: [center.id] };
}

const dependsOnGroup: DrawnNode = { id: "rested_on", name: "rested on", kind: "" };
const sameCheckGroup: DrawnNode = { id: "same_check", name: "decided together with", kind: "" };
const ledToGroup: DrawnNode = { id: "led_to", name: "led to", kind: "" };

function drawGroup(
  center: DrawnNode,
  group: DrawnNode,
  twigs: readonly RelatedNode[],
  hasMore = false,
): DrawingPart {
  if (twigs.length === 0 && !hasMore) return { nodes: [], edges: [] };
  return {
    nodes: [group, ...twigs.map(({ node }) => node)],
    edges: [{ from: center.id, to: group.id, label: "" }, ...twigs.map((twig) => edgeTo(group.id, twig))],
  };
}

/** Seen from what came of it. A thing says itself what it is. */
function labelFromBelow(twig: RelatedNode): RelatedNode {
  const isThing = twig.node.kind === "artifact";
  return { ...twig, label: twig.label ?? (isThing ? "" : (labelsFromBelow[twig.kind] ?? "")) };
}

const labelsFromBelow: Readonly<Record<string, string>> = {
  input_of: "artifact",
  child: "parent",
  result: "allowed by",
  cached_answer: "cached from",
};

/** A part of a drawing. */
interface DrawingPart {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

/** All that was reached, and where each of the decisions among it led; what we began with is drawn by others. */
function drawDownstream(steps: readonly LineageStep[], origin: DrawnNode): DrawingPart {
  const reached = new Map(steps.map(({ record }) => [record.record_id, record]));
  const records = [...reached.values()].filter(({ record_id }) => recordNodeId(record_id) !== origin.id);
  const targets = records.flatMap((record) =>
    targetNodes(record).map((twig) => ({ from: recordNodeId(record.record_id), twig })),
  );
  return {
    nodes: [...records.map(recordNode), ...targets.map(({ twig }) => twig.node)],
    edges: [...targets.map(({ from, twig }) => edgeTo(from, twig)), ...steps.map(stepEdge)],
  };
}

const edgeTo = (from: string, { node, kind, label }: RelatedNode): DrawnEdge => ({
  from,
  to: node.id,
  ...(label !== undefined && { label }),
  kind,
});

const stepEdge = ({ from, relation, record }: LineageStep): DrawnEdge => ({
  from: nodeIdOf(from),
  to: recordNodeId(record.record_id),
  kind: relation,
});

const nodeIdOf = (origin: LineageOrigin): string =>
  "artifact" in origin ? artifactNode(origin.artifact).id : recordNodeId(origin.record_id);

/** Each node and each edge once, as it was met first. */
function mergeParts(...sketches: readonly DrawingPart[]): DrawingPart {
  const nodes = new Map<string, DrawnNode>();
  const edges = new Map<string, DrawnEdge>();
  for (const sketch of sketches) {
    for (const node of sketch.nodes) if (!nodes.has(node.id)) nodes.set(node.id, node);
    for (const edge of sketch.edges) {
      const key = JSON.stringify([edge.from, edge.to, edge.kind, edge.label]);
      if (!edges.has(key)) edges.set(key, edge);
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

/** A thing, and what it has to do with the one that it is drawn beside. */
interface RelatedNode {
  readonly node: DrawnNode;
  readonly kind: string;
  readonly label?: string;
}

/** What a record rested on, but for the parents of its parent. */
function dependencyNodes({ restedOn }: LineageTrace): readonly RelatedNode[] {
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
    ...(allowed_by.length > 0 ? [] : parents.slice(0, 1).map((each) => parentNode(each))),
    ...(cached_from === null ? [] : [{ node: recordNode(cached_from), kind: "cached_answer" }]),
    ...restedOn.precedents.map(precedentNode),
  ];
}

/** Some artifacts are records themselves. */
function artifactOrRecord(artifact: string, records: readonly RecordSummary[]): DrawnNode {
  const record = records.find(({ record_id }) => record_id === artifact);
  return record === undefined ? artifactNode(artifact) : recordNode(record);
}

/** What the parents, and the decisions that allowed a call, have as their parents; a circle is closed. */
function parentLinks({ record, restedOn: { allowed_by, parents } }: LineageTrace): readonly ParentLink[] {
  const known = new Map([record, ...allowed_by, ...parents].map((each) => [each.record_id, each]));
  return [...allowed_by, ...parents].flatMap((child) => {
    const parent = child.kind === "missing" ? undefined : known.get(child.parent_record_id ?? "");
    return parent === undefined ? [] : [{ child, parent: parentNode(parent) }];
  });
}

/** A parent, drawn beside its child. */
interface ParentLink {
  readonly child: NamedRecord;
  readonly parent: RelatedNode;
}

const parentNode = (parent: NamedRecord): RelatedNode => ({ node: recordNode(parent), kind: "child" });

function precedentNode({ record, similarity, outcome_matched }: TracedPrecedent): RelatedNode {
  const outcome = outcome_matched ? "same outcome" : "other outcome";
  return {
    node: recordNode(record),
    kind: "precedent",
    label: `precedent (similarity ${similarity}, ${outcome})`,
  };
}

const sameCheckNodes = ({ sameCheck }: LineageTrace): readonly RelatedNode[] =>
  sameCheck.map((each) => ({ node: recordNode(each), kind: "same_check" }));

/** Where a decision led. */
function targetNodes(record: RecordSummary): readonly RelatedNode[] {
  if (record.kind !== "decision") return [];
  const twigs = toTargetNodes(branchesOf(record), "leads_to");
  return record.escalated ? twigs.map((twig) => ({ ...twig, label: "escalated" })) : twigs;
}

/** Where it would have led. */
function proposedNodes({ ledTo: { proposed } }: LineageTrace): readonly RelatedNode[] {
  if (proposed === null) return [];
  return toTargetNodes(proposed.branches, "proposed").map((twig) => ({
    ...twig,
    label: twig.label === undefined ? "proposed" : `proposed ${twig.label}`,
  }));
}

/** A label that says no more than the target is left out. */
function toTargetNodes(branches: readonly Branch[], kind: string): readonly RelatedNode[] {
  return branches.flatMap(({ label, target }) => {
    if (target === null) return [];
    return [{ node: targetNode(target), kind, ...(label !== null && label !== target && { label }) }];
  });
}

/*
 * Anything may be called anything, so the id of a node says what it is: record:…, artifact:…, entity:TYPE:ID,
 * input:…, policy:NAME@VERSION, override:NAME@VERSION, target:…
 */

const recordNodeId = (recordId: string): string => `record:${recordId}`;

function recordNode(record: NamedRecord): DrawnNode {
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
function centralNode(record: RecordSummary, proposed: Proposal | null): DrawnNode {
  const { label = "", note = "", ...node } = recordNode(record);
  const time = record.timestamp.slice(0, 19).replace("T", " ");
  const instead = proposed === null ? "" : proposedAnswerText(proposed);
  const said = instead === "" ? label : `${label} (proposed: ${instead})`;
  return { ...node, ...(said !== "" && { label: said }), note: `${note}, ${time}` };
}

/** Those with targets are drawn. */
function proposedAnswerText({ branches, outcome, status }: Proposal): string {
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
function branchText({ label, target }: Branch): string {
  if (target === null || label === null || label === target) return target ?? label ?? "";
  return `${label} → ${target}`;
}

const artifactNode = (artifact: string): DrawnNode => ({
  id: `artifact:${artifact}`,
  name: artifact,
  kind: "artifact",
});

const entityNode = ({ type, id }: Entity): DrawnNode => ({
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

function policyNode({ name, version, base_decision, ...said }: PolicyEvaluation): DrawnNode {
  const reason = said.denial_reason === null ? "denied" : `denied: ${said.denial_reason}`;
  const flipped = said.override === null ? reason : `${reason} (overridden)`;
  return {
    ...versionedNode("policy", name, version),
    label: base_decision === "allow" ? "allowed" : flipped,
  };
}

const overrideNode = ({ name, version, reason }: OverrideApplication): DrawnNode => ({
  ...versionedNode("override", name, version),
  ...(reason !== "" && { label: reason }),
});

function versionedNode(kind: string, name: string, version: string): DrawnNode {
  const full = version === "" ? name : `${name}@${version}`;
  return { id: `${kind}:${full}`, name: full, kind };
}

const targetNode = (target: string): DrawnNode => ({
  id: `target:${target}`,
  name: target,
  kind: "target",
});

/** All that came of an artifact. */
export interface Impact extends Downstream {
  readonly artifact: string;
}

/**
 * The decisions that had the artifact as an input, and what rests on those. A target is where many a decision leads,
 * not something that was made of it: it is told of, and never followed as an artifact of the same name.
 */
export async function findImpact(artifact: string, log: LineageLog, limit: number): Promise<Impact> {
  return { artifact, ...(await findDownstream({ artifact }, log, limit)) };
}

export function drawImpact({ artifact, steps }: Impact): Drawing {
  const origin = artifactNode(artifact);
  const sketch = mergeParts({ nodes: [origin], edges: [] }, drawDownstream(steps, origin));
  return { ...sketch, roots: [origin.id] };
}
