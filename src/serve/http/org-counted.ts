import type { Library } from "../../definition/library.js";
import type { AuthenticatedCaller } from "../../model/caller.js";

interface Orgs {
  readonly names: ReadonlySet<string>;
  readonly byDecision: ReadonlyMap<string, string>;
}

type Defined = Pick<Library, "summaries">;

const known = new WeakMap<Defined, Orgs>();

/**
 * The organisation that a question is counted for: the one that the caller is bound to, else the one that is asked
 * for. Names that nobody has defined would only push those out that are counted.
 */
export function orgCounted(
  input: unknown,
  caller: AuthenticatedCaller | undefined,
  definitions: Defined,
): string | undefined {
  if (caller?.org_id !== undefined) return caller.org_id;
  const { org_id: org, decision_id: id } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const { names, byDecision } = orgsIn(definitions);
  if (typeof org === "string") return names.has(org) ? org : undefined;
  return typeof id === "string" ? byDecision.get(id) : undefined;
}

function orgsIn(definitions: Defined): Orgs {
  let orgs = known.get(definitions);
  if (orgs === undefined) {
    const gates = definitions.summaries.flatMap(({ id, action }) =>
      action === undefined ? [] : [[id, action.org] as const],
    );
    orgs = { names: new Set(gates.map(([, org]) => org)), byDecision: new Map(gates) };
    known.set(definitions, orgs);
  }
  return orgs;
}
