import type { Case } from "../model/definition.js";

/** Each case's label; a missing one is its target, numbered from the second on so that labels stay distinct. */
export function labelsOf(cases: readonly Case[]): readonly string[] {
  const taken = new Set(cases.flatMap((each) => each.label ?? []));
  return cases.map((each) => {
    if (each.label !== undefined) return each.label;
    const label = free(each.target, taken);
    taken.add(label);
    return label;
  });
}

function free(target: string, taken: ReadonlySet<string>): string {
  let label = target;
  for (let number = 2; taken.has(label) || isReserved(label); number++) label = `${target}#${number}`;
  return label;
}

/** The label of the default route. */
export const defaultLabel = "default";

/** `__proto__` cannot be a key of the details. */
export function isReserved(label: string): boolean {
  return label === defaultLabel || label === "__proto__";
}
