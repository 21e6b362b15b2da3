import { sha256Hex } from "../../digest/sha256.js";
import type { Action } from "../questions/list-actions.js";

type Key = Pick<Action, "org_id" | "domain" | "action">;

/** Some clients take no longer ones. */
const longest = 64;

/**
 * The names of the tools of actions, each its own. What had to be cut, or would be called as another, ends with a
 * hash of its key: a name must not come to mean another action when one is added. Absent: it cannot be told apart.
 */
export function typedNames<Each extends Key>(actions: readonly Each[]): ReadonlyMap<string, Each> {
  const plain = actions.map(plainName);
  const named = actions.map((each, index): readonly [string, Each] => {
    const name = plain[index] ?? "";
    const fits = name.length <= longest && plain.indexOf(name) === plain.lastIndexOf(name);
    return [fits ? name : hashedName(name, each), each];
  });
  const count = new Map<string, number>();
  for (const [name] of named) count.set(name, (count.get(name) ?? 0) + 1);
  return new Map(named.filter(([name]) => count.get(name) === 1));
}

const plainName = ({ org_id: org, domain, action }: Key): string =>
  `decide_${org}_${domain}_${action}`.replace(/[^A-Za-z0-9_-]/g, "_");

function hashedName(name: string, { org_id: org, domain, action }: Key): string {
  const ending = `_${sha256Hex(JSON.stringify([org, domain, action])).slice(0, 8)}`;
  return `${name.slice(0, longest - ending.length)}${ending}`;
}
