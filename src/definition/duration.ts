const units = { ms: 1e3, s: 1e6, m: 60e6, h: 3600e6, d: 86_400e6, w: 604_800e6 } as const;

/** The pattern of the schema. */
const durationPattern = /^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d|w))+$/;
const durationParts = /([0-9.]+)(ms|s|m|h|d|w)/g;

/** 200 years: the sum with a current time is still exact to the microsecond. */
export const maxDuration = 200 * 365.25 * units.d;

/** Parses a text such as `500ms`, `1.5h` or `1h30m` to microseconds, at most `maxDuration`. */
export function parseDuration(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(durationParts))
    sum += Number(number) * units[unit as keyof typeof units];
  return Math.min(Math.round(sum), maxDuration);
}
