import type { KnownBeginning } from "./beginnings.js";
import type { KeyHash } from "./key-hash.js";
import { hasEntity } from "./key-hash.js";
import { LineCursor } from "./line-cursor.js";
import { takeCacheKeys, takeLineage, takeProvenance } from "./line-keys.js";
import { hasNoPolicies, takePolicies } from "./policy-keys.js";
import { keysOf, sourcesIn } from "./record-hashes.js";
import { parseLine } from "./shape-of.js";
import type { Shapes } from "./shapes.js";

/** The line of a decision, and what is known of it. */
export interface DecisionLine {
  readonly line: Buffer;
  readonly from: number;
  readonly end: number;
  readonly known: KnownBeginning;
  /** Where the known beginning begins. */
  readonly start: number;
  /** Which of the known beginnings it begins with. */
  readonly knows: "shape" | "longer" | "bare";
  /** Where its labels end. */
  readonly labelsEnd: number;
}

/** What a decision is looked up by; learns on the way what its definition reads. */
export function decisionKeys(decision: DecisionLine, shapes: Shapes): readonly KeyHash[] {
  if (isBare(decision, shapes)) return none;
  const found: KeyHash[] = [];
  const keys = takeKeys(decision, shapes, found) ? found : parsedKeys(decision);
  if (hasEntity(keys))
    shapes.learnSources(decision.known.shape, () => {
      const record = parseLine(textOf(decision));
      return record === undefined ? [] : sourcesIn(record);
    });
  return keys;
}

const none: readonly KeyHash[] = [];

/** Most have nothing that they are looked up by, and are quickly told. */
function isBare({ line, end, known, start, knows }: DecisionLine, shapes: Shapes): boolean {
  const { bare, policiesAt, shape } = known;
  if (knows !== "bare" || bare === undefined || policiesAt === undefined) return false;
  if (shapes.list[shape]?.type === "policy") return false;
  return hasNoPolicies(line, start + bare.length + policiesAt, end);
}

const textOf = ({ line, from, end }: DecisionLine): string => line.toString("utf8", from, end);

/** By taking all of the line apart. */
function parsedKeys(decision: DecisionLine): readonly KeyHash[] {
  const record = parseLine(textOf(decision));
  return record === undefined ? none : keysOf(record);
}

const lineage = Buffer.from(`,"lineage":{"entities":[`);
const anyLineage = Buffer.from(`"lineage":`);

/** False where the line is to be parsed. */
function takeKeys(decision: DecisionLine, shapes: Shapes, keys: KeyHash[]): boolean {
  const { known } = decision;
  const cursor = atProvenance(decision, keys);
  if (cursor === undefined) return false;
  const isPolicy = shapes.list[known.shape]?.type === "policy";
  const isPlain = keys.length === 0 && cursor.sees(lineage);
  if (!takeProvenance(cursor, keys)) return false;
  // Older records had no lineage, but for those of policies, which had it at the end.
  if (!cursor.takes(lineage)) return !isPolicy && !cursor.seeks(anyLineage);
  if (!takeLineage(cursor, () => shapes.seedOf(known.shape), keys)) return false;
  if (isPlain && keys.length === 0)
    known.bare = Buffer.from(decision.line.subarray(decision.start, cursor.at));
  return takePolicies(cursor, known, { isPolicy, keys });
}

function atProvenance(
  { line, start, end, labelsEnd, known, knows }: DecisionLine,
  keys: KeyHash[],
): LineCursor | undefined {
  if (knows !== "shape") return new LineCursor(line, start + (known.longer?.length ?? 0), end);
  const cursor = new LineCursor(line, labelsEnd, end);
  if (!takeCacheKeys(cursor, keys)) return undefined;
  if (keys.length === 0) {
    known.longer = Buffer.from(line.subarray(start, cursor.at));
    known.bare = undefined;
  }
  return cursor;
}
