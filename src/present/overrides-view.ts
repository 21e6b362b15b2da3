import { printable } from "../printable.js";
import type { OverrideStatus } from "../record/overrides.js";
import type { Colour, View } from "./format.js";
import { readableTime } from "./record-text.js";

export function overridesView(overrides: readonly OverrideStatus[]): View {
  return {
    value: overrides,
    items: overrides,
    plain: () => overrides.map((each) => cells(each).join("\t")).join("\n"),
    table: async (style) => {
      if (overrides.length === 0) return "";
      const { grid } = await import("./grid.js");
      const titles = ["decision", "override", "version", "status"].map((title) => ({ title }));
      const rest = ["window", "uses", "last used (UTC)", "record"].map((title) => ({
        title,
        ...(title === "window" && { flexible: true as const }),
      }));
      const rows = overrides.map((each) => {
        const [decision = "", name = "", version = "", , ...others] = cells(each);
        return [decision, name, version, style.paint(colours[each.status], each.status), ...others];
      });
      return grid([...titles, ...rest], rows, style);
    },
  };
}

const colours: Readonly<Record<OverrideStatus["status"], Colour>> = {
  live: "green",
  pending: "cyan",
  expired: "dim",
  used_up: "yellow",
};

function cells(each: OverrideStatus): readonly string[] {
  const { effective_from: from, expires_at: until, max_applications: most, uses, last_used: last } = each;
  const window = from === null && until === null ? "always" : `${from ?? "…"} – ${until ?? "…"}`;
  return [
    each.decision_id,
    each.name,
    each.version,
    each.status,
    window,
    most === null ? String(uses) : `${uses} of ${most}`,
    last === null ? "never" : readableTime(last).slice(0, 19),
    each.records[0] ?? "",
  ].map(printable);
}
