/** The longest path that anything can be fetched into. */
export const longestPath = 256;

interface Entry<Value> {
  readonly path: string;
  readonly value: Value;
}

/** Values at dotted paths, found by paths that lead to, into or past them. What is longer than the longest is not. */
export class PathMap<Value> {
  readonly #at = new Map<string, Entry<Value>>();
  /** By each path above them. */
  readonly #below = new Map<string, Entry<Value>>();

  /** Of two at one path the first stands. */
  add(path: string, value: Value): void {
    const entry = { path, value };
    if (!this.#at.has(path)) this.#at.set(path, entry);
    for (const above of prefixesOf(path)) if (!this.#below.has(above)) this.#below.set(above, entry);
  }

  /** What is at a path, or at one that leads there. */
  covering(path: string): Entry<Value> | undefined {
    for (const above of prefixesOf(path)) {
      const found = this.#at.get(above);
      if (found !== undefined) return found;
    }
    return this.#at.get(path);
  }

  overlapping(path: string): Entry<Value> | undefined {
    return this.covering(path) ?? this.#below.get(path);
  }
}

function prefixesOf(path: string): readonly string[] {
  const prefixes: string[] = [];
  for (let dot = path.indexOf("."); dot !== -1 && dot <= longestPath; dot = path.indexOf(".", dot + 1))
    prefixes.push(path.slice(0, dot));
  return prefixes;
}
