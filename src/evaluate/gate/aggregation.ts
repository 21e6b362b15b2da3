import type { GateRule, Status } from "../../model/definition.js";

/** The status that the rules make, and those whose word it is. */
export interface Aggregated<Rule> {
  readonly status: Status;
  readonly deciding: readonly Rule[];
}

type Weighed = Pick<GateRule, "tier" | "severity" | "status">;

const gravity: Readonly<Record<Status, number>> = { GREEN: 0, "GREEN-SKIP": 1, YELLOW: 2, RED: 3 };

/** `winner_takes_all` among the rules that stand; where T1 rules are among them, nobody else has a say. */
export function aggregate<Rule extends Weighed>(standing: readonly Rule[]): Aggregated<Rule> {
  const floor = standing.filter(({ tier }) => tier === "T1");
  const deciding = floor.length > 0 ? mostSevere(gravest(floor)) : gravest(mostSevere(standing));
  return { status: deciding[0]?.status ?? "YELLOW", deciding };
}

/** Whether an agent that is told so goes on, be it by doing nothing. */
export function isPermissive(status: Status): boolean {
  return gravity[status] < gravity.YELLOW;
}

function mostSevere<Rule extends Weighed>(rules: readonly Rule[]): readonly Rule[] {
  const most = rules.reduce((high, { severity }) => Math.max(high, severity), -Infinity);
  return rules.filter(({ severity }) => severity === most);
}

function gravest<Rule extends Weighed>(rules: readonly Rule[]): readonly Rule[] {
  const most = rules.reduce((high, { status }) => Math.max(high, gravity[status]), 0);
  return rules.filter(({ status }) => gravity[status] === most);
}
