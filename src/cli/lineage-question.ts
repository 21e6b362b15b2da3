import { DecisionError } from "../errors.js";
import type { Entity } from "../model/lineage.js";
import type { RelatedRange } from "../model/store.js";
import type { StoreFlags } from "./flags.js";
import { limitOf } from "../record/asked-query.js";
import type { TimeRangeFlags } from "./time-range.js";
import { timeRange } from "./time-range.js";

export interface LineageFlags extends StoreFlags, TimeRangeFlags {
  readonly artifact?: string;
  readonly entity?: string;
  readonly impact?: string;
  readonly limit?: string;
}

/** What is asked of the lineage. */
export type LineageQuestion =
  | { readonly about: "record"; readonly record: string; readonly limit: number }
  | { readonly about: "impact"; readonly artifact: string; readonly limit: number }
  | {
      readonly about: "list";
      readonly key: { readonly artifact: string } | { readonly entity: Entity };
      readonly range: RelatedRange & { readonly limit: number };
    };

export const usualLimit = 100;

/** The one thing that is asked; more than one, or none, is a wrong request. */
export function lineageQuestion(record: string | undefined, flags: LineageFlags): LineageQuestion {
  const { artifact, entity, impact } = flags;
  refuseSeveral({ RECORD: record, "--artifact": artifact, "--entity": entity, "--impact": impact });
  const limit = flags.limit === undefined ? usualLimit : limitOf(flags.limit, "--limit");
  if (artifact !== undefined || entity !== undefined) {
    const key =
      entity === undefined ? { artifact: named("--artifact", artifact) } : { entity: entityOf(entity) };
    return { about: "list", key, range: { ...timeRange(flags), limit } };
  }
  refuseTimes(flags);
  if (impact !== undefined) return { about: "impact", artifact: named("--impact", impact), limit };
  return { about: "record", record: record ?? "", limit };
}

function refuseSeveral(given: Readonly<Record<string, string | undefined>>): void {
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (names.length === 1) return;
  const hint = "give one of RECORD, --artifact ID, --entity TYPE:ID and --impact ARTIFACT";
  if (names.length === 0) throw new DecisionError("usage", "it is not said whose lineage is meant", { hint });
  throw new DecisionError("usage", `${names.join(" and ")} exclude each other`, { hint });
}

function refuseTimes({ since, until }: LineageFlags): void {
  if (since === undefined && until === undefined) return;
  throw new DecisionError("usage", `${since === undefined ? "--until" : "--since"} is for lists only`, {
    hint: "use it with --artifact or --entity; a lineage has no beginning and no end but its own",
  });
}

function named(flag: string, id = ""): string {
  if (id !== "") return id;
  throw new DecisionError("usage", `${flag} names nothing`, { hint: "such as `build-42`" });
}

/** Types have no colon; ids may have many. */
function entityOf(text: string): Entity {
  const colon = text.indexOf(":");
  if (colon > 0 && colon < text.length - 1) return { type: text.slice(0, colon), id: text.slice(colon + 1) };
  throw new DecisionError("usage", `--entity must be TYPE:ID (got \`${text}\`)`, {
    hint: "such as `customer:c-1042`",
  });
}
