import { printable } from "../text.js";

export const formatCount = (number: number): string => number.toLocaleString("en");

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? formatCount(bytes) : amount.toFixed(1)} ${units[power] ?? ""}`;
}

/** A text as one line of a list or a table. */
export function oneLine(text: string): string {
  return /^[ -~]*$/.test(text) ? text : printable(text.replace(/\s*[\t\n\r]\s*/g, " "));
}
