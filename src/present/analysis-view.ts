import { gapText, maskedText, overlapText, unreachableText } from "../analysis/finding-texts.js";
import type { DecisionAnalysis } from "../analysis/findings.js";
import { countFailures } from "../analysis/findings.js";
import type { Path } from "../definition/yaml-source.js";
import type { Definition } from "../model/definition.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { JsonObject } from "../model/json.js";
import { markdownCode, markdownProse, markdownRow } from "../tables/markdown.js";
import { oneLine } from "../text.js";
import { githubAnnotations } from "./diagnostics-view.js";
import type { Style, View } from "./format.js";
import { hangingText, headline } from "./format.js";
import { formatCount, plural } from "./text.js";

/** The analysis of a definition, and where its parts are. */
export interface LocatedAnalysis {
  readonly analysis: DecisionAnalysis;
  readonly definition: Definition;
  readonly file: string;
  /** Of the decision. */
  readonly line: number;
  readonly lineOf: (path: Path) => number;
}

/** The findings of `decision analyze`. */
export function analysisView(analyses: readonly LocatedAnalysis[]): View {
  const decisions = analyses.map(({ analysis }) => toDocument(analysis));
  return {
    value: { decisions },
    items: decisions,
    plain: () => analyses.flatMap(plainLines).join("\n"),
    table: (style) =>
      [verdict(analyses, style), ...analyses.flatMap((each) => describe(each, style))].join("\n"),
  };
}

/** Leaves out what only texts need. What evaluation did not confirm is not claimed. */
function toDocument(analysis: DecisionAnalysis): object {
  const { decision_id, gaps, overlaps, masked, unreachable } = analysis;
  return {
    decision_id,
    gaps: gaps.map(({ region, input }) => ({ region, input })),
    overlaps: overlaps.map(({ rules, region, input }) => ({ rules, region, input })),
    masked: masked.map(({ rule, by, input }) => ({ rule, by: by.join(", "), input })),
    unreachable: unreachable.map(({ rule, reason }) => ({ rule, reason })),
    not_analysed: notAnalysed(analysis),
  };
}

const notAnalysed = ({ not_analysed, unconfirmed }: DecisionAnalysis): DecisionAnalysis["not_analysed"] => [
  ...not_analysed,
  ...unconfirmed.map((claim) => ({ rule: claim, reason: "evaluation did not confirm it" })),
];

interface ShownFinding {
  readonly kind: "gap" | "overlap" | "masked" | "unreachable";
  readonly rules: readonly string[];
  readonly text: string;
  readonly path: Path;
  readonly input?: JsonObject;
  /** Whether `--check` fails because of it. */
  readonly isFailure: boolean;
}

function findingsOf({ analysis, definition }: LocatedAnalysis): readonly ShownFinding[] {
  const { gaps, overlaps, masked, unreachable } = analysis;
  const gapPath =
    "default" in definition ? ["default"] : [definition.type === "gate" ? "rules" : "evaluators"];
  return [
    ...unreachable.map((each): ShownFinding => ({
      kind: "unreachable",
      rules: [each.rule],
      text: unreachableText(each),
      path: each.path,
      isFailure: true,
    })),
    ...masked.map((each): ShownFinding => {
      const { rule, path, input } = each;
      return {
        kind: "masked",
        rules: [rule],
        text: maskedText(each, definition),
        path,
        input,
        isFailure: true,
      };
    }),
    ...overlaps.map((each): ShownFinding => {
      const { rules, path, input } = each;
      return { kind: "overlap", rules, text: overlapText(each, definition), path, input, isFailure: true };
    }),
    ...gaps.map((each): ShownFinding => {
      const { input, isUnexpected: isFailure } = each;
      return { kind: "gap", rules: [], text: gapText(each, definition), path: gapPath, input, isFailure };
    }),
  ];
}

function plainLines(located: LocatedAnalysis): readonly string[] {
  const { analysis, file, lineOf } = located;
  const { decision_id } = analysis;
  const found = findingsOf(located).map(({ kind, text, path, input }) => [
    kind,
    `${file}:${lineOf(path)}`,
    decision_id,
    text,
    ...(input === undefined ? [] : [JSON.stringify(input)]),
  ]);
  const skipped = notAnalysed(analysis).map(({ rule, reason }) => [
    "not analysed",
    file,
    decision_id,
    `\`${rule}\`: ${reason}`,
  ]);
  return [...found, ...skipped].map((cells) => cells.map(oneLine).join("\t"));
}

