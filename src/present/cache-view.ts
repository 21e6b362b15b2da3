import type { CacheStatus } from "../record/cache-status.js";
import { byteCount, count } from "./amounts.js";
import type { View } from "./format.js";

export function cacheStatusView(status: CacheStatus): View {
  const { entries, live, expired, hits, misses, size, where, decisions } = status;
  const asked = hits + misses;
  return {
    value: status,
    plain: () =>
      Object.entries({ entries, live, expired, hits, misses, size, where })
        .map(([name, value]) => `${name}\t${value}`)
        .join("\n"),
    table: ({ paint }) => {
      const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(8))} ${value}`;
      const rate = asked === 0 ? "" : ` (${((hits / asked) * 100).toFixed(1)} % of ${count(asked)})`;
      return [
        `${paint("bold", `${count(live)} answer${live === 1 ? "" : "s"} cached`)}${expired === 0 ? "" : `, ${count(expired)} expired`}`,
        "",
        field("hits", `${count(hits)}${rate}`),
        field("misses", count(misses)),
        field("size", byteCount(size)),
        field("where", where),
        ...decisions.map((each, index) =>
          field(
            index === 0 ? "of" : "",
            `${each.decision_id}  ${count(each.live)} of ${count(each.entries)} live`,
          ),
        ),
      ].join("\n");
    },
  };
}

export function removedView(removed: number, decisionId?: string): View {
  const whose = decisionId === undefined ? "" : ` of ${decisionId}`;
  return {
    value: decisionId === undefined ? { removed } : { decision_id: decisionId, removed },
    plain: () => String(removed),
    table: () => `${count(removed)} cached answer${removed === 1 ? "" : "s"}${whose} removed`,
  };
}
