import { conditionsOf } from "./analyze.js";
import type { Box } from "./box.js";
import type { CellSet } from "./cell-set.js";
import {
  cellRange,
  cellsOf,
  countCells,
  hasCell,
  intersectSets,
  isEmptySet,
  subtractSets,
  uniteSets,
} from "./cell-set.js";
import type { ChangeablePath } from "./changeable-paths.js";
import { changeablePaths, dimensionsOf } from "./changeable-paths.js";
import type { Edit, PathChange } from "./context-edit.js";
import { applyEdits, pathChanges, valueAt } from "./context-edit.js";
import type { Domains } from "./cover.js";
import { domainsOf, findUncovered, isVoid, visitUncovered } from "./cover.js";
import type { PathDimension } from "./dimension.js";
import { WorkLimit } from "./formula.js";
import type { LabelRegion } from "./label-regions.js";
import { labelRegions } from "./label-regions.js";
import type { DecisionModel } from "./model-decision.js";
import { limitVariables, modelDecision } from "./model-decision.js";
import { decimalsOf, distanceOf, nearestValues } from "./nearest-value.js";
import { addRequiredPaths, addSchemaTests } from "./schema-bounds.js";
import type { Space } from "./space.js";
import { SpaceBuilder } from "./space.js";
import { equal } from "../expression/equal.js";
import type { Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";

/** A label that a decision did not select for a context. */
export interface ChangeQuestion {
  readonly definition: Definition;
  readonly context: JsonObject;
  /** The label of a branch, a decision, a status or the id of a gate rule, or the outcome of a policy decision. */
  readonly label: string;
  /** Evaluates another context: only changes that it confirms are returned. */
  readonly selects: (context: JsonObject) => boolean;
  /** How many steps the search may take. Absent: 3,000,000. */
  readonly steps?: number;
}

/** The change of a context that selects a label. */
export interface NearestChange {
  readonly paths: readonly PathChange[];
  readonly context: JsonObject;
  /** Whether no change of fewer paths selects the label: false where only some values were tried. */
  readonly isSmallest: boolean;
}

/** Why no change was found. */
export interface NoChange {
  /** `unreachable`: no input selects the label; `limit`: not all changes were tried; `none`: none of them selects it. */
  readonly because: "unreachable" | "limit" | "none";
  /** The parts of conditions that are not analysed, so that only some values were tried. */
  readonly notAnalysed: readonly string[];
}

/**
 * Finds the change of the fewest paths of a context that selects a label, and of those the one with the nearest values.
 * Pure, as far as `selects` is.
 */
export function findNearestChange(question: ChangeQuestion): NearestChange | NoChange {
  const { definition, context, label, steps = 3_000_000 } = question;
  const builder = new SpaceBuilder();
  const hasContextKey = Object.hasOwn(context, "context");
  const model = modelDecision(definition, builder, hasContextKey);
  const { context_schema: schema } = definition.type === "gate" ? definition : {};
  if (schema !== undefined) {
    addRequiredPaths(schema, builder);
    addSchemaTests(schema, builder);
  }
  const limits = limitVariables(definition, builder, hasContextKey);
  const space = builder.build(
    hasContextKey ? { segments: ["context"], test: { kind: { type: "present" } } } : undefined,
  );
  const limit = new WorkLimit(steps);
  const regions = limit.within(() => labelRegions(model, label, { space, limit }));
  if (regions === undefined) return { because: "limit", notAnalysed: [] };
  if (limit.within(() => regions.some((each) => isReachable(each, space, limit))) === false)
    return { because: "unreachable", notAnalysed: [] };
  const paths = changeablePaths({ model, space, regions, context, limits, schema });
  return new ChangeSearch(question, { model, space, regions, limit, paths }).run();
}

function isReachable({ needed, excluded }: LabelRegion, space: Space, limit: WorkLimit): boolean {
  const covered = [...excluded, ...space.impossible];
  return needed.some((box) => findUncovered(domainsOf(box, space), covered, limit) !== undefined);
}

/** Some paths with a value for each. */
interface Candidate {
  readonly edits: readonly Edit[];
  readonly distance: number;
}

interface Option {
  readonly value: Json | undefined;
  readonly distance: number;
}

interface SearchParts {
  readonly model: DecisionModel;
  readonly space: Space;
  readonly regions: readonly LabelRegion[];
  readonly limit: WorkLimit;
  readonly paths: readonly ChangeablePath[];
}

/** At most this many contexts are evaluated, and this many conditions in them. */
const maxEvaluated = 20_000;
const maxConditions = 1_000_000;
/** Of one set of paths, at most this many regions are tried. */
const maxParts = 2000;
/** The steps that a candidate costs, so that their number is limited. */
const candidateSteps = 100;

class ChangeSearch {
  readonly #question: ChangeQuestion;
  readonly #space: Space;
  readonly #limit: WorkLimit;
  readonly #targets: readonly Target[];
  readonly #paths: readonly ChangeablePath[];
  /** By dimension; undefined for parts that are not analysed. */
  readonly #cells: readonly (number | undefined)[];
  readonly #notAnalysed: readonly string[];
  readonly #isExact: boolean;
  #evaluationsLeft: number;
  #isIncomplete = false;

  constructor(question: ChangeQuestion, { model, space, regions, limit, paths }: SearchParts) {
    this.#question = question;
    this.#space = space;
    this.#limit = limit;
    const { context } = question;
    this.#cells = space.dimensions.map((each) =>
      each.type === "path" ? each.cellOf(valueAt(context, each.segments)) : undefined,
    );
    this.#paths = paths;
    this.#targets = regions.flatMap((region) => this.#targetsOf(region));
    const opaque = [...dimensionsOf(regions)].flatMap((index) => {
      const dimension = space.dimensions[index];
      return dimension?.type === "opaque" ? [dimension.text] : [];
    });
    this.#notAnalysed = [...new Set(opaque)];
    this.#isExact = opaque.length === 0 && paths.every(({ samples }) => samples.length === 0);
    this.#evaluationsLeft = Math.min(
      maxEvaluated,
      Math.ceil(maxConditions / Math.max(1, conditionsOf(model).length)),
    );
  }

  run(): NearestChange | NoChange {
    for (let count = 1; count <= this.#paths.length && !this.#isIncomplete; count++) {
      const found = this.#nearestOf(this.#candidates(count));
      if (found !== undefined) return found;
    }
    return { because: this.#isIncomplete ? "limit" : "none", notAnalysed: this.#notAnalysed };
  }

  #nearestOf(candidates: readonly Candidate[]): NearestChange | undefined {
    const tried = new Set<string>();
    for (const { edits } of candidates.toSorted((a, b) => a.distance - b.distance)) {
      const key = JSON.stringify(
        edits.map(({ segments, value }) => [segments, value ?? null, value === undefined]),
      );
      if (tried.has(key)) continue;
      tried.add(key);
      if (this.#evaluationsLeft <= 0) {
        this.#isIncomplete = true;
        return undefined;
      }
      if (this.#trySelecting(edits) === undefined) continue;
      const nearest = this.#isExact ? edits : this.#nearer(edits);
      const context = applyEdits(this.#question.context, nearest);
      if (context === undefined) return undefined;
      const paths = pathChanges(this.#question.context, context, nearest);
      return { paths, context, isSmallest: (this.#isExact && !this.#isIncomplete) || edits.length === 1 };
    }
    return undefined;
  }

  /** Returns the edited context if it selects the label. */
  #trySelecting(edits: readonly Edit[]): JsonObject | undefined {
    const context = applyEdits(this.#question.context, edits);
    if (context === undefined) return undefined;
    this.#evaluationsLeft--;
    return this.#question.selects(context) ? context : undefined;
  }

  /** Moves numbers that were tried towards the current ones, as long as the label is selected. */
  #nearer(edits: readonly Edit[]): readonly Edit[] {
    return edits.reduce<readonly Edit[]>((nearest, { segments, value }, index) => {
      const current = valueAt(this.#question.context, segments);
      if (typeof value !== "number" || typeof current !== "number") return nearest;
      const digits = Math.max(decimalsOf(value), decimalsOf(current));
      const round = (number: number): number => Number(number.toFixed(digits));
      const withNumber = (number: number): readonly Edit[] =>
        nearest.map((each, at) => (at === index ? { segments, value: number } : each));
      let [outside, inside] = [current, value];
      for (let step = 0; step < maxHalvings; step++) {
        const middle = round((outside + inside) / 2);
        if (middle === outside || middle === inside) break;
        if (this.#trySelecting(withNumber(middle)) === undefined) outside = middle;
        else inside = middle;
      }
      return withNumber(inside);
    }, edits);
  }

  /** Returns the changes of this many paths that may select the label. */
  #candidates(count: number): readonly Candidate[] {
    const candidates: Candidate[] = [];
    const isDone = this.#limit.within(() => {
      for (const target of this.#targets) {
        for (const paths of this.#pathSets(target.required, count)) {
          this.#limit.spend(1);
          for (const candidate of this.#candidatesWith(paths, target)) {
            this.#limit.spend(candidateSteps);
            candidates.push(candidate);
          }
        }
      }
      return true;
    });
    if (isDone === undefined) this.#isIncomplete = true;
    return candidates;
  }

  /** Returns one target for each box that a region needs. */
  #targetsOf(region: LabelRegion): readonly Target[] {
    const { needed, excluded } = region;
    const bounds = new Map<number, CellSet>();
    for (const { dimensions, sets } of excluded) {
      const [dimension, set] = [dimensions[0], sets[0]];
      if (dimension === undefined || set === undefined || dimensions.length > 1) continue;
      bounds.set(dimension, uniteSets(bounds.get(dimension) ?? [], set));
    }
    return needed.flatMap((box): readonly Target[] => {
      const domains = domainsOf(box, this.#space).map((set, index) =>
        subtractSets(set, bounds.get(index) ?? []),
      );
      if (isVoid(domains)) return [];
      return [{ domains, region, required: this.#requiredChanges(domains) }];
    });
  }

  /** Returns the dimensions that must change; of a path and those below it, the ones that imply the others. */
  #requiredChanges(domains: Domains): readonly number[] {
    const outside = this.#cells.flatMap((cell, index) =>
      cell === undefined || hasCell(domains[index] ?? [], cell) ? [] : [index],
    );
    const mayBe = (index: number, set: CellSet): boolean =>
      !isEmptySet(intersectSets(domains[index] ?? [], set));
    return outside.filter((index) => {
      const dimension = this.#pathAt(index);
      if (dimension === undefined || dimension.segments.length === 0) return false;
      const related = outside.filter((other) => other !== index);
      const below = related.filter((other) => isAbove(dimension, this.#pathAt(other)));
      // A value below it makes it an object.
      if (mayBe(index, dimension.container) && below.some((each) => !mayBe(each, missingCells))) return false;
      return !related.some((other) => {
        const above = this.#pathAt(other);
        // Without an object above it, it is missing.
        return above !== undefined && isAbove(above, dimension) && !mayBe(other, above.container);
      });
    });
  }

  #pathAt(index: number): PathDimension | undefined {
    const dimension = this.#space.dimensions[index];
    return dimension?.type === "path" ? dimension : undefined;
  }

  /** Yields sets of paths none of which is below another, so that all required dimensions may change. */
  *#pathSets(required: readonly number[], count: number): Generator<readonly ChangeablePath[]> {
    const paths = this.#paths;
    const given = new Set<string>();
    const isFree = (chosen: readonly number[], next: number): boolean =>
      chosen.every((each) => each !== next && !areRelated(paths[each], paths[next]));
    const extend = function* (chosen: readonly number[], from: number): Generator<readonly number[]> {
      const open = required.find((index) => !chosen.some((each) => changes(paths[each], index)));
      if (chosen.length === count) {
        if (open === undefined) yield chosen;
        return;
      }
      for (const [next, path] of paths.entries()) {
        if (open === undefined ? next < from : !changes(path, open)) continue;
        if (isFree(chosen, next)) yield* extend([...chosen, next], open === undefined ? next + 1 : 0);
      }
    };
    const changes = (path: ChangeablePath | undefined, index: number): boolean =>
      path !== undefined && (path.dimension === index || areRelated(path, this.#pathAt(index)));
    for (const chosen of extend([], 0)) {
      const sorted = chosen.toSorted((a, b) => a - b);
      const key = sorted.join(" ");
      if (given.has(key)) continue;
      given.add(key);
      yield sorted.flatMap((each) => paths[each] ?? []);
    }
  }

  *#candidatesWith(paths: readonly ChangeablePath[], { domains, region }: Target): Generator<Candidate> {
    const within = this.#domainsWith(paths, domains);
    if (isVoid(within)) return;
    const parts: Domains[] = [];
    const isComplete = visitUncovered(within, [...region.excluded, ...this.#space.impossible], {
      limit: this.#limit,
      added: [],
      visit: (part) => parts.push(part) <= maxParts,
    });
    if (!isComplete) this.#isIncomplete = true;
    if (parts.length === 0) return;
    this.#limit.spend(region.distinguished.length);
    const distinguished = region.distinguished.filter((box) => meets(within, box));
    for (const part of parts) {
      const telling = distinguished.filter((box) => meets(part, box));
      const options = paths.map((path) => this.#optionsOf(path, part, telling));
      yield* combinations(paths, options);
    }
  }

  /** Returns the cells of all paths when some of them are changed. */
  #domainsWith(paths: readonly ChangeablePath[], domains: Domains): Domains {
    return domains.map((domain, index) => {
      const dimension = this.#pathAt(index);
      const cell = this.#cells[index];
      if (dimension === undefined || cell === undefined) return domain;
      const path = paths.find((each) => each.dimension === index);
      if (path !== undefined)
        return this.#mayKeepCell(path, dimension) ? domain : subtractSets(domain, cellRange(cell, cell));
      const above = paths.find((each) => isAbove(each, dimension));
      if (above !== undefined)
        return above.samples.length > 0 ? domain : intersectSets(domain, dimension.missing);
      if (paths.some((each) => isAbove(dimension, each)))
        return intersectSets(domain, uniteSets(dimension.empty, dimension.container));
      return intersectSets(domain, cellRange(cell, cell));
    });
  }

  /** Other values of the same cell may differ for what is not analysed, or for the paths below. */
  #mayKeepCell(path: ChangeablePath, dimension: PathDimension): boolean {
    return (
      path.samples.length > 0 ||
      this.#space.dimensions.some((each) => each.type === "path" && isAbove(dimension, each))
    );
  }

  /** Returns one value for each group of cells that the boxes treat alike, and the samples among them. */
  #optionsOf(path: ChangeablePath, part: Domains, boxes: readonly Box[]): readonly Option[] {
    const { dimension: index, samples, example, current } = path;
    const sampled = (values: readonly Json[], farther: number): readonly Option[] =>
      values.map((value, at) => ({ value, distance: distanceOf(value, current) + farther + at * 1e-4 }));
    const dimension = index === undefined ? undefined : this.#pathAt(index);
    if (index === undefined || dimension === undefined)
      return sampled(samples, 0.1).filter(({ value }) => !isSame(value, current));
    const set = part[index] ?? [];
    const isWithin = (value: Json): boolean => hasCell(set, dimension.cellOf(value));
    const cell = dimension.cellOf(current);
    // An object can be replaced by one without the paths below it; other values must leave their cell.
    const isKept = hasCell(dimension.container, cell) && samples.length === 0;
    const groups = groupsOf(isKept ? set : subtractSets(set, cellRange(cell, cell)), index, boxes);
    this.#limit.spend(countCells(set) + boxes.length);
    const options = [
      ...groups.flatMap((group) => nearestValues(group, dimension, current)),
      ...sampled(example === undefined ? [] : [example].filter(isWithin), 0.02),
      ...sampled(samples.filter(isWithin), 0.1),
    ];
    return options.filter(({ value }) => !isSame(value, current));
  }
}

