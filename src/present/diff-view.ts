import type { Paint, View } from "./format.js";
import type { Change } from "../definition/approval/changes.js";
import { orderedLike } from "../definition/approval/changes.js";
import type { Approval } from "../model/approval.js";
import type { Json, JsonObject } from "../model/json.js";
import { printable } from "../text.js";

/** A decision as it was approved, and as it is. */
export interface DefinitionDiff {
  readonly decision_id: string;
  readonly approval: Approval;
  readonly before?: DefinitionVersion;
  readonly after?: DefinitionVersion;
  readonly changes: readonly Change[];
  readonly environment_changes: readonly Change[];
}

export interface DefinitionVersion {
  readonly definition: JsonObject;
  readonly environment: JsonObject;
}

export function diffView(diff: DefinitionDiff): View {
  const { decision_id, approval, changes, environment_changes } = diff;
  return {
    value: { decision_id, ...approval, changes, environment_changes },
    plain: () =>
      [
        ...changes.map(plainChange("definition")),
        ...environment_changes.map(plainChange("environment")),
      ].join("\n"),
    table: async ({ paint }) => {
      const { toYaml } = await import("./yaml.js");
      const parts = (["definition", "environment"] as const).flatMap((part) => {
        const before = diff.before?.[part];
        const after = diff.after?.[part];
        const isSame = (part === "definition" ? changes : environment_changes).length === 0;
        if (isSame) return [];
        return [paint("bold", partTitles[part]), ...yamlDiffLines({ before, after, toYaml, paint })];
      });
      return [diffSentence(diff), ...parts].join("\n");
    },
  };
}

const partTitles = { definition: "definition", environment: "beside it (guardrails, targets, endpoints)" };

const plainChange =
  (part: string) =>
  ({ path, before, after }: Change): string =>
    [part, path, jsonOf(before), jsonOf(after)].map(printable).join("\t");

const jsonOf = (value: Json | undefined): string => (value === undefined ? "" : JSON.stringify(value));

function diffSentence({
  decision_id,
  approval: { state, serial, at },
  before,
  after,
}: DefinitionDiff): string {
  const when = `approved with serial ${serial ?? 0} at ${at ?? ""}`;
  if (state === "retired") return `${decision_id} was retired with serial ${serial ?? 0}`;
  if (before === undefined) return `${decision_id} was never approved: there is nothing to compare it with`;
  if (after === undefined) return `${decision_id} was ${when}; its definition is not there`;
  if (state === "approved") return `${decision_id} is as it was ${when}`;
  if (state === "unknown") return `${decision_id}, compared with an approval that cannot be trusted`;
  return `${decision_id} changed since it was ${when}`;
}

function yamlDiffLines({
  before,
  after,
  toYaml,
  paint,
}: {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  readonly toYaml: (value: unknown) => string;
  readonly paint: Paint;
}): readonly string[] {
  const old = before === undefined ? "" : toYaml(before);
  const young = after === undefined ? "" : toYaml(orderedLike(after, before));
  return withContextLines(lineDiff(old, young)).map((line) => {
    if (line === undefined) return paint("dim", "  …");
    const text = `${line.sign} ${printable(line.text)}`;
    if (line.sign === " ") return text;
    return paint(line.sign === "-" ? "red" : "green", text);
  });
}

/** A line of two texts: in both, or in one of them. */
interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Beyond so many comparisons the middle is shown as wholly other. */
const mostComparisons = 4_000_000;

/** What to take out of one text and put in to get the other: as little as possible. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const old = linesOf(before);
  const young = linesOf(after);
  const start = sharedAtStart(old, young);
  const end = sharedAtStart(old.slice(start).reverse(), young.slice(start).reverse());
  const middle = between(old.slice(start, old.length - end), young.slice(start, young.length - end));
  return [...marked(" ", old.slice(0, start)), ...middle, ...marked(" ", old.slice(old.length - end))];
}

const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

const marked = (sign: DiffLine["sign"], lines: readonly string[]): readonly DiffLine[] =>
  lines.map((text) => ({ sign, text }));

function sharedAtStart(a: readonly string[], b: readonly string[]): number {
  const length = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < length && a[shared] === b[shared]) shared++;
  return shared;
}

function between(old: readonly string[], young: readonly string[]): readonly DiffLine[] {
  if (old.length * young.length > mostComparisons) return [...marked("-", old), ...marked("+", young)];
  const common = commonLengths(old, young);
  const lines: DiffLine[] = [];
  let at = 0;
  let on = 0;
  while (at < old.length && on < young.length) {
    const text = old[at] ?? "";
    if (text === young[on]) {
      lines.push({ sign: " ", text });
      at++;
      on++;
    } else if ((common[at + 1]?.[on] ?? 0) >= (common[at]?.[on + 1] ?? 0)) {
      lines.push({ sign: "-", text });
      at++;
    } else lines.push({ sign: "+", text: young[on++] ?? "" });
  }
  return [...lines, ...marked("-", old.slice(at)), ...marked("+", young.slice(on))];
}

/** How many lines the rests have in common, by where they begin. */
function commonLengths(old: readonly string[], young: readonly string[]): readonly Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(young.length + 1));
  for (let at = old.length - 1; at >= 0; at--) {
    for (let on = young.length - 1; on >= 0; on--) {
      const row = table[at];
      const below = table[at + 1];
      if (row === undefined || below === undefined) continue;
      const isSame = old[at] === young[on];
      row[on] = isSame ? (below[on + 1] ?? 0) + 1 : Math.max(below[on] ?? 0, row[on + 1] ?? 0);
    }
  }
  return table;
}

/** Changed lines with some around them; what is left out between is told as undefined. */
export function withContextLines(lines: readonly DiffLine[], around = 3): readonly (DiffLine | undefined)[] {
  const near = new Set<number>();
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    for (let at = index - around; at <= index + around; at++) near.add(at);
  }
  return lines.flatMap((line, index) => {
    if (near.has(index)) return [line];
    return index > 0 && near.has(index - 1) && index < lines.length ? [undefined] : [];
  });
}
