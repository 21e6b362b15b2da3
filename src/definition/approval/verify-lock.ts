import { canonicalJson } from "../../digest/canonical-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import type { ApprovalLock, LockEntry } from "../../model/approval.js";
import type { JsonObject } from "../../model/json.js";
import { lockFault } from "./lock-fault.js";
import { entriesHash, entryText, headText } from "./signed-text.js";

export interface Signed {
  readonly key: string;
  readonly signature: string;
}

/** Whether a text was signed with a key that is trusted. */
export type VerifySignature = (text: string, signed: Signed) => "fits" | "unfit" | "untrusted";

/** Refuses a lock that is not, in all its parts, what was signed. Without `verify` signatures are not looked at. */
export function verifyLock(lock: ApprovalLock, file: string, verify: VerifySignature = () => "fits"): void {
  const { head, entries } = lock;
  for (const entry of entries) {
    const what = `the entry with serial ${entry.serial} (\`${entry.decision_id}\`)`;
    refuseUnsigned(verify(entryText(lock, entry), entry), { file, what, key: entry.key });
    refuseUnproven(entry, file);
  }
  const newest = Math.max(...entries.map(({ serial }) => serial));
  if (head.serial !== newest) {
    throw lockFault(file, `has a head with serial ${head.serial}, but its newest entry has ${newest}`);
  }
  if (head.entries_hash !== entriesHash(entries)) {
    throw lockFault(file, "has other entries than its head was signed for");
  }
  refuseUnsigned(verify(headText(lock, head), head), { file, what: "its head", key: head.key });
}

function refuseUnsigned(
  verdict: ReturnType<VerifySignature>,
  { file, what, key }: { readonly file: string; readonly what: string; readonly key: string },
): void {
  switch (verdict) {
    case "fits":
      return;
    case "unfit":
      throw lockFault(file, `is forged: the signature of ${what} does not fit`);
    case "untrusted":
      throw lockFault(
        file,
        `is not trusted: ${what} is signed by a key that is not trusted (\`${key.slice(0, 16)}…\`)`,
        "trust that key with `agent-33 decision config set trusted_keys …` if you know whose it is",
      );
  }
}

/** What is kept in an entry must be what its hashes stand for, and its hashes are signed. */
function refuseUnproven(entry: LockEntry, file: string): void {
  const { serial, decision_id, type, status, definition, environment } = entry;
  if (status === "retired") return;
  const isProven =
    hashOf(definition) === entry.definition_hash &&
    hashOf(environment) === entry.environment_hash &&
    definition?.["id"] === decision_id &&
    definition["type"] === type;
  if (isProven) return;
  throw lockFault(
    file,
    `is forged: what it holds of \`${decision_id}\` is not what was approved with serial ${serial}`,
  );
}

const hashOf = (value: JsonObject | undefined): string | undefined =>
  value === undefined ? undefined : sha256Hex(canonicalJson(value));
