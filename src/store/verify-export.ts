import { closeSync, existsSync, fstatSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DecisionError } from "../errors.js";
import { origin } from "../record/chain.js";
import type { LogProblem } from "../record/verify-log.js";
import type { Verification } from "./drivers/jsonl/verify.js";
import type { VerifyExportOptions } from "./export-check.js";
import { ExportCheck } from "./export-check.js";
import { openPlain, unreadable } from "./export-files.js";
import type { Manifest } from "./export-manifest.js";
import { manifestName, parseManifest } from "./export-manifest.js";

/** Reads an export and tells whether it is what was written. Needs neither a store nor definitions. */
export function verifyExport(path: string, options: VerifyExportOptions = {}): Verification {
  const directory = directoryOf(path);
  const manifest = readManifest(directory);
  if (typeof manifest === "string") {
    const problem: LogProblem = { kind: "file", file: manifestName, message: manifest };
    return { ...nothingKnown, ok: false, problems: [problem] };
  }
  const check = new ExportCheck(directory, manifest, options);
  check.signature();
  check.definitions();
  check.checkpoints();
  check.records();
  check.expectation();
  const { problems, found, notes } = check;
  return { ok: problems.length === 0, ...manifest.log, problems, ...found, notes };
}

const nothingKnown = { size: 0, head: origin, records: 0, pruned: 0, checkpoints: 0, signed: 0, notes: [] };

function directoryOf(path: string): string {
  try {
    const stats = statSync(path);
    if (stats.isDirectory() && mayBeExport(path)) return path;
    if (stats.isFile() && basename(path) === manifestName) return dirname(path);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) throw unreadable(error);
  }
  throw new DecisionError("usage", `there is no export in \`${path}\``, {
    hint: existsSync(join(path, "log", "head"))
      ? `it is a store: \`agent-33 decision verify --store ${path}\``
      : "give the directory that `agent-33 decision export --out DIR` made, or its manifest.json",
  });
}

/** One that lost its manifest is an export all the same, and not a sound one. */
function mayBeExport(path: string): boolean {
  return readdirSync(path).some((name) => exported.has(name));
}

const exported = new Set([
  manifestName,
  "records.jsonl",
  "records.csv",
  "definitions.jsonl",
  "checkpoints.jsonl",
]);

function readManifest(directory: string): Manifest | string {
  const fd = openPlain(directory, manifestName);
  if (typeof fd === "string") return `${fd}: the export was broken off, or somebody removed it`;
  try {
    const bytes = fstatSync(fd).size > largestManifest ? Buffer.alloc(0) : readFileSync(fd);
    const text = bytes.toString("utf8");
    return Buffer.from(text).equals(bytes) ? parseManifest(text) : "the manifest is not as it was written";
  } finally {
    closeSync(fd);
  }
}

const largestManifest = 4 * 1024 * 1024;
