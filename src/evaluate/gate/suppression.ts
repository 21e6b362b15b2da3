import type { GateRule } from "../../model/definition.js";

/** Of the places of rules that matched those that are suppressed, with the place of who does it. */
export type Suppression = (matches: readonly number[]) => ReadonlyMap<number, number>;

/** A rule is suppressed when a matched, unsuppressed rule names it; T1 never. Rules come by severity. */
export function prepareSuppression(rules: readonly GateRule[]): Suppression {
  const suppressors = rules.map((rule) => suppressorsOf(rule, rules));
  const order = suppressorsFirst(suppressors).filter((place) => suppressors[place]?.length !== 0);
  return (matches) => {
    const suppressed = new Map<number, number>();
    if (order.length === 0 || matches.length < 2) return suppressed;
    const matched = new Set(matches);
    for (const place of order) {
      if (!matched.has(place)) continue;
      const by = suppressors[place]?.find((each) => matched.has(each) && !suppressed.has(each));
      if (by !== undefined) suppressed.set(place, by);
    }
    return suppressed;
  };
}

function suppressorsOf({ id, tier }: GateRule, rules: readonly GateRule[]): readonly number[] {
  if (tier === "T1") return [];
  return rules.flatMap((rule, place) => (rule.id !== id && rule.suppresses?.includes(id) ? [place] : []));
}

/** Whether a rule is suppressed is known only when that is known of those who name it. */
function suppressorsFirst(suppressors: readonly (readonly number[])[]): readonly number[] {
  const order = new Set<number>();
  const seen = new Set<number>();
  const visit = (place: number): void => {
    if (seen.has(place)) return;
    seen.add(place);
    suppressors[place]?.forEach(visit);
    order.add(place);
  };
  for (const place of suppressors.keys()) visit(place);
  return [...order];
}
