import type { Json, JsonObject } from "../../model/json.js";
import type { GateMetadata } from "../../model/result.js";
import type { Weighing } from "./weighing.js";

export function gateMetadata(weighing: Weighing, system: JsonObject): GateMetadata {
  const { rules, answers, matches, suppressed, deciding, errors } = weighing;
  const deciding_rules = deciding.map(({ id }) => id);
  const ids = rules.map(({ id }) => id);
  const idsAt = (places: readonly number[]): readonly string[] => places.flatMap((place) => ids[place] ?? []);
  return {
    matched_rules: idsAt(matches),
    suppressed: matches.flatMap((place) => {
      const [rule, by] = idsAt([place, suppressed.get(place) ?? -1]);
      return rule === undefined || by === undefined ? [] : [{ rule, by }];
    }),
    aggregation: { mode: "winner_takes_all", winner: deciding_rules[0] ?? null, deciding_rules },
    predicate_traces: answers.map(({ trace }) => trace),
    errored_predicates: errors,
    request_id: textOf(system["request_id"]),
    request_time: textOf(system["request_time"]),
  };
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