/** A box that a region needs, within the bounds of the region. */
interface Target {
  readonly domains: Domains;
  readonly region: LabelRegion;
  /** The dimensions that must change. */
  readonly required: readonly number[];
}

const maxHalvings = 60;

const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === undefined || b === undefined ? a === b : equal(a, b);

const missingCells = cellRange(0, 0);

interface Segmented {
  readonly segments: readonly string[];
}

/** Whether a path is a part of another one. */
const isAbove = (above: Segmented, below: Segmented | undefined): boolean =>
  below !== undefined &&
  above.segments.length < below.segments.length &&
  above.segments.every((step, at) => below.segments[at] === step);

const areRelated = (a: Segmented | undefined, b: Segmented | undefined): boolean =>
  a !== undefined && b !== undefined && (isAbove(a, b) || isAbove(b, a));

const meets = (domains: Domains, { dimensions, sets }: Box): boolean =>
  dimensions.every((dimension, at) => !isEmptySet(intersectSets(domains[dimension] ?? [], sets[at] ?? [])));

/** Divides cells of a dimension into groups that are in the same boxes. */
function groupsOf(set: CellSet, dimension: number, boxes: readonly Box[]): readonly CellSet[] {
  const sets = new Map<string, CellSet>();
  for (const { dimensions, sets: all } of boxes) {
    const at = dimensions.indexOf(dimension);
    const own = at === -1 ? undefined : all[at];
    if (own !== undefined) sets.set(own.join(" "), own);
  }
  const groups = new Map<string, number[]>();
  for (const cell of cellsOf(set)) {
    const key = Array.from(sets.values(), (each) => (hasCell(each, cell) ? "1" : "0")).join("");
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    if (group.length > 0 && group.at(-1) === cell - 1) group[group.length - 1] = cell;
    else group.push(cell, cell);
  }
  return [...groups.values()];
}

/** Yields every combination of one option for each path. */
function* combinations(
  paths: readonly ChangeablePath[],
  options: readonly (readonly Option[])[],
  edits: readonly Edit[] = [],
  distance = 0,
): Generator<Candidate> {
  const path = paths[edits.length];
  if (path === undefined) {
    yield { edits, distance };
    return;
  }
  for (const option of options[edits.length] ?? [])
    yield* combinations(
      paths,
      options,
      [...edits, { segments: path.segments, value: option.value }],
      distance + option.distance,
    );
}
