import type { Case } from "../model/definition.js";

/** Each case's label; a missing one is its target, numbered from the second on so that labels stay distinct. */
export function labelsOf(cases: readonly Case[]): readonly string[] {
  const taken = new Set(cases.flatMap((each) => each.label ?? []));
  const numbers = new Map<string, number>();
  return cases.map((each) => {
    if (each.label !== undefined) return each.label;
    const { target } = each;
    let number = (numbers.get(target) ?? 0) + 1;
    while (taken.has(numbered(target, number)) || isReserved(numbered(target, number))) number++;
    numbers.set(target, number);
    return numbered(target, number);
  });
}

function numbered(target: string, number: number): string {
  return number === 1 ? target : `${target}#${number}`;
}

/** The label of the default route. */
export const defaultLabel = "default";

/** `__proto__` cannot be a key of the details. */
export function isReserved(label: string): boolean {
  return label === defaultLabel || label === "__proto__";
}
