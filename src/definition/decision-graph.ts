import type { Drawing, DrawnEdge, DrawnNode } from "../model/drawing.js";
import type { Definition, GateDefinition, PolicyDefinition, Target } from "../model/definition.js";
import { branchesOf, possibleOutcomes } from "./branches.js";
import { isRouting } from "./decision-types.js";
import { uniqueFetches } from "./fetches.js";
import { gateKeyText } from "./gate-key.js";
import { toolsOf } from "./tool-match.js";

/** The definitions and targets of a graph. */
interface GraphInput {
  readonly definitions: readonly Definition[];
  readonly targets: readonly Target[];
  /** The ids of invalid decisions. */
  readonly broken: readonly string[];
}

/**
 * Builds the graph of decisions, targets, outputs, endpoints, tools and actions. With `from`, it contains only what these
 * lead to.
 */
export function buildDecisionGraph(decisions: GraphInput, from?: readonly string[]): Drawing {
  const { definitions, targets } = decisions;
  const edges = [...definitions.flatMap(edgesFrom), ...targets.flatMap(dependenciesOf)];
  const nodes = nodesOf(decisions, edges);
  if (from === undefined) return { nodes, edges, roots: rootsOf(definitions, nodes, edges) };
  const reached = reachableFrom(from, successorsOf(edges));
  return {
    nodes: nodes.filter(({ id }) => reached.has(id)),
    edges: edges.filter((edge) => reached.has(edge.from)),
    roots: [...new Set(from)],
  };
}

/** Decisions that no other leads to, then the first of each cycle, then the remaining nodes. */
function rootsOf(
  definitions: readonly Definition[],
  nodes: readonly DrawnNode[],
  edges: readonly DrawnEdge[],
): readonly string[] {
  const leads = successorsOf(edges);
  const ledTo = new Set(edges.filter((edge) => edge.from !== edge.to).map(({ to }) => to));
  const ids = definitions.map(({ id }) => id);
  const roots: string[] = [];
  const reached = new Set<string>();
  for (const id of [...ids.filter((each) => !ledTo.has(each)), ...ids, ...nodes.map((node) => node.id)]) {
    if (reached.has(id)) continue;
    roots.push(id);
    reachableFrom([id], leads, reached);
  }
  return roots;
}

const edgesFrom = (definition: Definition): readonly DrawnEdge[] => [
  ...edgesOfType(definition),
  ...fetchEdges(definition),
];

function edgesOfType(definition: Definition): readonly DrawnEdge[] {
  if (definition.type === "policy") return policyEdges(definition);
  if (definition.type === "gate") return gateEdges(definition);
  const routes = branchesOf(definition).map(({ label, target }) => ({
    from: definition.id,
    to: target,
    label,
    kind: "leads_to",
  }));
  return [...routes, ...answerEdges(definition)];
}

/** One edge for all branches that end with an output: they lead nowhere else. */
function answerEdges(definition: Definition): readonly DrawnEdge[] {
  if (!isRouting(definition)) return [];
  const labels = possibleOutcomes(definition).flatMap(({ label, target }) => (target === null ? label : []));
  if (labels.length === 0) return [];
  const label = labels.length > maxListedLabels ? `${labels.length} branches` : labels.join(", ");
  return [{ from: definition.id, to: outputPrefix + definition.id, label, kind: "answers" }];
}

const maxListedLabels = 4;

/** Tools, actions, endpoints and outputs may have the same names, so their kind is part of their id. */
const endpointPrefix = "endpoint:";
const toolPrefix = "tool:";
const actionPrefix = "action:";
const outputPrefix = "output:";

function fetchEdges(definition: Definition): readonly DrawnEdge[] {
  const edges = uniqueFetches(definition).map(({ endpoint, into }) => ({
    from: definition.id,
    to: endpointPrefix + endpoint,
    label: into === undefined ? "fetches" : `fetches ${into}`,
    kind: "fetches",
  }));
  return [...new Map(edges.map((edge) => [`${edge.to} ${edge.label}`, edge])).values()];
}

function policyEdges(definition: PolicyDefinition): readonly DrawnEdge[] {
  const from = definition.id;
  const guarded = toolsOf(definition).map((tool) => ({ from, to: toolPrefix + tool, kind: "guards" }));
  const required = (definition.policies ?? []).flatMap((policy) =>
    ("requires" in policy ? (policy.requires ?? []) : []).map((tool) => ({
      from,
      to: toolPrefix + tool,
      label: `requires (${policy.name})`,
      kind: "requires",
    })),
  );
  return [...guarded, ...required];
}

function gateEdges({ id: from, action, rules }: GateDefinition): readonly DrawnEdge[] {
  const next = rules.flatMap(({ id, status, work_frame }) =>
    work_frame?.next_action === undefined
      ? []
      : [
          {
            from,
            to: actionPrefix + work_frame.next_action,
            label: `${id} (${status})`,
            kind: "next_action",
          },
        ],
  );
  return [{ from, to: actionPrefix + gateKeyText(action), kind: "guards" }, ...next];
}

function dependenciesOf({ id, depends_on = [] }: Target): readonly DrawnEdge[] {
  return depends_on.map((to) => ({ from: id, to, kind: "depends_on" }));
}

/** Decisions first, then declared targets, then those that are only named. */
function nodesOf(
  { definitions, targets, broken }: GraphInput,
  edges: readonly DrawnEdge[],
): readonly DrawnNode[] {
  const nodes = new Map<string, DrawnNode>();
  const declared = new Map(targets.map((target) => [target.id, target]));
  const unusable = new Set(broken);
  for (const { id, name, type } of definitions) {
    const note = declared.get(id)?.disabled ? `${type}, disabled` : type;
    nodes.set(id, { id, ...(name !== undefined && { label: name }), kind: "decision", note });
  }
  for (const { id, kind = "target", disabled } of targets) {
    if (!nodes.has(id)) nodes.set(id, { id, kind, ...(disabled && { note: "disabled" }) });
  }
  for (const { to: id } of edges) {
    if (nodes.has(id)) continue;
    nodes.set(id, { id, kind: kindFromId(id), ...(unusable.has(id) && { note: "not valid" }) });
  }
  return [...nodes.values()];
}

function kindFromId(id: string): string {
  if (id.startsWith(toolPrefix)) return "tool";
  if (id.startsWith(endpointPrefix)) return "endpoint";
  if (id.startsWith(outputPrefix)) return "output";
  return id.startsWith(actionPrefix) ? "action" : "target";
}

function successorsOf(edges: readonly DrawnEdge[]): ReadonlyMap<string, readonly string[]> {
  const leads = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const others = leads.get(from);
    if (others === undefined) leads.set(from, [to]);
    else others.push(to);
  }
  return leads;
}

/** Returns the ids that can be reached, in addition to those reached before. */
function reachableFrom(
  ids: readonly string[],
  leads: ReadonlyMap<string, readonly string[]>,
  reached = new Set<string>(),
): ReadonlySet<string> {
  const ahead = [...ids];
  for (let id = ahead.pop(); id !== undefined; id = ahead.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    for (const next of leads.get(id) ?? []) ahead.push(next);
  }
  return reached;
}
