import { textOf, valueOf } from "./text-place.js";
import type { TextNode } from "../definition/yaml-source.js";
import { readTree } from "../definition/yaml-source.js";

/** A part of a file that an outline shows. */
export interface OutlineEntry {
  readonly kind: "decision" | "branch" | "section" | "item";
  readonly name: string;
  readonly detail: string;
  readonly start: number;
  readonly end: number;
  /** Where the name is written. */
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly children: readonly OutlineEntry[];
}

/** Returns the decisions of a file with their branches, and what else it declares. */
export function outlineOf(text: string): readonly OutlineEntry[] {
  return (readTree(text) ?? []).flatMap((root) =>
    (root?.entries ?? []).flatMap(({ key, value }) => {
      if (value === undefined) return [];
      return key.value === "decision" ? [decisionEntry(key, value)] : [sectionEntry(key, value)];
    }),
  );
}

function decisionEntry(key: TextNode, decision: TextNode): OutlineEntry {
  const id = valueOf(decision, "id");
  const children = decision.entries.flatMap(({ key: name, value }) => {
    if (value === undefined) return [];
    if (name.value === "default") return [branchEntry(value, name, "default")];
    if (!branchKeys.has(name.value)) return [];
    return value.items.flatMap((item, index) => (item ? [branchEntry(item, item, `${index + 1}`)] : []));
  });
  const detail = textOf(valueOf(decision, "type")) ?? "";
  const place = { start: key.start, end: decision.end };
  return entry("decision", { named: id ?? key, name: textOf(id) ?? "decision", detail, ...place, children });
}

const branchKeys: ReadonlySet<unknown> = new Set(["cases", "rules", "policies", "evaluators"]);
/** The keys that name a branch, the first that is present. */
const nameKeys = ["label", "id", "name", "target"];
/** The keys that say when a branch is chosen. */
const detailKeys = ["condition", "when", "weight"];

function branchEntry(item: TextNode, start: TextNode, fallback: string): OutlineEntry {
  const present = (keys: readonly string[]): TextNode | undefined =>
    keys.map((key) => valueOf(item, key)).find((each) => each?.kind === "scalar");
  const isDefault = fallback === "default";
  const named = isDefault ? start : (present(nameKeys) ?? item);
  const written = isDefault ? fallback : named.value;
  const detail = isDefault ? textOf(valueOf(item, "target")) : present(detailKeys)?.value;
  return entry("branch", {
    named: named.kind === "scalar" ? named : { ...named, end: named.start },
    name: typeof written === "string" && written !== "" ? written : fallback,
    detail: detail === undefined || detail === null ? "" : String(detail),
    start: start.start,
    end: item.end,
    children: [],
  });
}

function sectionEntry(key: TextNode, value: TextNode): OutlineEntry {
  const items = value.items.flatMap((item) => {
    const named =
      item?.kind === "scalar"
        ? item
        : nameKeys
            .concat("type", "decision")
            .map((each) => valueOf(item, each))
            .find((each) => each?.kind === "scalar");
    const name = textOf(named);
    if (item === undefined || named === undefined || name === undefined || name === "") return [];
    return [entry("item", { named, name, detail: "", start: item.start, end: item.end, children: [] })];
  });
  const entries = value.entries.flatMap(({ key: named, value: each }) => {
    const name = textOf(named);
    if (name === undefined || name === "") return [];
    const { start } = named;
    return [entry("item", { named, name, detail: "", start, end: each?.end ?? named.end, children: [] })];
  });
  const place = { start: key.start, end: Math.max(key.end, value.end) };
  const name = String(key.value);
  return entry("section", { named: key, name, detail: "", ...place, children: [...items, ...entries] });
}

function entry(
  kind: OutlineEntry["kind"],
  { named, ...rest }: Omit<OutlineEntry, "kind" | "nameStart" | "nameEnd"> & { readonly named: TextNode },
): OutlineEntry {
  const end = Math.max(rest.end, named.end);
  return { kind, ...rest, end, nameStart: named.start, nameEnd: named.end };
}
