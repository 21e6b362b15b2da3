/** The successors of each node. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** Returns one shortest cycle for each strongly connected component, as `[a, b, a]`. */
export function findCycles(leads: Graph): readonly (readonly string[])[] {
  return stronglyConnected(leads).flatMap((group) => {
    const [first = ""] = group;
    const way = shortestCycle(first, new Set(group), leads);
    return way === undefined ? [] : [way];
  });
}

/** How many names of a cycle are shown; of a longer one, the first and the last. */
const maxNamesShown = 12;

/** Formats a cycle for messages. */
export function cycleText(way: readonly string[]): string {
  const names = way.map((name) => `\`${name}\``);
  const left = names.length - maxNamesShown;
  const shown =
    left > 0 ? [...names.slice(0, maxNamesShown - 2), `${left + 1} more`, ...names.slice(-1)] : names;
  return shown.join(" → ");
}

interface Visit {
  readonly name: string;
  readonly ahead: Iterator<string, undefined>;
  /** The index of the visit, and the lowest index that can be reached from it. */
  readonly met: number;
  earliest: number;
  isOpen: boolean;
}

/** Finds strongly connected components with Tarjan's algorithm; without recursion, because chains may be long. */
function stronglyConnected(leads: Graph): readonly (readonly string[])[] {
  const visits = new Map<string, Visit>();
  const open: Visit[] = [];
  const groups: (readonly string[])[] = [];
  const enter = (name: string): Visit => {
    const ahead = (leads.get(name) ?? []).values();
    const visit = { name, ahead, met: visits.size, earliest: visits.size, isOpen: true };
    visits.set(name, visit);
    open.push(visit);
    return visit;
  };
  for (const root of leads.keys()) {
    const trail = visits.has(root) ? [] : [enter(root)];
    for (let visit = trail.at(-1); visit !== undefined; visit = trail.at(-1)) {
      const { value: next } = visit.ahead.next();
      if (next === undefined) {
        trail.pop();
        const above = trail.at(-1);
        if (above !== undefined) above.earliest = Math.min(above.earliest, visit.earliest);
        if (visit.earliest === visit.met) groups.push(closeComponent(visit, open));
        continue;
      }
      const known = visits.get(next);
      if (known === undefined) trail.push(enter(next));
      else if (known.isOpen) visit.earliest = Math.min(visit.earliest, known.met);
    }
  }
  return groups;
}

/** Closes the component of a visit and returns its names, the visit first. */
function closeComponent(visit: Visit, open: Visit[]): readonly string[] {
  const group: string[] = [];
  while (visit.isOpen) {
    const last = open.pop() ?? visit;
    last.isOpen = false;
    group.push(last.name);
  }
  return group.reverse();
}

/** Returns the shortest path from a node back to itself within a component. */
function shortestCycle(
  start: string,
  among: ReadonlySet<string>,
  leads: Graph,
): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const name of queue) {
    for (const next of leads.get(name) ?? []) {
      if (next === start) return [...pathTo(name, cameFrom), start];
      if (!among.has(next) || cameFrom.has(next)) continue;
      cameFrom.set(next, name);
      queue.push(next);
    }
  }
  return undefined;
}

function pathTo(name: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const trail = [name];
  for (let at = cameFrom.get(name); at !== undefined; at = cameFrom.get(at)) trail.push(at);
  return trail.reverse();
}
