import { printable } from "../printable.js";
import type { View } from "./format.js";

/** A setting as it is shown; null where nothing sets it. */
export interface ShownSetting {
  readonly key: string;
  readonly value: string | number | boolean | null;
  readonly from: string | null;
}

export function settingsView(settings: readonly ShownSetting[]): View {
  const rows = settings.map(({ key, value, from }) => [key, String(value ?? ""), from ?? ""].map(printable));
  return {
    value: settings,
    items: settings,
    plain: () => rows.map((row) => row.join("\t")).join("\n"),
    table: async (style) => {
      const { grid } = await import("./grid.js");
      return grid([{ title: "key" }, { title: "value" }, { title: "from", flexible: true }], rows, style);
    },
  };
}

/** One setting: to people and scripts its value alone. */
export function settingView(setting: ShownSetting): View {
  const text = printable(String(setting.value ?? ""));
  return { value: setting, plain: () => text, table: () => text };
}
