import type { Branch, NamedRecord, RecordSummary, Proposal, DecisionSummary } from "./record-summary.js";
import { branchesOf } from "./record-summary.js";
import type { LineageTrace, LineageOrigin, LineageStep, TracedPrecedent, Impact } from "./trace.js";
import type { Drawing, DrawnEdge, DrawnNode } from "../model/drawing.js";
import type { Entity, InputSource, OverrideApplication, PolicyEvaluation } from "../model/lineage.js";

/** Draws a record with what it depends on and what depends on it; edges point downstream. */
export function drawTrace(trace: LineageTrace): Drawing {
  const center = centralNode(trace.record, trace.ledTo.proposed);
  const sources = dependencyNodes(trace);
  const links = parentLinks(trace);
  const above: DrawingPart = {
    nodes: [center, ...[...sources, ...links.map(({ parent }) => parent)].map(({ node }) => node)],
    edges: [
      ...sources.map((each) => edgeFrom(each, center.id)),
      ...links.map(({ child, parent }) => edgeFrom(parent, recordNodeId(child.record_id))),
    ],
  };
  const beside = [...ledToNodes(trace), ...sameCheckNodes(trace)];
  const around: DrawingPart = {
    nodes: beside.map(({ node }) => node),
    edges: beside.map((each) => edgeTo(center.id, each)),
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

/** Draws the same as a tree with the record as its root, so edges to its dependencies are reversed. */
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

const dependsOnGroup: DrawnNode = { id: "rested_on", name: "depends on", kind: "" };
const sameCheckGroup: DrawnNode = { id: "same_check", name: "decided together with", kind: "" };
const ledToGroup: DrawnNode = { id: "led_to", name: "led to", kind: "" };

function drawGroup(
  center: DrawnNode,
  group: DrawnNode,
  related: readonly RelatedNode[],
  hasMore = false,
): DrawingPart {
  if (related.length === 0 && !hasMore) return { nodes: [], edges: [] };
  return {
    nodes: [group, ...related.map(({ node }) => node)],
    edges: [{ from: center.id, to: group.id, label: "" }, ...related.map((each) => edgeTo(group.id, each))],
  };
}

/** Labels a reversed edge; an artifact needs no label. */
function labelFromBelow(related: RelatedNode): RelatedNode {
  const isArtifact = related.node.kind === "artifact";
  return { ...related, label: related.label ?? (isArtifact ? "" : (labelsFromBelow[related.kind] ?? "")) };
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

/** Draws the records that were found downstream and the targets of the decisions among them, without the origin. */
function drawDownstream(steps: readonly LineageStep[], origin: DrawnNode): DrawingPart {
  const reached = new Map(steps.map(({ record }) => [record.record_id, record]));
  const records = [...reached.values()].filter(({ record_id }) => recordNodeId(record_id) !== origin.id);
  const targets = records.flatMap((record) =>
    targetNodes(record).map((each) => ({ from: recordNodeId(record.record_id), target: each })),
  );
  return {
    nodes: [...records.map(recordNode), ...targets.map(({ target }) => target.node)],
    edges: [...targets.map(({ from, target }) => edgeTo(from, target)), ...steps.map(stepEdge)],
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

/** Merges parts; of equal nodes and equal edges the first is kept. */
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

/** A node, and its relation to the node that it is drawn next to. */
interface RelatedNode {
  readonly node: DrawnNode;
  readonly kind: string;
  readonly label?: string;
}

/** Returns what a record depends on, without its parent's parents. */
function dependencyNodes({ restedOn }: LineageTrace): readonly RelatedNode[] {
  const { artifacts, entities, inputs, policies, overrides, allowed_by, parents, cached_from } = restedOn;
  return [
    ...artifacts.map((each) => ({
      node: artifactOrRecord(each, restedOn.artifact_records),
      kind: "input_of",
    })),
    ...entities.map((each) => ({ node: entityNode(each), kind: "about" })),
    ...inputs.map((each) => ({ node: inputNode(each), kind: "read_by" })),
    ...policies.map((each) => ({ node: policyNode(each), kind: "governs" })),
    ...overrides.map((each) => ({ node: overrideNode(each), kind: "overrides" })),
    ...allowed_by.map((each) => ({ node: recordNode(each), kind: "result" })),
    ...(allowed_by.length > 0 ? [] : parents.slice(0, 1).map((each) => parentNode(each))),
    ...(cached_from === null ? [] : [{ node: recordNode(cached_from), kind: "cached_answer" }]),
    ...restedOn.precedents.map(precedentNode),
  ];
}

/** An artifact may be a record. */
function artifactOrRecord(artifact: string, records: readonly RecordSummary[]): DrawnNode {
  const record = records.find(({ record_id }) => record_id === artifact);
  return record === undefined ? artifactNode(artifact) : recordNode(record);
}

/** Returns the links between the parents and their parents; a link back to the record closes a cycle. */
function parentLinks({ record, restedOn: { allowed_by, parents } }: LineageTrace): readonly ParentLink[] {
  const byId = new Map([record, ...allowed_by, ...parents].map((each) => [each.record_id, each]));
  return [...allowed_by, ...parents].flatMap((child) => {
    const parent = child.kind === "missing" ? undefined : byId.get(child.parent_record_id ?? "");
    return parent === undefined ? [] : [{ child, parent: parentNode(parent) }];
  });
}

/** A record and its parent. */
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
    label: `precedent, ${outcome} (similarity ${similarity})`,
  };
}

const sameCheckNodes = ({ sameCheck }: LineageTrace): readonly RelatedNode[] =>
  sameCheck.map((each) => ({ node: recordNode(each), kind: "same_check" }));

/** Returns the targets of a decision. */
function targetNodes(record: RecordSummary): readonly RelatedNode[] {
  if (record.kind !== "decision") return [];
  const related = toTargetNodes(branchesOf(record), "leads_to");
  return record.escalated ? related.map((each) => ({ ...each, label: "escalated" })) : related;
}

/** Returns the targets that a guardrail prevented. */
function proposedNodes({ ledTo: { proposed } }: LineageTrace): readonly RelatedNode[] {
  if (proposed === null) return [];
  return toTargetNodes(proposed.branches, "proposed").map((each) => ({
    ...each,
    label: each.label === undefined ? "proposed" : `proposed ${each.label}`,
  }));
}

/** Leaves out a label that is equal to the target. */
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
      return {
        id,
        name: `#${record.seq} ${record.tool}`,
        kind: "result",
        note: (record.ok ? "ok" : "failed") + (record.linked ? "" : " (not linked)"),
      };
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

/** The node of the traced record: adds the time, and the outcome that a guardrail prevented. */
function centralNode(record: RecordSummary, proposed: Proposal | null): DrawnNode {
  const { label = "", note = "", ...node } = recordNode(record);
  const time = record.timestamp.slice(0, 19).replace("T", " ");
  const instead = proposed === null ? "" : proposedAnswerText(proposed);
  const fullLabel = instead === "" ? label : `${label} (proposed: ${instead})`;
  return { ...node, ...(fullLabel !== "" && { label: fullLabel }), note: `${note}, ${time}` };
}

/** Leaves out branches with targets, which have nodes of their own. */
function proposedAnswerText({ branches, outcome, status }: Proposal): string {
  const answers = branches.filter(({ target }) => target === null).map(branchText);
  return outcome ?? status ?? answers.join(", ");
}

/** Returns the outcome of a decision as text. */
function answerText(record: DecisionSummary): string {
  const answer = branchesOf(record).map(branchText).join(", ");
  if (record.escalated) return answer === "" ? "escalated" : `escalated → ${answer}`;
  if (record.blocked) return answer === "" ? "blocked" : `blocked, ${answer}`;
  return record.tool === undefined ? answer : `${answer}: ${record.tool}`;
}

/** Leaves out a label that is equal to the target. */
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

export const inputNode = ({ source, source_type: type, keys }: InputSource): DrawnNode => ({
  // Fetched data may be in a part of the context that the caller has supplied too.
  id: type === "external" ? `input:${source}:external` : `input:${source}`,
  name: source,
  ...(keys.length > 0 && { label: keys.join(", ") }),
  kind: "input",
});

function policyNode({ name, version, base_decision, denial_reason, override }: PolicyEvaluation): DrawnNode {
  const reason = denial_reason === null ? "denied" : `denied: ${denial_reason}`;
  const flipped = override === null ? reason : `${reason} (overridden)`;
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

/** Draws the records that depend on an artifact. */
export function drawImpact({ artifact, steps }: Impact): Drawing {
  const origin = artifactNode(artifact);
  const sketch = mergeParts({ nodes: [origin], edges: [] }, drawDownstream(steps, origin));
  return { ...sketch, roots: [origin.id] };
}
