import { canonicalJson } from "../../../digest/canonical-json.js";
import { sha256Hex } from "../../../digest/sha256.js";
import type { LogVerifier } from "../../../record/verify-log.js";
import { systemFiles } from "./files.js";
import { ShelfFiles } from "./shelf-files.js";

/** What is kept under a hash must have it, and what records name must be kept. Tells how many are. */
export function checkDefinitions(verifier: LogVerifier, directory: string): number {
  const kept = new Set<string>();
  for (const name of ["definitions", "environments"]) {
    const shelf = new ShelfFiles(`${directory}/${name}`, { files: systemFiles, now: () => 0, durable: true });
    for (const leaf of shelf.leaves()) {
      for (const { key, value } of shelf.entriesOf(leaf)) {
        kept.add(key);
        if (sha256Hex(canonicalJson(value)) === key) continue;
        const file = `${name}/all${leaf}.jsonl`;
        verifier.problem({ kind: "definition", file, message: `what is kept under ${key} was changed` });
      }
    }
  }
  for (const [hash, seq] of verifier.definitions) {
    if (kept.has(hash)) continue;
    const message = `the definition ${hash.slice(0, 12)} that record ${seq} used is no longer kept`;
    verifier.problem({ kind: "definition", seq, message });
  }
  return kept.size;
}
