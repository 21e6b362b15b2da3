import { isIntact, linkOf } from "./chain.js";

/** Whether a record's own line is byte for byte what was written; those around it may not be. */
export function isLineIntact(text: string): boolean {
  const line = Buffer.from(text);
  const link = linkOf(line);
  return link !== undefined && isIntact(line, link);
}
