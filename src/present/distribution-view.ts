import type {
  BranchShare,
  DefinitionDistribution,
  Distribution,
  PeriodCounts,
  ShareCheck,
} from "../record/distribution.js";
import type { Colour, Style, View } from "./format.js";
import { displayWidth } from "./text-width.js";
import { formatCount, formatPercent, plural, shareBar } from "./text.js";
import { oneLine } from "../text.js";

export function distributionView(distribution: Distribution): View {
  const { branches, other_definitions: others = [], periods } = distribution;
  return {
    value: distribution,
    plain: () =>
      periods === undefined
        ? [
            ...branches.map((branch) => plainBranch(branch)),
            ...others.flatMap((other) => other.branches.map((branch) => plainBranch(branch, other))),
          ].join("\n")
        : periods.flatMap((period) => plainPeriod(period, branches)).join("\n"),
    table: (style) => describeDistribution(distribution, style),
  };
}

/** Branches of another definition end with its hash. */
function plainBranch(
  { label, target, count, share, expected_share }: BranchShare,
  other?: DefinitionDistribution,
): string {
  const expected = expected_share === null ? "" : rounded(expected_share);
  const cells = [oneLine(label), oneLine(target ?? ""), count, rounded(share), expected];
  return [...cells, ...(other === undefined ? [] : [other.definition_hash ?? ""])].join("\t");
}

function plainPeriod(period: PeriodCounts, branches: readonly BranchShare[]): readonly string[] {
  return branchesOf(period, branches).map(({ label, count, share }) =>
    [period.period, oneLine(label), count, rounded(share)].join("\t"),
  );
}

/** Returns the branches with their counts and shares in the period. */
function branchesOf(
  { total, counts }: PeriodCounts,
  branches: readonly BranchShare[],
): readonly BranchShare[] {
  return branches.map((branch) => {
    const count = Object.hasOwn(counts, branch.label) ? (counts[branch.label] ?? 0) : 0;
    return { ...branch, count, share: total === 0 ? 0 : count / total };
  });
}

function rounded(share: number): number {
  return Number(share.toFixed(6));
}

async function describeDistribution(distribution: Distribution, style: Style): Promise<string> {
  const { decision_id, total, all_total, periods, other_definitions } = distribution;
  const isCurrent = distribution.definition_hash === distribution.current_definition_hash;
  const name = isCurrent ? decision_id : `${decision_id}, ${definitionName(distribution)}`;
  const parts = [await describeDefinition(name, distribution, style)];
  const others = all_total - total;
  if (others > 0 && other_definitions === undefined) {
    const which = isCurrent ? "earlier" : "other";
    const text = `${plural(others, "record")} of ${which} definitions not counted; see --all-definitions`;
    parts.push(style.paint("dim", text));
  }
  if (periods !== undefined) parts.push(await describePeriods(periods, distribution, style));
  for (const other of other_definitions ?? [])
    parts.push(await describeDefinition(definitionName(other), other, style));
  return parts.join("\n\n");
}

function definitionName({ definition_hash, decision_version }: DefinitionDistribution): string {
  const version = decision_version === null ? "" : ` (${decision_version})`;
  return `definition ${definition_hash?.slice(0, 12) ?? "unknown"}${version}`;
}

async function describeDefinition(
  name: string,
  distribution: DefinitionDistribution,
  style: Style,
): Promise<string> {
  const { branches, check, distinct_inputs } = distribution;
  const dim = (text: string): string => style.paint("dim", text);
  const { rows, folded } = foldUnused(branches);
  const isPartial = check !== null && check.sample > 0 && check.sample !== distinct_inputs;
  const lines = [headline(name, distribution, style)];
  if (isPartial)
    lines.push(
      dim(`the check uses the ${plural(check.sample, "distinct input")} that the weights have split`),
    );
  if (rows.length > 0) lines.push("", await table(rows, style));
  if (folded > 0) lines.push(dim(`and ${formatCount(folded)} more that were never selected`));
  return lines.join("\n");
}

/** Lists each period with the branches that were selected in it. */
async function describePeriods(
  periods: readonly PeriodCounts[],
  { branches }: Distribution,
  style: Style,
): Promise<string> {
  if (periods.length === 0) return style.paint("dim", "no records in any period");
  const rows = periods.flatMap((period) => {
    const selected = branchesOf(period, branches).filter(({ count }) => count > 0);
    return selected.map((branch, index) => ({ branch, name: index === 0 ? period.period : "" }));
  });
  const first = { title: "period", cells: rows.map(({ name }) => name) };
  return await table(
    rows.map(({ branch }) => branch),
    style,
    first,
  );
}

