/** Whether a value that may be anything is what it is taken for. */
export type Test = (value: unknown) => boolean;

export const isText = (value: unknown): value is string => typeof value === "string";

export const isTruth: Test = (value) => typeof value === "boolean";

export const isNumber = (value: unknown): value is number => typeof value === "number";

export const isTextOrNull: Test = (value) => value === null || isText(value);

export const isListOfTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);

export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const maybe =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value);

/** Whether a value is a mapping whose fields are what they are taken for. */
export function shaped<Shape>(tests: { readonly [Field in keyof Shape]?: Test }) {
  const fields = Object.entries(tests) as readonly (readonly [string, Test])[];
  return (value: unknown): value is Shape =>
    isMapping(value) && fields.every(([name, test]) => test(value[name]));
}

/** Those items of a list that are what they are taken for; none where it is no list. */
export function itemsOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): readonly Item[] {
  return Array.isArray(value) ? value.filter(isItem) : [];
}

/** The same of the values of a mapping. */
export function fieldsOf<Item>(
  value: unknown,
  isItem: (item: unknown) => item is Item,
): Readonly<Record<string, Item>> {
  if (!isMapping(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, Item] => isItem(entry[1])),
  );
}
