import type { LogRecord, NoteRecord } from "../model/record.js";
import { isObject } from "../expression/equal.js";

/** Whether a parsed line of the log has the required fields of a record. */
export function isWellFormedRecord(record: LogRecord): boolean {
  if (!isObject(record) || !Number.isSafeInteger(record.seq)) return false;
  if (!areTexts([record.record_id, record.timestamp, record.hash, record.prev_hash])) return false;
  switch (record.kind) {
    case "decision":
      return (
        areTexts([record.decision_id, record.type, record.definition_hash, record.environment_hash]) &&
        areTexts([record.deterministic_hash]) &&
        [record.selected_targets, record.selected_labels, record.because].every(isTextList) &&
        [record.failed_conditions, record.warnings].every(isTextList) &&
        [record.evaluation_details, record.facts, record.context ?? {}].every(isObject) &&
        Array.isArray(record.guardrails)
      );
    case "tool_result":
      return areTexts([record.tool]) && typeof record.ok === "boolean" && isTextList(record.decision_records);
    case "assessment":
      return (
        areTexts([record.observer, record.severity, record.summary, record.session_id]) &&
        areTexts([record.parent_record_id]) &&
        isNumber(record.decisions) &&
        isTextList(record.suggestions) &&
        Array.isArray(record.deviations)
      );
    case "note":
      return Object.hasOwn(noteKinds, record.note) && isObject(record.details);
    default:
      return false;
  }
}

const noteKinds: Readonly<Record<NoteRecord["note"], true>> = {
  tail_repaired: true,
  tail_lost: true,
  pruned: true,
  counters_migrated: true,
  approvals_seen: true,
};

const areTexts = (values: readonly unknown[]): boolean => values.every(isText);

/** Tests a value of unknown type. */
type ValueTest = (value: unknown) => boolean;

export const isText = (value: unknown): value is string => typeof value === "string";

export const isBoolean: ValueTest = (value) => typeof value === "boolean";

export const isNumber = (value: unknown): value is number => typeof value === "number";

export const isTextOrNull: ValueTest = (value) => value === null || isText(value);

export const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);

export const optional =
  (test: ValueTest): ValueTest =>
  (value) =>
    value === undefined || test(value);

/** Returns a test for a mapping whose fields pass these tests. */
export function hasShape<Shape>(tests: { readonly [Field in keyof Shape]?: ValueTest }) {
  const fields = Object.entries(tests) as readonly (readonly [string, ValueTest])[];
  return (value: unknown): value is Shape =>
    isObject(value) && fields.every(([name, test]) => test(value[name]));
}

/** Returns the items of a list that pass a test; none where the value is not a list. */
export function validItems<Item>(value: unknown, isItem: (item: unknown) => item is Item): readonly Item[] {
  return Array.isArray(value) ? value.filter(isItem) : [];
}

/** Returns the fields of a mapping whose values pass a test; none where the value is not a mapping. */
export function validFields<Item>(
  value: unknown,
  isItem: (item: unknown) => item is Item,
): Readonly<Record<string, Item>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries<unknown>(value).filter((entry): entry is [string, Item] => isItem(entry[1])),
  );
}
