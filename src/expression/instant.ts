const isoDate =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2}))?$/;

/**
 * Parses an ISO 8601 text to milliseconds since 1970; undefined if it is invalid. A date without a time is
 * midnight UTC. A time needs a zone, otherwise its meaning would depend on the machine.
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
  // Not Date.UTC: it maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(fields[0], fields[1] - 1, fields[2]);
  const instant = date.setUTCHours(fields[3], fields[4], fields[5], milliseconds);
  if (!isCalendarDate(fields, instant)) return undefined;
  const offset = zoneOffset(zone);
  return offset === undefined ? undefined : instant - offset;
}

/** Rejects dates such as 31 February, which a Date turns into a day of March. */
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

/** Returns the offset from UTC in milliseconds of a text that `parseInstant` accepts. */
export function zoneOffsetOf(text: string): number {
  return zoneOffset(isoDate.exec(text)?.[8] ?? "Z") ?? 0;
}

function zoneOffset(zone: string): number | undefined {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
