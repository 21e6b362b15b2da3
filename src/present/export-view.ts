import { printable } from "../printable.js";
import type { Manifest } from "../store/export-manifest.js";
import { byteCount, count } from "./amounts.js";
import type { Style } from "./format.js";

export function exportSummary(
  { records, complete, log, files, key }: Manifest,
  { where, sha256 }: { readonly where: string; readonly sha256: string },
  { paint }: Style,
): string {
  const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(8))} ${value}\n`;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const share = complete ? "all that the log holds" : `of ${count(log.size)} in all`;
  return (
    `${paint("bold", `${count(records)} record${records === 1 ? "" : "s"} exported`)}, ${share}\n\n` +
    field("where", printable(where)) +
    field("size", byteCount(bytes)) +
    field("manifest", sha256) +
    field("signed", key === undefined ? "no" : `with the key ${key}`)
  );
}
