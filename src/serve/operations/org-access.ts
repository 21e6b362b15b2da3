import { decisionNotFound } from "../../definition/library.js";
import { isBrokenVisibleTo, isVisibleTo, visibleDefinitions } from "../../definition/organisation.js";
import { DecisionError } from "../../errors.js";
import { isObject } from "../../expression/equal.js";
import type { Precedent } from "../../model/lineage.js";
import type { LogLine } from "../../model/store.js";
import type { MaySee } from "../../record/find-records.js";
import { findRecord } from "../../record/find-records.js";
import { findById, recordVisibility as visibilityTo } from "../../record/record-visibility.js";
import type { Records } from "../../record/records.js";
import { isText, validItems, hasShape } from "../../record/well-formed.js";
import type { Invocation } from "./operation.js";

/**
 * Throws if a request names another organisation than that of the caller. The answer is the same whether the other one
 * exists or not.
 */
export function assertOwnOrg(org: string | undefined, { caller }: Pick<Invocation, "caller">): void {
  if (isVisibleTo(caller?.org_id, org)) return;
  throw new DecisionError("forbidden", `the token is not valid for the organisation \`${org ?? ""}\``, {
    hint: "use a token for this organisation; the claim `org_id` of the token names another one",
  });
}

/** Returns the ids of the decisions that the caller may see. */
export const visibleDecisionIds = ({
  world: { definitions },
  caller,
}: Pick<Invocation, "world" | "caller">): readonly string[] =>
  caller?.org_id === undefined
    ? definitions.ids
    : visibleDefinitions(definitions, caller.org_id).map(({ id }) => id);

/** Throws the error for an unknown decision if the caller may not see it. */
export function assertVisibleDecision(id: string, invocation: Invocation): void {
  if (invocation.caller?.org_id === undefined) return;
  const ids = visibleDecisionIds(invocation);
  const { broken, brokenOrgs } = invocation.world.definitions;
  if (ids.includes(id)) return;
  if (broken.includes(id) && isBrokenVisibleTo(invocation.caller.org_id, brokenOrgs.get(id))) return;
  throw decisionNotFound(id, ids);
}

/** Finds a record that the caller may see. `latest` is the latest of those. */
export const findOwnRecord = (id: string, invocation: Invocation): Promise<LogLine> =>
  findRecord(id, invocation.world.records, recordVisibility(invocation));

/** Selects the matching records that the caller may see. */
export async function* selectOwnRecords(
  query: Parameters<Records["log"]["select"]>[0],
  invocation: Invocation,
): AsyncGenerator<LogLine> {
  const maySee = recordVisibility(invocation);
  for await (const line of invocation.world.records.log.select(query)) {
    if (maySee === undefined || (await maySee(line.record))) yield line;
  }
}

/** Returns a function that checks whether the caller may see a record; undefined: the caller may see all. */
export const recordVisibility = ({ world: { records }, caller }: Invocation): MaySee | undefined =>
  visibilityTo(caller?.org_id, records);

/** Whether the caller may see the record with this id. */
type IsVisible = (id: string) => Promise<boolean>;

/** Like `recordVisibility`, by record id. A record that no longer exists is not visible. */
function recordIdVisibility(invocation: Invocation): IsVisible | undefined {
  const maySee = recordVisibility(invocation);
  if (maySee === undefined) return undefined;
  const isVisible = async (id: string): Promise<boolean> => {
    const record = await findById(id, invocation.world.records);
    return record !== undefined && (await maySee(record));
  };
  const checks = new Map<string, Promise<boolean>>();
  return (id) => {
    const check = checks.get(id) ?? isVisible(id);
    checks.set(id, check);
    return check;
  };
}

/** Removes references to records that the caller may not see from a record or an answer. */
export function hideForeignReferences(invocation: Invocation): <T extends object>(shown: T) => Promise<T> {
  const isVisible = recordIdVisibility(invocation);
  if (isVisible === undefined) return (shown) => Promise.resolve(shown);
  return async (shown) => withoutForeignPrecedents(await withoutForeignOrigin(shown, isVisible), isVisible);
}

/** Removes `cached_from`, the record whose answer was cached: older answers were shared by all organisations. */
async function withoutForeignOrigin<T extends { readonly cached_from?: unknown }>(
  shown: T,
  isVisible: IsVisible,
): Promise<T> {
  const { cached_from: origin, ...rest } = shown;
  if (origin === undefined || (isText(origin) && (await isVisible(origin)))) return shown;
  return rest as T;
}

async function withoutForeignPrecedents<T extends { readonly lineage?: unknown }>(
  shown: T,
  isVisible: IsVisible,
): Promise<T> {
  const { lineage } = shown;
  if (!isObject(lineage)) return shown;
  const precedents: Precedent[] = [];
  for (const each of validItems(lineage["precedents"], isPrecedent))
    if (await isVisible(each.record_id)) precedents.push(each);
  return { ...shown, lineage: { ...lineage, precedents } };
}

/** Checked, because a damaged record may contain anything. */
const isPrecedent = hasShape<Precedent>({ record_id: isText });
