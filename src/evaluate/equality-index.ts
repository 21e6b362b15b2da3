import { leadingEquality } from "../expression/syntax.js";
import type { PathGetter } from "../expression/path.js";
import { pathGetter } from "../expression/path.js";
import type { Literal } from "../expression/syntax.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { Branch } from "./branch.js";

/** Finds the rules that can match without evaluating the others. */
export interface EqualityIndex {
  /** Returns the positions of the rules to evaluate, in table order. All others do not match. */
  candidates(scope: Scope): readonly number[];
}

interface Group {
  readonly get: PathGetter;
  readonly members: number[];
  readonly byValue: Map<Literal, number[]>;
}

/** Groups the rules by the path that their conditions compare with a literal first. */
export function indexOnEquality(branches: readonly Branch[]): EqualityIndex {
  const groups = new Map<string, Group>();
  const others: number[] = [];
  for (const [position, branch] of branches.entries()) {
    const equality = branch.condition?.tree && leadingEquality(branch.condition.tree);
    if (equality === undefined) others.push(position);
    else addTo(groups, equality, position);
  }
  const all = [...groups.values()];
  return { candidates: (scope) => inTableOrder([others, ...all.map((group) => candidatesIn(group, scope))]) };
}

function addTo(
  groups: Map<string, Group>,
  equality: { readonly segments: readonly string[]; readonly values: readonly Literal[] },
  position: number,
): void {
  const name = equality.segments.join(".");
  let group = groups.get(name);
  if (group === undefined) {
    group = { get: pathGetter(equality.segments), members: [], byValue: new Map() };
    groups.set(name, group);
  }
  group.members.push(position);
  for (const value of new Set(equality.values)) {
    const positions = group.byValue.get(value);
    if (positions === undefined) group.byValue.set(value, [position]);
    else positions.push(position);
  }
}

/** If the path is missing, every rule of the group is errored, so all of them are evaluated. */
function candidatesIn(group: Group, scope: Scope): readonly number[] {
  const value: Json | undefined = group.get(scope);
  if (value === undefined) return group.members;
  if (typeof value === "object" && value !== null) return [];
  return group.byValue.get(value) ?? [];
}

function inTableOrder(lists: readonly (readonly number[])[]): readonly number[] {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length <= 1) return filled[0] ?? [];
  return filled.flat().sort((a, b) => a - b);
}
