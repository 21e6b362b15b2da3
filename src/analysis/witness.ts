import type { CellSet } from "./cell-set.js";
import { cellsOf, hasCell, intersectSets, isEmptySet, subtractSets } from "./cell-set.js";
import type { Domains } from "./cover.js";
import type { Cell, PathDimension } from "./dimension.js";
import { nextNumber } from "./dimension.js";
import type { Space } from "./space.js";
import { isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";

/** A cell for each path of a space; undefined for dimensions without a path. */
export type CellChoice = readonly (number | undefined)[];

/** Chooses the cells of an input in the domains, the more usual values first; undefined if no input is in them. */
export function chooseCells(domains: Domains, space: Space): CellChoice | undefined {
  const chosen: (number | undefined)[] = domains.map(() => undefined);
  const present = new Set<number>();
  for (const { index, dimension, parent } of space.paths.toReversed()) {
    const domain = domains[index] ?? [];
    const cell = present.has(index)
      ? firstOf(intersectSets(domain, dimension.container))
      : preferredCell(domain, dimension, hasRoomAbove(parent, domains, space));
    if (cell === undefined) return undefined;
    chosen[index] = cell;
    if (parent !== undefined && !hasCell(dimension.missing, cell)) present.add(parent);
  }
  return chosen;
}

/** Whether all dimensions above a path may be objects. */
function hasRoomAbove(parent: number | undefined, domains: Domains, space: Space): boolean {
  for (let above = parent; above !== undefined;) {
    const place = space.paths.find(({ index }) => index === above);
    if (place === undefined) return true;
    if (isEmptySet(intersectSets(domains[above] ?? [], place.dimension.container))) return false;
    above = place.parent;
  }
  return true;
}

const firstOf = (set: CellSet): number | undefined => set[0];

/** Chooses a value of the type that the path is compared with, or none where any value will do. */
function preferredCell(domain: CellSet, dimension: PathDimension, hasRoom: boolean): number | undefined {
  const { all, missing } = dimension;
  const first = (set: CellSet): number | undefined => firstOf(intersectSets(domain, set));
  const isFree = isEmptySet(subtractSets(all, domain));
  if (isFree || !hasRoom) {
    const absent = first(missing);
    if (absent !== undefined || !hasRoom) return absent;
  }
  for (const set of naturalOrder(dimension)) {
    const cell = bestIn(intersectSets(domain, set), dimension);
    if (cell !== undefined) return cell;
  }
  return firstOf(domain);
}

/** The types of values, those that the path is compared with first. */
export function naturalOrder(dimension: PathDimension): readonly CellSet[] {
  const { constants, numbers, texts, booleans } = dimension;
  const typed = [
    ...(constants.numbers.size > 0 ? [numbers] : []),
    ...(constants.texts.size > 0 ? [texts] : []),
    ...(constants.isBoolean ? [booleans] : []),
  ];
  return [...typed, texts, numbers, booleans, dimension.container, dimension.empty, dimension.null];
}

/** Prefers numbers that the definition mentions, and texts that it does not compare with. */
function bestIn(set: CellSet, { cells }: PathDimension): number | undefined {
  let fallback: number | undefined;
  let count = 0;
  for (const cell of cellsOf(set)) {
    const each = cells[cell];
    if (each?.type === "number" || each?.type === "text") return cell;
    fallback = each?.type === "texts" ? (fallback ?? cell) : (fallback ?? cell);
    if (++count > 4) break;
  }
  return fallback;
}

/** Builds the context whose values are in the chosen cells. */
export function buildContext(choice: CellChoice, space: Space): JsonObject {
  const context: Record<string, Json> = {};
  for (const { index, dimension } of space.paths) {
    const cell = dimension.cells[choice[index] ?? 0];
    if (cell === undefined || cell.type === "missing") continue;
    const value =
      cell.type === "container" ? emptyContainer(dimension, choice, space) : valueIn(cell, dimension);
    if (dimension.segments.length > 0) put(context, dimension.segments, value);
    else if (
      cell.type === "container" &&
      Object.keys(context).length === 0 &&
      !hasBelow(dimension, choice, space)
    )
      put(context, [unreadKey], 1);
  }
  return context;
}

/** A key that makes an object not empty where no path below it has a value. */
const unreadKey = "unrelated";

/** A container is filled by the paths below it; where there are none, it needs content of its own. */
function emptyContainer(dimension: PathDimension, choice: CellChoice, space: Space): Json {
  return hasBelow(dimension, choice, space) ? {} : { [unreadKey]: 1 };
}

const hasBelow = ({ segments }: PathDimension, choice: CellChoice, { dimensions }: Space): boolean =>
  dimensions.some(
    (each, index) =>
      each.type === "path" &&
      each.segments.length > segments.length &&
      segments.every((step, at) => each.segments[at] === step) &&
      (choice[index] ?? 0) !== 0,
  );

/** Returns a copy of the context with a value at a path; undefined if something on the way is not an object. */
export function setPath(
  context: JsonObject,
  segments: readonly string[],
  value: Json,
): JsonObject | undefined {
  const [step, ...rest] = segments;
  if (step === undefined) return isObject(value) ? value : undefined;
  const below = Object.hasOwn(context, step) ? context[step] : {};
  const inner = rest.length === 0 ? value : isObject(below) ? setPath(below, rest, value) : undefined;
  if (inner === undefined) return undefined;
  const changed: Record<string, Json> = { ...context };
  define(changed, step, inner);
  return changed;
}

function put(context: Record<string, Json>, segments: readonly string[], value: Json): void {
  let place = context;
  for (const step of segments.slice(0, -1)) {
    if (!Object.hasOwn(place, step)) define(place, step, {});
    place = place[step] as Record<string, Json>;
  }
  define(place, segments.at(-1) ?? "", value);
}

function define(place: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns a value of a cell, as short as possible. */
export function valueIn(cell: Cell, dimension: PathDimension): Json {
  switch (cell.type) {
    case "missing":
    case "null":
      return null;
    case "boolean":
    case "number":
    case "text":
      return cell.value;
    case "numbers":
      return numberBetween(cell.above, cell.below);
    case "texts":
      return textBetween(cell.above, cell.below, dimension);
    case "empty":
      return {};
    case "container":
      return { [unreadKey]: 1 };
  }
}

/** Returns a short number between two others, exclusive. */
export function numberBetween(above: number, below: number): number {
  const start = Number.isFinite(above) ? above : Number.isFinite(below) ? below - 1 : 0;
  const isInside = (value: number): boolean => value > above && value < below;
  if (!Number.isFinite(above) && isInside(start)) return start;
  for (let digits = 0; digits <= 15; digits++) {
    const next = Number((Math.floor(start * 10 ** digits + 1) / 10 ** digits).toFixed(digits));
    if (isInside(next)) return next;
  }
  if (Number.isFinite(above)) return nextNumber(above);
  return Math.max(below * 2, -Number.MAX_VALUE);
}

/** Texts that stand for any other one. */
export const commonTexts = ["other", "another", "something else"];

/** Returns a readable text between two others, exclusive. */
function textBetween(
  above: string | undefined,
  below: string | undefined,
  { constants }: PathDimension,
): string {
  const isInside = (text: string): boolean =>
    (above === undefined || text > above) &&
    (below === undefined || text < below) &&
    !constants.texts.has(text);
  const base = above ?? "";
  const candidates = [
    ...commonTexts,
    ...["a", "0", "-", " ", "!"].map((end) => base + end),
    base,
    `${base}\0`,
  ];
  return candidates.find(isInside) ?? `${base}\0`;
}
