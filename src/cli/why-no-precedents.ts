import type { Definition } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { Store } from "../model/store.js";
import { keptDefinition, lastDefinition } from "../record/kept-definition.js";

const remedy = 'say what it is about, as in entities: [{ type: customer, id: "{{ customer.id }}" }]';

/** Undefined where it does declare what it is about. */
export function undeclared({ id, entities = [] }: Definition): string | undefined {
  return entities.length > 0
    ? undefined
    : `\`${id}\` has no precedents, as it declares no entities; ${remedy}`;
}

/** Of a record that is about nothing, by the definition that it was made with. */
export async function whyRecordHasNone(record: DecisionRecord, store: Store): Promise<string> {
  const definition = await keptDefinition(record.definition_hash, store);
  const why = definition && undeclared(definition);
  return why ?? `record ${record.seq} has no precedents, as none of its entities could be told`;
}

/** Of a decision whose records may be gone, by the last definition that it was made with. */
export async function whyDecisionHasNone(id: string, store: Store): Promise<string | undefined> {
  const last = await lastDefinition(id, store);
  return typeof last === "object" ? undeclared(last.definition) : undefined;
}
