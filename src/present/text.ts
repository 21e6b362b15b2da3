import { isAbsolute, relative, sep } from "node:path";

/** Returns an absolute path within a directory as a path relative to it, and others as they are. */
export function shortenPath(path: string, directory: string): string {
  if (!isAbsolute(path)) return path;
  const short = relative(directory, path);
  const isOutside = short === ".." || short.startsWith(`..${sep}`) || isAbsolute(short);
  return isOutside ? path : short || ".";
}

/** Formats a number with thousands separators. */
export const formatCount = (number: number): string => number.toLocaleString("en");

/** Formats a count with its noun: `1 record`, `2 records`. */
export const plural = (number: number, noun: string): string =>
  `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`;

const byteUnits = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? formatCount(bytes) : amount.toFixed(1)} ${byteUnits[power] ?? ""}`;
}

export const formatPercent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Draws a share from 0 to 1. A damaged record may contain any number. */
export function shareBar(share: number, width = 24): string {
  const filled = Math.min(width, Math.max(0, Math.round(share * width)));
  return "█".repeat(filled) + "░".repeat(width - filled);
}
