import { printable } from "../printable.js";
import type { OverrideStatus } from "../record/overrides.js";
import type { Colour, View } from "./format.js";
import { windowText } from "./definition-rows.js";
import { readableTime } from "./record-text.js";

export function overridesView(overrides: readonly OverrideStatus[]): View {
  return {
    value: overrides,
    items: overrides,
    plain: () => overrides.map((each) => cells(each).join("\t")).join("\n"),
    table: async (style) => {
      if (overrides.length === 0) return "";
      const { grid } = await import("./grid.js");
      const rows = overrides.map((each) => {
        const [decision = "", name = "", version = "", , ...others] = cells(each);
        return [decision, name, version, style.paint(colours[each.status], each.status), ...others];
      });
      const left = columnsFor(overrides.map(cells), style.columns);
      const columns = titles
        .filter((_, index) => left.has(index))
        .map((title) => ({ title, ...(title === "window" && { flexible: true as const }) }));
      const shown = rows.map((row) => row.filter((_, index) => left.has(index)));
      return grid(columns, shown, style);
    },
  };
}

const titles = ["decision", "override", "version", "status", "window", "uses", "last used (UTC)", "record"];

/** What a narrow terminal goes without, first to last: record, version, window, last use, decision. */
const dispensable = [7, 2, 4, 6, 0];

function columnsFor(rows: readonly (readonly string[])[], width: number): ReadonlySet<number> {
  const left = new Set(titles.keys());
  const widthOf = (index: number): number =>
    [titles, ...rows].reduce((most, row) => Math.max(most, row[index]?.length ?? 0), 0) + 2;
  const total = (): number => [...left].reduce((sum, index) => sum + widthOf(index), -2);
  for (const index of dispensable) {
    if (total() <= width) break;
    left.delete(index);
  }
  return left;
}

const colours: Readonly<Record<OverrideStatus["status"], Colour>> = {
  live: "green",
  pending: "cyan",
  expired: "dim",
  used_up: "yellow",
};

function cells(each: OverrideStatus): readonly string[] {
  const { max_applications: most, uses, last_used: last } = each;
  return [
    each.decision_id,
    each.name,
    each.version,
    each.status,
    windowText(each),
    most === null ? String(uses) : `${uses} of ${most}`,
    last === null ? "never" : readableTime(last).slice(0, 19),
    each.records[0] ?? "",
  ].map(printable);
}
