/** Freezes a document and all that is in it; a part that is frozen already is taken to be frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    // `in` would make a text of each place of a list first.
    if (Array.isArray(value)) for (const item of value as readonly unknown[]) deepFreeze(item);
    else for (const key in value) deepFreeze(value[key]);
  }
  return value;
}
