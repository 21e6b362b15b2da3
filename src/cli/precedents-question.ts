import { DecisionError } from "../errors.js";
import { leastSimilarity, mostPrecedents } from "../lineage/precedents.js";
import type { Wanted } from "../lineage/precedents.js";
import type { RecordKey, RelatedRange } from "../model/store.js";
import type { StoreFlags } from "./flags.js";
import { limitOf, oneOf } from "../record/asked-query.js";
import type { TimeRangeFlags } from "./time-range.js";
import { timeRange } from "./time-range.js";

/** Flags that say which precedents are meant. */
export interface PrecedentsFlags extends TimeRangeFlags {
  readonly input?: string;
  readonly record?: string;
  readonly entity?: string;
  readonly policy?: string;
  readonly deviations?: boolean;
  readonly limit?: string;
  readonly minSimilarity?: string;
  readonly outcome?: string;
  readonly last?: string;
  readonly check?: boolean;
  readonly workflowId?: string;
  readonly sessionId?: string;
}

export interface AskedFlags extends StoreFlags, PrecedentsFlags {}

/** What is asked. */
export type Question =
  | { readonly about: "input"; readonly id: string; readonly input: string; readonly wanted: Wanted }
  | { readonly about: "record"; readonly record: string; readonly wanted: Wanted }
  | { readonly about: "related"; readonly key: RecordKey; readonly range: Related }
  | { readonly about: "deviations"; readonly last: number };

/** One way of asking. */
export type About<Kind extends Question["about"]> = Extract<Question, { readonly about: Kind }>;

/** Undefined: all decisions are meant. */
export interface OfDecision {
  readonly id: string | undefined;
}

export type Related = RelatedRange & { readonly limit: number };

const ways = ["input", "record", "entity", "policy", "deviations"] as const;
type Way = (typeof ways)[number];

type More = Exclude<keyof PrecedentsFlags, Way>;

/** Which of the ways each of the other flags goes with. */
const goesWith: Readonly<Record<More, readonly Way[]>> = {
  limit: ["input", "record", "entity", "policy"],
  minSimilarity: ["input", "record"],
  since: ["entity", "policy"],
  until: ["entity", "policy"],
  outcome: ["policy"],
  last: ["deviations"],
  check: ["deviations"],
  workflowId: ["input"],
  sessionId: ["input"],
};

export const outcomes = ["allowed", "denied", "allowed_by_exception"] as const;
export const defaults = { related: 100, deviations: 10 };

export function questionOf(id: string | undefined, flags: PrecedentsFlags): Question {
  switch (wayOf(flags)) {
    case "input":
      return { about: "input", id: idOf(id), input: flags.input ?? "", wanted: wantedOf(flags) };
    case "record":
      return { about: "record", record: flags.record ?? "", wanted: wantedOf(flags) };
    case "entity":
      return { about: "related", key: { entity: entityOf(flags.entity ?? "") }, range: rangeOf(flags) };
    case "policy":
      return { about: "related", key: { policy: policyOf(flags.policy ?? "") }, range: rangeOf(flags) };
    case "deviations":
      return { about: "deviations", last: limitOf(flags.last ?? String(defaults.deviations), "--last") };
  }
}

function wayOf(flags: PrecedentsFlags): Way {
  const [way, other] = ways.filter((each) => flags[each] !== undefined);
  if (way === undefined) {
    throw new DecisionError("usage", "it is not said which precedents are meant", {
      hint: "those of an input (ID --input JSON), of a record (--record R), or what is recorded on --entity TYPE:ID or --policy NAME; or ask for --deviations",
    });
  }
  if (other !== undefined) {
    throw new DecisionError("usage", `--${way} and --${other} exclude each other`, {
      hint: "ask for one after the other",
    });
  }
  const stray = (Object.keys(goesWith) as More[]).find(
    (each) => flags[each] !== undefined && !goesWith[each].includes(way),
  );
  if (stray === undefined) return way;
  throw new DecisionError("usage", `${flagOf(stray)} does not go with --${way}`, {
    hint: `it goes with ${goesWith[stray].map(flagOf).join(" or ")}`,
  });
}

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function idOf(id: string | undefined): string {
  if (id !== undefined && id !== "") return id;
  throw new DecisionError("usage", "the decision is missing", {
    hint: "name it, as in `agent-33 decision precedents ID --input JSON`",
  });
}

function wantedOf({ limit, minSimilarity }: PrecedentsFlags): Wanted {
  return {
    limit: limit === undefined ? mostPrecedents : limitOf(limit, "--limit"),
    minSimilarity: minSimilarity === undefined ? leastSimilarity : similarityOf(minSimilarity),
  };
}

function similarityOf(text: string): number {
  const share = /^\d*\.?\d+$/.test(text) ? Number(text) : NaN;
  if (share >= 0 && share <= 1) return share;
  throw new DecisionError("usage", `--min-similarity must be a number from 0 to 1 (got \`${text}\`)`, {
    hint: "such as --min-similarity 0.5",
  });
}

/** An id may hold colons, as many do. */
function entityOf(text: string): { readonly type: string; readonly id: string } {
  const colon = text.indexOf(":");
  const [type, id] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon > 0 && id !== "") return { type, id };
  throw new DecisionError("usage", `--entity must be a type and an id (got \`${text}\`)`, {
    hint: "such as --entity customer:c-1; the type ends at the first colon",
  });
}

function policyOf(name: string): string {
  if (name !== "") return name;
  throw new DecisionError("usage", "the name of the policy is empty", {
    hint: "such as --policy customer_inclusion",
  });
}

function rangeOf(flags: PrecedentsFlags): Related {
  return {
    ...timeRange(flags),
    limit: limitOf(flags.limit ?? String(defaults.related), "--limit"),
    ...(flags.outcome !== undefined && { label: oneOf("outcome", flags.outcome, outcomes) }),
  };
}
