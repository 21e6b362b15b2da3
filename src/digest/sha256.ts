import type * as Crypto from "node:crypto";
import { portableSha256 } from "./portable-sha256.js";

/** After this many characters `node:crypto` is loaded: it is faster, but loading it takes 2 ms. */
const maxWithoutCrypto = 9 * 1024;

let crypto: typeof Crypto | undefined;
let hashed = 0;

/** Returns the SHA-256 of a text in UTF-8, as 64 hex digits. */
export function sha256Hex(text: string): string {
  return nativeFor(text)?.hash("sha256", text) ?? portableSha256(Buffer.from(text));
}

/** Returns the SHA-256 of bytes, as 64 hex digits. */
export function sha256OfBytes(bytes: Uint8Array): string {
  return nativeFor(bytes)?.hash("sha256", bytes) ?? portableSha256(bytes);
}

/** Returns `node:crypto` once enough was hashed or something else needed it. */
function nativeFor({ length }: { readonly length: number }): typeof Crypto | undefined {
  if (crypto === undefined && (hashed += length) <= maxWithoutCrypto) return undefined;
  // Node before 20.16 may not have `hash`.
  return "getBuiltinModule" in process ? nodeCrypto() : undefined;
}

/** Loads `node:crypto` on first use: most commands hash little, sign nothing and start faster without it. */
export function nodeCrypto(): typeof Crypto {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => typeof Crypto };
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- Node before 20.16
  return (crypto ??= getBuiltinModule?.("node:crypto") ?? (require("node:crypto") as typeof Crypto));
}

/** Detects accidental damage, not tampering: FNV-1a over the UTF-16 code units, as 8 hex digits. */
export function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
