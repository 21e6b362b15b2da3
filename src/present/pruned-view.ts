import type { Prunable } from "../model/store.js";
import { byteCount, count } from "./amounts.js";
import type { View } from "./format.js";

export function prunedView({ records, through, bytes }: Prunable): View {
  return {
    value: { removed: records, through, bytes },
    plain: () => `${records}\t${through}\t${bytes}`,
    table: () =>
      records === 0
        ? "nothing to remove"
        : `removed ${count(records)} record${records === 1 ? "" : "s"}, up to number ${count(through)} (${byteCount(bytes)})`,
  };
}
