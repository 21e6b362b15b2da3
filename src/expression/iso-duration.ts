/** A parsed ISO 8601 duration. Both numbers have its sign. */
export interface IsoDuration {
  /** Years and months: their length depends on the date that they are added to. */
  readonly months: number;
  /** Weeks, days (of 24 hours) and times. */
  readonly milliseconds: number;
  /** Whether it has hours, minutes or seconds. */
  readonly hasTime: boolean;
}

const isoDuration =
  /^([+-])?P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:([\d.,]+)W)?(?:([\d.,]+)D)?(T(?=.)(?:([\d.,]+)H)?(?:([\d.,]+)M)?(?:([\d.,]+)S)?)?$/;

/** Only the last number may have a fraction. */
const numbers = /^[^.,]*(?:\d[.,]\d{1,9}[WDHMS])?$/;

/** Parses an ISO 8601 duration such as `PT8H` or `P1DT12H`; undefined if it is invalid or too long. */
export function parseIsoDuration(text: string): IsoDuration | undefined {
  const found = isoDuration.exec(text);
  if (found === null || !numbers.test(text)) return undefined;
  const [, sign, years, months, weeks, days, time, hours, minutes, seconds] = found;
  const factor = sign === "-" ? -1 : 1;
  const duration = {
    months: factor * (whole(years) * 12 + whole(months)),
    milliseconds:
      factor *
      (inMilliseconds(weeks, 604_800_000) +
        inMilliseconds(days, 86_400_000) +
        inMilliseconds(hours, 3_600_000) +
        inMilliseconds(minutes, 60_000) +
        inMilliseconds(seconds, 1000)),
    hasTime: time !== undefined,
  };
  return isExact(duration.months) && isExact(duration.milliseconds) ? duration : undefined;
}

const whole = (digits = "0"): number => Number(digits);

/** Computes the fraction apart, so that `1.005` seconds are exactly 1005 milliseconds. */
function inMilliseconds(text = "0", unit: number): number {
  const [digits, fraction = "0"] = text.split(/[.,]/);
  return whole(digits) * unit + Math.round(Number(`0.${fraction}`) * unit * 1e6) / 1e6;
}

const isExact = (number: number): boolean => Math.abs(number) <= Number.MAX_SAFE_INTEGER;
