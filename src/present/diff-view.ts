import { structuredPatch } from "diff";
import type { Change } from "../definition/approval/changes.js";
import { orderedLike } from "../definition/approval/changes.js";
import type { Approval } from "../model/approval.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Paint, View } from "./format.js";
import { loadYaml } from "./format.js";
import { printable } from "../text.js";

/** A decision as it was approved, and as it is now. */
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
      const toYaml = await loadYaml();
      const parts = (["definition", "environment"] as const).flatMap((part) => {
        const before = diff.before?.[part];
        const after = diff.after?.[part];
        const isSame = (part === "definition" ? changes : environment_changes).length === 0;
        if (isSame) return [];
        return [paint("bold", partTitles[part]), ...yamlDiffLines({ before, after, toYaml, paint })];
      });
      return [summarySentence(diff), ...parts].join("\n");
    },
  };
}

const partTitles = {
  definition: "definition",
  environment: "environment (guardrails, targets, endpoints, masks, overrides, observers)",
};

const plainChange =
  (part: string) =>
  ({ path, before, after }: Change): string =>
    [part, path, jsonOf(before), jsonOf(after)].map(printable).join("\t");

const jsonOf = (value: Json | undefined): string => (value === undefined ? "" : JSON.stringify(value));

function summarySentence({ decision_id: id, approval, before, after }: DefinitionDiff): string {
  const { state, serial = 0, at = "" } = approval;
  const approved = `approved with serial ${serial} at ${at}`;
  if (state === "retired") return `${id} was retired with serial ${serial}`;
  if (before === undefined) return `${id} was never approved: nothing to compare`;
  if (after === undefined) return `${id} was ${approved}; its definition no longer exists`;
  if (state === "approved") return `${id} is unchanged since it was ${approved}`;
  if (state === "unknown") return `${id}, compared with an untrusted approval`;
  return `${id} changed since it was ${approved}`;
}

interface YamlDiff {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  readonly toYaml: (value: unknown) => string;
  readonly paint: Paint;
}

function yamlDiffLines({ before, after, toYaml, paint }: YamlDiff): readonly string[] {
  const oldText = before === undefined ? "" : toYaml(before);
  const newText = after === undefined ? "" : toYaml(orderedLike(after, before));
  return diffLines(oldText, newText).map((line) => {
    if (line === omission) return paint("dim", `  ${omission}`);
    const sign = line.charAt(0);
    const text = `${sign} ${printable(line.slice(1))}`;
    if (sign === " ") return text;
    return paint(sign === "-" ? "red" : "green", text);
  });
}

/** Stands for unchanged lines after a change. */
const omission = "…";

/** With more changed lines than this, all lines count as changed: comparing them takes too long. */
const maxEditLength = 2000;

/** Returns the changed lines with some context, each with its sign (`-`, `+` or a space) in front. */
export function diffLines(before: string, after: string, context = 3): readonly string[] {
  const patch = structuredPatch("", "", before, after, "", "", { context, maxEditLength });
  const oldLines = splitLines(before);
  if (patch === undefined) {
    return [...oldLines.map((line) => `-${line}`), ...splitLines(after).map((line) => `+${line}`)];
  }
  return patch.hunks.flatMap((hunk) => {
    const isLast = hunk.oldStart - 1 + hunk.oldLines >= oldLines.length;
    return [...hunk.lines.filter(isContent), ...(isLast ? [] : [omission])];
  });
}

/** The library adds a line that starts with a backslash where the last line has no line break. */
const isContent = (line: string): boolean => !line.startsWith("\\");

const splitLines = (text: string): readonly string[] =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n");
