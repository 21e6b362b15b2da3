export const count = (number: number): string => number.toLocaleString("en");

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function byteCount(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? count(bytes) : amount.toFixed(1)} ${units[power] ?? ""}`;
}
