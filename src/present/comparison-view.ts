import type { Comparison, Difference, NotCompared } from "../analysis/compare.js";
import { markdownCode, markdownProse, markdownRow, markdownText } from "../tables/markdown.js";
import { oneLine } from "../text.js";
import type { Style, View } from "./format.js";
import { fieldLine } from "./format.js";
import { formatCount, plural } from "./text.js";

/** Which definitions were compared, and the result. */
export interface ComparedDefinitions {
  readonly id: string;
  /** The file or directory of the other definition. */
  readonly against: string;
  readonly comparison: Comparison;
}

interface ComparisonDocument {
  readonly equivalent: boolean;
  readonly differences: readonly Difference[];
  readonly not_compared: readonly NotCompared[];
}

/** Definitions are equivalent only if that is proven. */
function toDocument(comparison: Comparison): ComparisonDocument {
  const differences = comparison.result === "different" ? comparison.differences : [];
  const not_compared = comparison.result === "equivalent" ? [] : comparison.not_compared;
  return { equivalent: comparison.result === "equivalent", differences, not_compared };
}

export function comparisonView(compared: ComparedDefinitions): View {
  const document = toDocument(compared.comparison);
  return {
    value: document,
    plain: () => plainLines(compared, document).join("\n"),
    table: (style) => describe(compared, document, style),
  };
}

function plainLines(
  { id, comparison }: ComparedDefinitions,
  document: ComparisonDocument,
): readonly string[] {
  const { differences, not_compared } = document;
  return [
    [comparison.result, id],
    ...differences.map(({ from, to, region, input }) => [
      "difference",
      from,
      to,
      region,
      JSON.stringify(input),
    ]),
    ...not_compared.map(({ part, reason }) => ["not compared", part, reason]),
  ].map((cells) => cells.map(oneLine).join("\t"));
}

/** More differences than this are counted. */
const maxShown = 20;

function describe(
  { id, against, comparison }: ComparedDefinitions,
  { differences, not_compared }: ComparisonDocument,
  style: Style,
): string {
  const { paint } = style;
  const left = differences.length - maxShown;
  const shown = differences
    .slice(0, maxShown)
    .flatMap(({ from, to, region, input }) => [
      "",
      fieldLine("where", oneLine(region), style),
      fieldLine("before", oneLine(from), style),
      fieldLine("after", paint("yellow", oneLine(to)), style),
      fieldLine("input", oneLine(JSON.stringify(input)), style),
    ]);
  const skipped = not_compared.map(({ part, reason }) =>
    fieldLine("not compared", oneLine(`${part}: ${reason}`), style, 12),
  );
  return [
    `${paint("bold", verdict(comparison, style))}  ${oneLine(id)} against ${oneLine(against)}`,
    ...shown,
    ...(left > 0 ? ["", `${formatCount(left)} more in --format json`] : []),
    ...(skipped.length > 0 ? ["", ...skipped] : []),
  ].join("\n");
}

function verdict(comparison: Comparison, { paint }: Style): string {
  switch (comparison.result) {
    case "equivalent":
      return paint("green", "✓ equivalent");
    case "different":
      return paint("red", `✗ ${plural(comparison.differences.length, "difference")}`);
    case "unknown":
      return paint("yellow", "! not proven equivalent");
  }
}

/** Writes the comparison for a pull request. */
export function comparisonMarkdown({ id, against, comparison }: ComparedDefinitions): string {
  const { differences, not_compared } = toDocument(comparison);
  const summaries = {
    equivalent: `gives the same answers as in ${markdownCode(against)}`,
    different: `gives other answers in ${markdownCode(against)}`,
    unknown: `is not proven to give the same answers as in ${markdownCode(against)}`,
  };
  const titles = ["Where", "Before", "After", "Example"];
  const rows = differences.map(({ from, to, region, input }) =>
    markdownRow([
      markdownCode(region),
      markdownText(from),
      markdownText(to),
      markdownCode(JSON.stringify(input)),
    ]),
  );
  const skipped = not_compared.map(({ part, reason }) => `- ${markdownProse(`${part}: ${reason}`)}`);
  return [
    `### ${markdownCode(id)} ${summaries[comparison.result]}`,
    ...(rows.length === 0 ? [] : ["", markdownRow(titles), markdownRow(titles.map(() => "---")), ...rows]),
    ...(skipped.length === 0 ? [] : ["", "Not compared:", "", ...skipped]),
    "",
  ].join("\n");
}
