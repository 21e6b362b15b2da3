import type { Limits } from "../../model/definition.js";
import type { Finding } from "../diagnostics.js";
import type { Path } from "../yaml-source.js";

/** Checks limits that fit the schema; the path is that of the policy or of the gate. */
export function checkLimits({ max_calls, max_sum }: Limits, path: Path): readonly Finding[] {
  return [
    ...checkDuration(max_calls?.per, [...path, "max_calls", "per"]),
    ...checkDuration(max_calls?.window, [...path, "max_calls", "window"]),
    ...checkDuration(max_sum?.window, [...path, "max_sum", "window"]),
    ...(max_calls?.window !== undefined && /^[0-9]/.test(max_calls.per)
      ? [
          {
            path: [...path, "max_calls", "window"],
            message: `\`per: ${max_calls.per}\` is a window already`,
            hint: "write `per: session`, `per: caller` or `per: org`",
          },
        ]
      : []),
  ];
}

function checkDuration(text: string | undefined, path: Path): readonly Finding[] {
  if (text === undefined || !/^[0-9]/.test(text) || /[1-9]/.test(text)) return [];
  const key = String(path.at(-1));
  return [{ path, message: `\`${key}\` must be longer than 0 (got ${JSON.stringify(text)})` }];
}