function verdict(analyses: readonly LocatedAnalysis[], style: Style): string {
  const { paint } = style;
  const sum = (count: (analysis: DecisionAnalysis, definition: Definition) => number): number =>
    analyses.reduce((all, { analysis, definition }) => all + count(analysis, definition), 0);
  const failures = sum(countFailures);
  const expectedGaps = ({ gaps }: DecisionAnalysis): number =>
    gaps.filter(({ isUnexpected }) => !isUnexpected).length;
  const defaults = sum((each, definition) => ("default" in definition ? expectedGaps(each) : 0));
  const others = sum(expectedGaps) - defaults;
  const skipped = sum((each) => notAnalysed(each).length);
  const answer =
    failures === 0 ? paint("green", "✓ no findings") : paint("red", `✗ ${plural(failures, "finding")}`);
  const details = [
    plural(analyses.length, "decision"),
    plural(
      sum(({ conditions }) => conditions),
      "condition",
    ),
    ...(defaults === 0
      ? []
      : [`${plural(defaults, "region")} of input ${defaults === 1 ? "leads" : "lead"} to the default`]),
    ...(others === 0 ? [] : [`${plural(others, "region")} of input without a rule`]),
    ...(skipped === 0 ? [] : [`${formatCount(skipped)} not analysed`]),
  ];
  return headline(answer, details.join(", "), style);
}

/** More findings of one decision than this are counted. */
const maxShown = 20;

function describe(located: LocatedAnalysis, style: Style): readonly string[] {
  const { analysis, file, lineOf } = located;
  const { paint } = style;
  const findings = findingsOf(located);
  const blocks = findings.slice(0, maxShown).map(({ kind, text, path, input, isFailure }) => {
    const mark = isFailure ? paint("red", "✗") : paint("dim", "–");
    const place = paint("bold", oneLine(`${file}:${lineOf(path)}`));
    return [
      "",
      `${mark} ${place}  ${kind} in ${oneLine(analysis.decision_id)}`,
      indented(text, style),
      ...(input === undefined
        ? []
        : [`  ${paint("dim", "input")} ${hanging(JSON.stringify(input), style, 8)}`]),
    ];
  });
  const left = findings.length - maxShown;
  return [
    ...blocks.flat(),
    ...(left > 0
      ? ["", `${formatCount(left)} more of ${oneLine(analysis.decision_id)} in --format json`]
      : []),
    ...describeSkipped(located, style),
  ];
}

function describeSkipped({ analysis, file, definition }: LocatedAnalysis, style: Style): readonly string[] {
  const skipped = notAnalysed(analysis);
  if (skipped.length === 0) return [];
  const left = skipped.length - maxShown;
  return [
    "",
    `${style.paint("yellow", "!")} ${oneLine(file)}  not analysed in ${oneLine(definition.id)}`,
    ...skipped.slice(0, maxShown).map(({ rule, reason }) => indented(`\`${rule}\`: ${reason}`, style)),
    ...(left > 0 ? [`  ${formatCount(left)} more in --format json`] : []),
  ];
}

const indented = (text: string, style: Style): string => `  ${hanging(text, style, 2)}`;

const hanging = (text: string, style: Style, start: number): string =>
  hangingText(oneLine(text), style, { start, indent: start });

/** Annotates rules and decisions in a pull request: warnings for findings, else notices. */
export function analysisAnnotations(analyses: readonly LocatedAnalysis[], cwd: string): string {
  const annotated = analyses.flatMap((located): readonly Diagnostic[] => {
    const { analysis, definition, file, line, lineOf } = located;
    const found = findingsOf(located).map(({ kind, text, path, input, isFailure }): Diagnostic => ({
      file,
      line: lineOf(path),
      column: 1,
      severity: isFailure ? "warning" : "note",
      message: `${kind} in ${definition.id}: ${text}`,
      ...(input !== undefined && { hint: `for example ${JSON.stringify(input)}` }),
    }));
    const skipped = notAnalysed(analysis).map(({ rule, reason }): Diagnostic => ({
      file,
      line,
      column: 1,
      severity: "note",
      message: `not analysed in ${definition.id}: \`${rule}\`: ${reason}`,
    }));
    return [...found, ...skipped];
  });
  return githubAnnotations(annotated, cwd);
}

/** Writes the findings for a pull request. */
export function analysisMarkdown(analyses: readonly LocatedAnalysis[]): string {
  const failures = analyses.reduce((all, { analysis }) => all + countFailures(analysis), 0);
  const rows = analyses.flatMap((located) =>
    findingsOf(located).map(({ kind, text, path, input, isFailure }) =>
      markdownRow([
        isFailure ? `**${kind}**` : kind,
        markdownCode(located.analysis.decision_id),
        markdownCode(`${located.file}:${located.lineOf(path)}`),
        markdownProse(text),
        input === undefined ? "" : markdownCode(JSON.stringify(input)),
      ]),
    ),
  );
  const skipped = analyses.flatMap(({ analysis }) =>
    notAnalysed(analysis).map(
      ({ rule, reason }) =>
        `- ${markdownCode(analysis.decision_id)}, ${markdownCode(rule)}: ${markdownProse(reason)}`,
    ),
  );
  const titles = ["Finding", "Decision", "Place", "What", "Input"];
  return [
    `### Analysis of decisions: ${failures === 0 ? "no findings" : plural(failures, "finding")}`,
    ...(rows.length === 0 ? [] : ["", markdownRow(titles), markdownRow(titles.map(() => "---")), ...rows]),
    ...(skipped.length === 0 ? [] : ["", "Not analysed:", "", ...skipped]),
    "",
  ].join("\n");
}
