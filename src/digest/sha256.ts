import type * as Crypto from "node:crypto";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

type Sha256 = (text: string) => string;

/** Loading node:crypto costs a one-shot run more than it saves; from here on it pays. */
const callsBeforeNative = 16;
const worthNative = 64 * 1024;

const portable: Sha256 = (text) => bytesToHex(sha256(utf8ToBytes(text)));
let hash = portable;
let calls = 0;

/** SHA-256 of a text in UTF-8, as 64 hex digits. */
export function sha256Hex(text: string): string {
  if (hash === portable && (++calls === callsBeforeNative || text.length > worthNative))
    hash = native() ?? portable;
  return hash(text);
}

/** Absent before Node 20.16; the portable one then stays. */
function native(): Sha256 | undefined {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => typeof Crypto };
  const crypto = getBuiltinModule?.("node:crypto");
  return crypto && ((text) => crypto.hash("sha256", text));
}
