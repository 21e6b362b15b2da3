import type { SchemaFault } from "./schema-problems.js";
import type { Path } from "./yaml-source.js";

/** Names in a list that are used twice, or cannot be keys of the details. */
export function repeats<Key extends string>(
  items: readonly Readonly<Record<Key, string>>[],
  path: Path,
  { key, what }: { readonly key: Key; readonly what: string },
): readonly SchemaFault[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const name = item[key];
    const at = [...path, index, key];
    if (name === "__proto__") return [{ path: at, message: "`__proto__` cannot be a name" }];
    if (seen.has(name)) return [{ path: at, message: `${what} \`${name}\` is there twice` }];
    seen.add(name);
    return [];
  });
}
