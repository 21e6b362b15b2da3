import type { Change } from "../definition/approval/changes.js";
import { orderedLike } from "../definition/approval/changes.js";
import type { Approval } from "../model/approval.js";
import type { Json, JsonObject } from "../model/json.js";
import { printable } from "../printable.js";
import type { Paint, View } from "./format.js";
import { lineDiff, withSurroundings } from "./line-diff.js";

/** A decision as it was approved, and as it is. */
export interface Diff {
  readonly decision_id: string;
  readonly approval: Approval;
  readonly before?: Version;
  readonly after?: Version;
  readonly changes: readonly Change[];
  readonly environment_changes: readonly Change[];
}

export interface Version {
  readonly definition: JsonObject;
  readonly environment: JsonObject;
}

export function diffView(diff: Diff): View {
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
        return [paint("bold", titles[part]), ...diffLines({ before, after, toYaml, paint })];
      });
      return [sentence(diff), ...parts].join("\n");
    },
  };
}

const titles = { definition: "definition", environment: "beside it (guardrails, targets, endpoints)" };

const plainChange =
  (part: string) =>
  ({ path, before, after }: Change): string =>
    [part, path, jsonOf(before), jsonOf(after)].map(printable).join("\t");

const jsonOf = (value: Json | undefined): string => (value === undefined ? "" : JSON.stringify(value));

function sentence({ decision_id, approval: { state, serial, at }, before, after }: Diff): string {
  const when = `approved with serial ${serial ?? 0} at ${at ?? ""}`;
  if (state === "retired") return `${decision_id} was retired with serial ${serial ?? 0}`;
  if (before === undefined) return `${decision_id} was never approved: there is nothing to compare it with`;
  if (after === undefined) return `${decision_id} was ${when}; its definition is not there`;
  if (state === "approved") return `${decision_id} is as it was ${when}`;
  if (state === "unknown") return `${decision_id}, compared with an approval that cannot be trusted`;
  return `${decision_id} changed since it was ${when}`;
}

function diffLines({
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
  return withSurroundings(lineDiff(old, young)).map((line) => {
    if (line === undefined) return paint("dim", "  …");
    const text = `${line.sign} ${printable(line.text)}`;
    if (line.sign === " ") return text;
    return paint(line.sign === "-" ? "red" : "green", text);
  });
}
