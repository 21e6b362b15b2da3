/**
 * A UUID of version 7: sorts by time. The time comes to the microsecond, so that ids made one after the
 * other by one process are in order too; the rest is chance.
 */
export function newRecordId(microseconds: number, random: () => number): string {
  const milliseconds = Math.floor(microseconds / 1000);
  const time = timeText(milliseconds);
  const fraction = Math.floor(((microseconds - milliseconds * 1000) * 4096) / 1000);
  const variant = "89ab"[Math.floor(random() * 4)] ?? "8";
  return (
    `${time.slice(0, 8)}-${time.slice(8)}-7${hex(fraction, 3)}-` +
    `${variant}${digits(random, 3)}-${digits(random, 6)}${digits(random, 6)}`
  );
}

let lastTime = Number.NaN;
let lastTimeText = "";

/** Many are made in one millisecond, and numbers of this size are slow to write. */
function timeText(milliseconds: number): string {
  if (milliseconds !== lastTime) {
    lastTime = milliseconds;
    lastTimeText = milliseconds.toString(16).padStart(12, "0");
  }
  return lastTimeText;
}

const hex = (number: number, length: number): string => number.toString(16).padStart(length, "0");

const digits = (random: () => number, length: number): string =>
  hex(Math.floor(random() * 16 ** length), length);

/** The milliseconds that an id, or the beginning of one, may have been made in: the first and the last. */
export function idTimeRange(beginning: string): readonly [first: number, last: number] {
  const time = beginning.replaceAll("-", "").slice(0, 12);
  return [Number.parseInt(time.padEnd(12, "0"), 16), Number.parseInt(time.padEnd(12, "f"), 16)];
}
