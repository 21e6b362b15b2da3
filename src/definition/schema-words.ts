import type { Path } from "./yaml-source.js";

/** ajv writes positions in lists as text; YAML nodes are asked for by number. */
export function pathOf(pointer: string, value: unknown): Path {
  const path: (string | number)[] = [];
  let at = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(at) ? Number(key) : key);
    at = (at as Record<string, unknown>)[key];
  }
  return path;
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value);
}

export function textAt(value: unknown, path: Path): string {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : "";
}

export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "a map";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

export function article(type: string): string {
  return (
    {
      string: "text",
      object: "a map",
      array: "a list",
      number: "a number",
      integer: "a whole number",
      boolean: "true or false",
    }[type] ?? type
  );
}

export function listing(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}
