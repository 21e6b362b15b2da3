import { nodeAt, textOf, valueOf } from "./text-place.js";
import type { Path, TextNode } from "../definition/yaml-source.js";
import { readTree } from "../definition/yaml-source.js";

export type NameKind = "decision" | "target" | "policy" | "rule" | "endpoint" | "label" | "tool";

/** A name that a definition file declares. */
export interface DeclaredName {
  readonly kind: NameKind;
  readonly name: string;
  /** The decision that it belongs to. */
  readonly decision: string | undefined;
  /** Where the name is written. */
  readonly start: number;
  readonly end: number;
  /** The description of what is declared, in Markdown. */
  readonly about: string;
}

/** Returns the names that a file declares, even if the file has errors. */
export function declaredNames(text: string): readonly DeclaredName[] {
  return (readTree(text) ?? []).flatMap((root) => (root === undefined ? [] : namesIn(root)));
}

function namesIn(root: TextNode): readonly DeclaredName[] {
  const targets = (valueOf(root, "targets")?.items ?? []).flatMap((item) =>
    toName("target", valueOf(item, "id") ?? item, describeFields(item, ["kind", "disabled"])),
  );
  const endpoints = (valueOf(root, "endpoints")?.entries ?? []).flatMap(({ key, value }) =>
    toName("endpoint", key, describeFields(value, ["url", "method", "timeout"])),
  );
  const decision = valueOf(root, "decision");
  return [...targets, ...endpoints, ...(decision === undefined ? [] : namesOfDecision(decision))];
}

function namesOfDecision(decision: TextNode): readonly DeclaredName[] {
  const id = textOf(valueOf(decision, "id"));
  const items = (key: string): readonly (TextNode | undefined)[] => valueOf(decision, key)?.items ?? [];
  const branches = [...items("cases"), ...items("rules"), valueOf(decision, "default")];
  const tool = valueOf(decision, "tool");
  const tools = tool?.kind === "list" ? tool.items : [tool];
  return [
    ...toName("decision", valueOf(decision, "id"), describeFields(decision, ["type", "version", "name"])),
    ...items("policies").flatMap((item) =>
      toName("policy", valueOf(item, "name"), describeFields(item, ["version", "overrides"]), id),
    ),
    ...items("rules").flatMap((item) =>
      toName("rule", valueOf(item, "id"), describeFields(item, ["tier", "severity", "when", "status"]), id),
    ),
    ...branches.flatMap((item) => {
      const label = valueOf(item, "label") ?? valueOf(item, "target");
      return toName("label", label, describeFields(item, ["condition", "target"]), id);
    }),
    ...items("evaluators").flatMap((evaluator) => votesOf(evaluator, id)),
    ...tools.flatMap((each) => toName("tool", each, describeFields(decision, ["type", "id"]), id)),
  ];
}

function votesOf(evaluator: TextNode | undefined, id: string | undefined): readonly DeclaredName[] {
  const rules = valueOf(evaluator, "rules")?.items ?? [];
  const votes = [valueOf(evaluator, "static"), ...rules.map((rule) => valueOf(rule, "then"))];
  return votes.flatMap((vote) =>
    toName("label", valueOf(vote, "decision"), describeFields(vote, ["weight", "reason"]), id),
  );
}

function toName(
  kind: NameKind,
  node: TextNode | undefined,
  about: string,
  decision?: string,
): readonly DeclaredName[] {
  const name = textOf(node);
  if (node === undefined || name === undefined || name === "") return [];
  const { start, end } = node;
  return [{ kind, name, decision, start, end, about }];
}

function describeFields(node: TextNode | undefined, keys: readonly string[]): string {
  const fields = keys.flatMap((key) => {
    const value = valueOf(node, key);
    const isShort = value?.kind === "scalar" && value.value !== null;
    return isShort ? [`- ${key}: \`${String(value.value)}\``] : [];
  });
  const description = textOf(valueOf(node, "description"));
  return [...(description === undefined ? [] : [description]), fields.join("\n")].join("\n\n").trim();
}

/** What a value names, if the schema means it to name something. */
export interface NameReference {
  readonly kinds: readonly NameKind[];
  /** Set if only names of this decision apply. */
  readonly decision?: string | undefined;
}

const leadsTo: readonly NameKind[] = ["target", "decision"];

/** The places of names, by their paths: `*` stands for any key and any position. */
const places: readonly (readonly [RegExp, readonly NameKind[], "own" | "tested" | "any"])[] = [
  [/^decision (?:cases|rules) \d+ target$/, leadsTo, "any"],
  [/^decision default target$/, leadsTo, "any"],
  [/^decision targets \S+$/, leadsTo, "any"],
  [/ (?:escalate_to|approval_target)$/, leadsTo, "any"],
  [/guardrails \d+ (?:targets|disabled_stages) \d+$/, ["target"], "any"],
  [/^targets \d+ depends_on \d+$/, ["target"], "any"],
  [/^decision policies \d+ overrides \d+$/, ["policy"], "any"],
  [/^decision policies \d+ requires \d+$/, ["tool"], "any"],
  [/^decision policies \d+ read_before_write (?:read|write)_tools \d+$/, ["tool"], "any"],
  [/^decision rules \d+ suppresses \d+$/, ["rule"], "own"],
  [/^decision scoring fallback_decision$/, ["label"], "own"],
  [/ endpoint$/, ["endpoint"], "any"],
  [/^tests \d+ decision$/, ["decision"], "any"],
  [/^tests \d+ tool$/, ["tool"], "any"],
  [/^tests \d+ expect (?:target|targets \d+)$/, leadsTo, "any"],
  [/^tests \d+ expect (?:label|decision|labels \d+)$/, ["label"], "tested"],
];

/** Returns what the value at a path names; undefined: nothing. */
export function referenceAt(root: TextNode, path: Path): NameReference | undefined {
  const written = path.map((step) => String(step).replaceAll(/\s/g, "_")).join(" ");
  const place = places.find(([pattern]) => pattern.test(written));
  if (place === undefined) return undefined;
  const [, kinds, scope] = place;
  switch (scope) {
    case "any":
      return { kinds };
    case "own":
      return { kinds, decision: textOf(nodeAt(root, ["decision", "id"])) };
    case "tested":
      return { kinds, decision: textOf(nodeAt(root, [...path.slice(0, 2), "decision"])) };
  }
}

/** Whether a declared name is one that a reference can mean. */
export const isMeant = (
  { kinds, decision }: NameReference,
  { kind, decision: owner }: DeclaredName,
): boolean => kinds.includes(kind) && (decision === undefined || owner === decision);
