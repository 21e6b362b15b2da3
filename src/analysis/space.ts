import type { Box } from "./box.js";
import { boxOf, everything } from "./box.js";
import { complementSet, uniteSets } from "./cell-set.js";
import type { Dimension, OpaqueDimension, Test } from "./dimension.js";
import { Constants, PathDimension } from "./dimension.js";

/** The inputs that conditions tell apart: the product of its dimensions, without what is impossible. */
export interface Space {
  readonly dimensions: readonly Dimension[];
  /** All inputs are in this box. */
  readonly bounds: Box;
  /** No input is in these boxes: a value below a path exists only if there is an object or a list at the path. */
  readonly impossible: readonly Box[];
  /** The paths, each before those below it. */
  readonly paths: readonly PlacedPath[];
}

/** The dimension of a path, and its nearest path above. */
export interface PlacedPath {
  readonly index: number;
  readonly dimension: PathDimension;
  readonly parent: number | undefined;
}

/** Collects the variables of conditions and the constants that they are compared with. */
export class SpaceBuilder {
  readonly #paths = new Map<
    string,
    { readonly segments: readonly string[]; readonly constants: Constants }
  >();
  readonly #opaque = new Map<string, OpaqueDimension>();
  readonly #order: { readonly key: string; readonly isPath: boolean }[] = [];
  readonly #dimensions = new Map<string, number>();

  /** Returns the dimension of a path, which must tell the results of the test apart. */
  addTest(segments: readonly string[], test: Test): number {
    const key = `path ${JSON.stringify(segments)}`;
    const entry = this.#paths.get(key) ?? { segments, constants: new Constants() };
    this.#paths.set(key, entry);
    entry.constants.add(test);
    return this.#dimensionOf(key, true);
  }

  /** Returns the dimension of a part of a condition that is not analysed. Equal keys always have the same result. */
  addOpaque(key: string, dimension: Omit<OpaqueDimension, "type" | "size">): number {
    if (!this.#opaque.has(key)) this.#opaque.set(key, { type: "opaque", size: 3, ...dimension });
    return this.#dimensionOf(key, false);
  }

  #dimensionOf(key: string, isPath: boolean): number {
    const known = this.#dimensions.get(`${isPath} ${key}`);
    if (known !== undefined) return known;
    this.#dimensions.set(`${isPath} ${key}`, this.#order.length);
    return this.#order.push({ key, isPath }) - 1;
  }

  /** Returns the paths that the conditions read. */
  paths(): readonly (readonly string[])[] {
    return Array.from(this.#paths.values(), ({ segments }) => segments);
  }

  /** `bounds` limits the space to the inputs for which a test is true. */
  build(bounds?: { readonly segments: readonly string[]; readonly test: Test }): Space {
    const bounded = bounds && this.addTest(bounds.segments, bounds.test);
    const dimensions = this.#order.flatMap(({ key, isPath }): readonly Dimension[] => {
      const path = isPath ? this.#paths.get(key) : undefined;
      if (path !== undefined) return [new PathDimension(path.segments, path.constants)];
      const opaque = this.#opaque.get(key);
      return opaque === undefined ? [] : [opaque];
    });
    const paths = placePaths(dimensions);
    return {
      dimensions,
      bounds: boundsOf(dimensions, bounded, bounds?.test),
      impossible: impossibleBoxes(dimensions, paths),
      paths,
    };
  }
}

/** The context itself is always an object. */
function boundsOf(
  dimensions: readonly Dimension[],
  bounded: number | undefined,
  test: Test | undefined,
): Box {
  const index = bounded ?? dimensions.findIndex((each) => each.type === "path" && each.segments.length === 0);
  const dimension = dimensions[index];
  if (dimension?.type !== "path") return everything;
  if (test !== undefined) return boxOf(index, dimension.setOf(test, "true"));
  return boxOf(index, uniteSets(dimension.empty, dimension.container));
}

function placePaths(dimensions: readonly Dimension[]): readonly PlacedPath[] {
  const byPath = new Map<string, number>();
  for (const [index, each] of dimensions.entries())
    if (each.type === "path") byPath.set(JSON.stringify(each.segments), index);
  return dimensions
    .flatMap((each, index) =>
      each.type === "path" ? [{ index, dimension: each, parent: nearestAbove(each.segments, byPath) }] : [],
    )
    .sort((a, b) => a.dimension.segments.length - b.dimension.segments.length);
}

function nearestAbove(segments: readonly string[], byPath: ReadonlyMap<string, number>): number | undefined {
  for (let length = segments.length - 1; length >= 0; length--) {
    const found = byPath.get(JSON.stringify(segments.slice(0, length)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function impossibleBoxes(dimensions: readonly Dimension[], paths: readonly PlacedPath[]): readonly Box[] {
  return paths.flatMap(({ index, dimension, parent: above }): readonly Box[] => {
    const parent = above === undefined ? undefined : dimensions[above];
    if (above === undefined || parent?.type !== "path") return [];
    const pair = [
      { dimension: above, set: complementSet(parent.container, parent.size) },
      { dimension: index, set: complementSet(dimension.missing, dimension.size) },
    ].sort((a, b) => a.dimension - b.dimension);
    return [{ dimensions: pair.map((each) => each.dimension), sets: pair.map(({ set }) => set) }];
  });
}
