const isoDate =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2}))?$/;

/**
 * Milliseconds since 1970 of an ISO 8601 text, or undefined. A date alone is its midnight in UTC; a time
 * needs a zone, as it would otherwise mean something else on each machine.
 */
export function parseInstant(text: string): number | undefined {
  const found = isoDate.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "0", zone = "Z"] = found;
  const milliseconds = Math.floor(Number(`0.${fraction}`) * 1000);
  const fields = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  // Not Date.UTC, which takes the years 0 to 99 for those of the twentieth century.
  date.setUTCFullYear(fields[0], fields[1] - 1, fields[2]);
  const instant = date.setUTCHours(fields[3], fields[4], fields[5], milliseconds);
  if (!isCalendarDate(fields, instant)) return undefined;
  const offset = zoneOffset(zone);
  return offset === undefined ? undefined : instant - offset;
}

/** A Date rolls 31 February over into March; such a date is refused instead. */
function isCalendarDate(fields: readonly number[], instant: number): boolean {
  const date = new Date(instant);
  return (
    date.getUTCFullYear() === fields[0] &&
    date.getUTCMonth() + 1 === fields[1] &&
    date.getUTCDate() === fields[2] &&
    date.getUTCHours() === fields[3] &&
    date.getUTCMinutes() === fields[4] &&
    date.getUTCSeconds() === fields[5]
  );
}

function zoneOffset(zone: string): number | undefined {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