/** Sums up the distribution on one line, or on more where the terminal is narrow. */
function headline(
  name: string,
  { total, distinct_inputs, check }: DefinitionDistribution,
  style: Style,
): string {
  const inputs = distinct_inputs === null ? "inputs masked" : plural(distinct_inputs, "distinct input");
  const parts: { readonly text: string; readonly colour?: Colour }[] = [
    { text: oneLine(name), colour: "bold" },
    { text: `${plural(total, "record")}, ${inputs}` },
    ...(check === null ? [] : [verdict(check)]),
  ];
  let column = -2;
  const shown = parts.map(({ text, colour }) => {
    const fits = column + 2 + displayWidth(text) <= style.columns;
    const gap = column < 0 ? "" : fits ? "  " : "\n";
    column = fits ? column + 2 + displayWidth(text) : displayWidth(text);
    return gap + (colour === undefined ? text : style.paint(colour, text));
  });
  return shown.join("");
}

function verdict({ mismatch, reliable, p_value, e_value }: ShareCheck): {
  readonly text: string;
  readonly colour: Colour;
} {
  const values = `(e = ${shortNumber(e_value)}, p = ${shortNumber(p_value)})`;
  if (mismatch) return { text: `✗ not as expected ${values}`, colour: "red" };
  if (!reliable) return { text: "– too few inputs to tell", colour: "yellow" };
  return { text: `✓ as expected ${values}`, colour: "green" };
}

function shortNumber(value: number): string {
  const rounded = Number(value.toPrecision(2));
  return rounded < 1e6 ? String(rounded) : rounded.toExponential().replace("+", "");
}

/** Drops the branches that were never selected from a long table. */
function foldUnused(branches: readonly BranchShare[]): {
  readonly rows: readonly BranchShare[];
  readonly folded: number;
} {
  if (branches.length <= maxRows) return { rows: branches, folded: 0 };
  const rows = branches.filter(({ count }) => count > 0);
  return { rows, folded: branches.length - rows.length };
}

const maxRows = 30;

interface ShownColumn {
  readonly title: string;
  readonly cells: readonly string[];
  readonly flexible?: boolean;
}

async function table(branches: readonly BranchShare[], style: Style, first?: ShownColumn): Promise<string> {
  const { grid } = await import("./grid.js");
  const columns = columnsFor(branches, style.columns, first);
  const rows = branches.map((_, row) => columns.map(({ cells }) => cells[row] ?? ""));
  const isMarked = columns.at(-1)?.title === barTitle && branches.some(hasMark);
  return (
    grid(columns, rows, style) + (isMarked ? `\n${style.paint("dim", `${mark} the expected share`)}` : "")
  );
}

/** Picks the columns that fit: a shorter bar, no bar, and then no target on narrow terminals. */
function columnsFor(
  branches: readonly BranchShare[],
  width: number,
  first?: ShownColumn,
): readonly ShownColumn[] {
  const period = first === undefined ? [] : [first];
  const label = {
    title: "label",
    cells: branches.map((each) => oneLine(each.label)),
    flexible: true,
  } as const;
  const target = { title: "target", cells: branches.map(targetCell) };
  const targets = branches.some((each) => each.target !== null) ? [target] : [];
  const numbers = [
    rightAligned(
      "count",
      branches.map(({ count }) => formatCount(count)),
    ),
    rightAligned(
      "share",
      branches.map(({ share }) => formatPercent(share)),
    ),
    ...expectedColumn(branches),
  ];
  const barOf = (length: number): ShownColumn => ({
    title: barTitle,
    cells: branches.map((each) => markedBar(each, length)),
  });
  const choices = [
    [...period, label, ...targets, ...numbers, barOf(24)],
    [...period, label, ...targets, ...numbers, barOf(12)],
    [...period, label, ...targets, ...numbers],
  ];
  return choices.find((columns) => totalWidth(columns) <= width) ?? [...period, label, ...numbers];
}

function targetCell({ target }: BranchShare): string {
  return target === null ? "–" : oneLine(target);
}

function expectedColumn(branches: readonly BranchShare[]): readonly ShownColumn[] {
  if (branches.every(({ expected_share }) => expected_share === null)) return [];
  const cells = branches.map(({ expected_share: share }) => (share === null ? "–" : formatPercent(share)));
  return [rightAligned("expected", cells)];
}

function rightAligned(title: string, cells: readonly string[]): ShownColumn {
  const width = longest([title, ...cells]);
  return { title: title.padStart(width), cells: cells.map((cell) => cell.padStart(width)) };
}

const barTitle = "";
const mark = "│";

function hasMark({ expected_share }: BranchShare): boolean {
  return expected_share !== null && expected_share > 0;
}

/** Draws a mark where a bar of the expected share would end. */
function markedBar(branch: BranchShare, length: number): string {
  const plain = shareBar(Math.min(branch.share, 1), length);
  if (!hasMark(branch)) return plain;
  const at = Math.max(0, Math.round((branch.expected_share ?? 0) * length) - 1);
  return plain.slice(0, at) + mark + plain.slice(at + 1);
}

function totalWidth(columns: readonly ShownColumn[]): number {
  return columns.reduce((sum, { title, cells }) => sum + longest([title, ...cells]) + 2, -2);
}

function longest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
}
