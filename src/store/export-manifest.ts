import type { LedgerState } from "../model/store.js";
import { origin } from "../record/chain.js";

/** What an export says about itself in `manifest.json`. */
export interface Manifest extends ManifestContent {
  /** Which key signed the rest, as the SHA-256 of its public half. */
  readonly key?: string;
  readonly signature?: string;
}

export interface ManifestContent {
  readonly format: 1;
  readonly tool_version: string;
  readonly created_at: string;
  readonly filters: Readonly<Record<string, string>>;
  /** Whether every record that was in the log is in the export. */
  readonly complete: boolean;
  readonly records: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  readonly log: LedgerState;
  readonly files: readonly ExportedFile[];
}

export interface ExportedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Only the file of the records has it. */
  readonly records?: number;
}

export const manifestName = "manifest.json";

/** The bytes of the file; of the content alone, what is signed. */
export const manifestText = (manifest: ManifestContent): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** Only what is written back byte for byte is a manifest; else what is wrong with it. */
export function parseManifest(text: string): Manifest | string {
  let manifest: Manifest;
  try {
    manifest = manifestIn(JSON.parse(text) as Claim);
  } catch {
    return "the manifest cannot be read";
  }
  if (manifestText(manifest) !== text) return "the manifest is not as it was written";
  return contradictionIn(manifest) ?? manifest;
}

type Claim = Partial<Record<string, unknown>>;

/** Throws where it is nothing like a manifest; else what is not as it should be becomes something else. */
function manifestIn(found: Claim): Manifest {
  const { tool_version, created_at, complete, records, first_seq, last_seq, key, signature } = found;
  const filters = found["filters"] as Claim;
  const log = found["log"] as Claim;
  return {
    format: 1,
    tool_version: textOf(tool_version),
    created_at: textOf(created_at),
    filters: Object.fromEntries(
      filterNames.flatMap((name) => (filters[name] === undefined ? [] : [[name, textOf(filters[name])]])),
    ),
    complete: complete === true,
    records: Number(records),
    first_seq: first_seq === null ? null : Number(first_seq),
    last_seq: last_seq === null ? null : Number(last_seq),
    log: { size: Number(log["size"]), head: textOf(log["head"]) },
    files: (found["files"] as readonly Claim[]).map((file) => ({
      name: textOf(file["name"]),
      bytes: Number(file["bytes"]),
      sha256: textOf(file["sha256"]),
      ...(file["records"] !== undefined && { records: Number(file["records"]) }),
    })),
    ...(key !== undefined && { key: textOf(key) }),
    ...(signature !== undefined && { signature: textOf(signature) }),
  };
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** In the order in which they are written. */
export const filterNames = [
  "decision_id",
  "workflow_id",
  "stage_id",
  "session_id",
  "correlation_id",
  "since",
  "until",
  "label",
  "target",
  "type",
  "kind",
] as const;

const recordFiles: readonly string[] = ["records.jsonl", "records.csv"];
const otherFiles: readonly string[] = ["definitions.jsonl", "checkpoints.jsonl"];

function contradictionIn(manifest: Manifest): string | undefined {
  const { records, first_seq: first, last_seq: last, complete, log, files } = manifest;
  const names = files.map(({ name }) => name);
  const strange = names.find((name) => !recordFiles.includes(name) && !otherFiles.includes(name));
  if (strange !== undefined)
    return `the manifest names ${JSON.stringify(strange)}, which is no file of an export`;
  const [main, another] = files.filter(({ name }) => recordFiles.includes(name));
  const isWhole = main !== undefined && another === undefined && names.includes("definitions.jsonl");
  if (!isWhole || new Set(names).size < names.length)
    return "the manifest does not list the files of an export";
  if (!isHash(log.head) || !isHash(manifest.key ?? origin))
    return "the manifest names something that is no hash";
  const span = first === null || last === null ? 0 : last - first + 1;
  const isPossible =
    main.records === records &&
    (first === null) === (records === 0) &&
    (last === null) === (records === 0) &&
    records <= span &&
    (last ?? 0) <= log.size &&
    (log.size > 0 || log.head === origin) &&
    (!complete || (records === span && (last ?? 0) === log.size));
  return isPossible ? undefined : "the numbers of the manifest contradict each other";
}

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
