import * as crypto from "node:crypto";

/** Returns the SHA-256 of a text in UTF-8, as 64 hex digits. */
export const sha256Hex = (text: string): string => digest(text);

/** Returns the SHA-256 of bytes, as 64 hex digits. */
export const sha256OfBytes = (bytes: Uint8Array): string => digest(bytes);

/** `crypto.hash` takes half the time of `createHash`, but Node has it only since 20.12. */
const digest: (data: string | Uint8Array) => string =
  (crypto.hash as unknown) === undefined
    ? (data) => crypto.createHash("sha256").update(data).digest("hex")
    : (data) => crypto.hash("sha256", data);

/** Detects accidental damage, not tampering: FNV-1a over the UTF-16 code units, as 8 hex digits. */
export function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
