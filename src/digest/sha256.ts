import type * as Crypto from "node:crypto";
import { portableSha256 } from "./portable-sha256.js";

/** Loading node:crypto takes longer than hashing so many characters without it; V8 does not optimise that before. */
const portableUpTo = 9 * 1024;

let native: typeof Crypto | undefined;
let hashed = 0;

/** SHA-256 of a text in UTF-8, as 64 hex digits. */
export function sha256Hex(text: string): string {
  if (native === undefined && (hashed += text.length) > portableUpTo) native = nativeCrypto();
  return native === undefined ? portableSha256(Buffer.from(text)) : native.hash("sha256", text);
}

/** SHA-256 of bytes, as 64 hex digits. */
export function sha256OfBytes(bytes: Uint8Array): string {
  if (native === undefined && (hashed += bytes.length) > portableUpTo) native = nativeCrypto();
  return native === undefined ? portableSha256(bytes) : native.hash("sha256", bytes);
}

/** Absent before Node 20.16; the portable one then stays. */
function nativeCrypto(): typeof Crypto | undefined {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => typeof Crypto };
  return getBuiltinModule?.("node:crypto");
}

/** Notices accidental damage of a text, not intent: FNV-1a over its characters, as 8 hex digits. */
export function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
