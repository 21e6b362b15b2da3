import type { PolicyChange } from "../definition/policy-change.js";
import type { Json } from "../model/json.js";
import type { InputValues, OverridePattern, OverridePatterns } from "../replay/override-patterns.js";
import { oneLine } from "../text.js";
import type { Style, View } from "./format.js";
import { fieldLine, headline } from "./format.js";
import { readableSeconds, readableTime } from "./record-text.js";
import { formatCount, formatPercent, plural } from "./text.js";
import { truncate } from "./text-width.js";

/** A pattern with the change that makes its override unnecessary, or the reason why there is none. */
export type SuggestedPattern = OverridePattern &
  (
    | { readonly suggestion: PolicyChange; readonly reason: null }
    | { readonly suggestion: null; readonly reason: string }
  );

/** The patterns of the overrides in a log, as `overrides --patterns --format json` prints them. */
export interface SuggestedPatterns extends Omit<OverridePatterns, "patterns"> {
  readonly patterns: readonly SuggestedPattern[];
}

export function patternsView(found: SuggestedPatterns): View {
  const { patterns } = found;
  return {
    value: found,
    items: patterns,
    plain: () => patterns.map(plainPattern).join("\n"),
    table: (style) => patterns.map((each) => describePattern(each, style)).join("\n\n"),
  };
}

const plainPattern = (each: SuggestedPattern): string =>
  [
    each.decision_id,
    each.policy,
    each.override,
    each.flips,
    each.denials,
    each.share.toFixed(4),
    each.sessions,
    each.callers,
    each.first,
    each.last,
    each.reason ?? changeText(each.suggestion, each),
  ]
    .map((cell) => oneLine(String(cell)))
    .join("\t");

function describePattern(pattern: SuggestedPattern, style: Style): string {
  const { policy, override, decision_id, override_decision_id: declaredIn } = pattern;
  const { flips, denials, share, sessions, callers, first, last, inputs, suggestion } = pattern;
  const field = (name: string, text: string): string => fieldLine(name, oneLine(text), style);
  const places = [sessions > 0 && plural(sessions, "session"), callers > 0 && plural(callers, "caller")];
  const counts = [
    `${formatCount(flips)} of ${plural(denials, "denial")} (${formatPercent(share)})`,
    ...places,
  ];
  const title = `${oneLine(override)} overrides ${oneLine(policy)}`;
  return [
    headline(style.paint("bold", title), style.paint("dim", oneLine(decision_id)), style),
    ...(declaredIn === decision_id ? [] : [field("declared", `in ${declaredIn}`)]),
    field("flips", counts.filter((each) => each !== false).join(", ")),
    field("time", `${readableTime(first).slice(0, 19)} to ${readableSeconds(last)}`),
    ...inputs.flatMap((each) => [field("reads", each.path), ...valueLines(each, style)]),
    ...(suggestion === null
      ? [field("no change", pattern.reason)]
      : [
          field("change", changeText(suggestion, pattern)),
          ...suggestion.policies.flatMap(({ conditions }) =>
            conditions.map(({ name, expression }) => field("condition", `${name}: ${expression}`)),
          ),
          ...suggestion.notes.map((note) => field("note", note)),
        ]),
  ].join("\n");
}

/** The most columns of a value in the table. */
const maxValueWidth = 60;

function valueLines(
  { values, distinct, other, missing, not_recorded }: InputValues,
  { columns }: Style,
): readonly string[] {
  const unlisted = distinct - values.length;
  const lines: readonly (readonly [count: number, text: string])[] = [
    ...values.map(({ value, count }) => [count, valueText(value)] as const),
    [other, plural(unlisted, "other value")],
    [missing, "(missing)"],
    [not_recorded, "(not recorded)"],
  ];
  const counts = lines.map(([count]) => formatCount(count));
  const width = Math.max(...counts.map((count) => count.length));
  const most = Math.min(maxValueWidth, columns - valueIndent - width - 2);
  return lines.flatMap(([count, text], index) =>
    count === 0
      ? []
      : [`${" ".repeat(valueIndent)}${counts[index]?.padStart(width) ?? ""}  ${truncate(text, most)}`],
  );
}

const valueIndent = 12;

const valueText = (value: Json): string => oneLine(JSON.stringify(value));

function changeText({ policies, still_overrides }: PolicyChange, { override }: OverridePattern): string {
  const changed = policies.map(({ name, version, conditions }) => {
    const named = version === null ? name : `${name} ${version}`;
    return conditions.length === 0 ? `${named} has no conditions` : `${named} has new conditions`;
  });
  const rest =
    still_overrides.length === 0
      ? `${override} is removed`
      : `${override} only overrides ${still_overrides.join(", ")}`;
  return [...changed, rest].join(", ");
}
