import { isForbiddenKey } from "./path.js";
import { pathText, quote, splitPath } from "./syntax.js";
import { keywords } from "./tokens.js";

/** The path that a column of a table tests, in steps. */
export type Segments = readonly string[];

const isRoot = (step: string): boolean => /^[A-Za-z_]\w*$/.test(step) && !keywords.has(step);

/** Returns the expression that reads a path; `get` reads the steps that are not plain names. */
export function pathExpression([root = "", ...steps]: Segments): string {
  let text = isRoot(root) ? root : `get(context, ${quote(root)})`;
  for (const step of steps)
    text = /^\w+$/.test(step) && !text.endsWith(")") ? `${text}.${step}` : `get(${text}, ${quote(step)})`;
  return text;
}

/** Returns a path whose first step may be any key of the context. */
export const toPath = (segments: Segments): Segments =>
  isRoot(segments[0] ?? "") ? segments : ["context", ...segments];

/** Returns the path that the heading of a column names; undefined if it names none. */
export function parsePath(heading: string): Segments | undefined {
  const written = heading.trim();
  const segments = splitPath(written);
  if (written === "" || pathText(segments) !== written || segments.some(isForbiddenKey)) return undefined;
  return toPath(segments);
}

/** Writes a path as the heading of its column. */
export function pathHeading(path: Segments): string {
  const [root, second] = path;
  return pathText(root === "context" && second !== undefined && !isRoot(second) ? path.slice(1) : path);
}

export const isSamePath = (one: Segments, other: Segments): boolean =>
  one.length === other.length && one.every((step, index) => step === other[index]);
