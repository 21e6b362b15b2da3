import type { BigIntStats, Dirent } from "node:fs";
import { readdirSync, statSync } from "node:fs";
import { approvalLockPath } from "./approval-lock-file.js";
import { DecisionError } from "../errors.js";

/** A definition file that was found but not read. */
export interface FoundFile {
  /** Relative to the directory, with `/` on every platform. */
  readonly path: string;
  /** Changes whenever the file does. */
  readonly stamp: string;
  /** When the file or its metadata last changed, in milliseconds since 1970. */
  readonly changedAt: number;
  /** When its content last changed. */
  readonly modifiedAt: number;
  readonly size: number;
  /** The reason why it cannot be opened. */
  readonly unusableBecause?: string;
}

/** The definition files below a directory, and the folders that they are in. */
export interface FoundFiles {
  /** Sorted by path. */
  readonly files: readonly FoundFile[];
  readonly folders: readonly FoundFolder[];
}

interface FoundFolder {
  readonly path: string;
  /** When a file was last added to it, removed or renamed. */
  readonly modifiedAt: number;
}

/** What is looked for: files with definitions, or files with tests only. */
export type FileKind = "definitions" | "tests";

/** Finds all files of a kind below a directory; or only one file. */
export function findFiles(kind: FileKind, directory: string, only?: string): FoundFiles {
  if (only !== undefined) {
    return { files: [toFoundFile(only, statSync(`${directory}/${only}`, { bigint: true }))], folders: [] };
  }
  const stats = statIfExists(directory);
  const found: { readonly files: FoundFile[]; readonly folders: FoundFolder[] } = { files: [], folders: [] };
  walkFolder({ directory, kind, seen: new Set([fileIdentity(stats)]) }, "", found);
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return found;
}

interface Walk {
  readonly directory: string;
  readonly kind: FileKind;
  readonly seen: Set<string>;
}

/** Follows links. A folder that several links lead to is visited once, which also ends cycles. */
function walkFolder(
  walk: Walk,
  folder: string,
  found: { readonly files: FoundFile[]; readonly folders: FoundFolder[] },
): void {
  const { directory, kind, seen } = walk;
  for (const entry of readFolder(directory, folder)) {
    if (entry.name.startsWith(".") || skippedFolders.includes(entry.name)) continue;
    const path = folder + entry.name;
    const isLink = entry.isSymbolicLink();
    if (!isLink && !entry.isDirectory() && !isOfKind(kind, path)) continue;
    const stats = statIfExists(`${directory}/${path}`);
    if (stats === undefined) {
      if (!isLink)
        found.folders.push({ path, modifiedAt: Infinity }); // removed or renamed since the folder was read
      else if (kind === "definitions" ? !isTestFile(path) && !otherFiles.test(path) : isTestFile(path))
        found.files.push(unusableFile(path, "it is a broken link"));
      continue;
    }
    if (stats.isDirectory()) {
      const identity = fileIdentity(stats);
      if (seen.has(identity)) continue;
      seen.add(identity);
      walkFolder(walk, `${path}/`, found);
    } else if (isOfKind(kind, path)) {
      found.files.push(
        stats.isFile() ? toFoundFile(path, stats) : unusableFile(path, "it is not a regular file"),
      );
    }
  }
  // A file may have been renamed while the folder was read, so that neither of its names was found.
  const after = statIfExists(`${directory}/${folder}`);
  if (after !== undefined) found.folders.push(toFoundFolder(folder, after));
}

/** Returns undefined for a missing file and for a broken link. */
function statIfExists(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ELOOP" || code === "ENOTDIR") return undefined;
    throw unreadableDirectoryError(path, error);
  }
}

/** Files that are no definitions. Any other name can be that of a folder with definitions, such as `policies.d`. */
const otherFiles = /\.(?:md|txt|csv|html|sh|py|[cm]?[jt]s|lock|log|bak|orig|swp|tmp)$/i;

/** A file that cannot be read is an error: a call must not be allowed because its policy is missing. */
const unusableFile = (path: string, unusableBecause: string): FoundFile => ({
  path,
  stamp: unusableBecause,
  changedAt: 0,
  modifiedAt: 0,
  size: 0,
  unusableBecause,
});

const fileIdentity = (stats: BigIntStats | undefined): string => `${stats?.dev}:${stats?.ino}`;

function toFoundFile(path: string, stats: BigIntStats): FoundFile {
  const { size, mtimeMs, ctimeMs } = stats;
  const modifiedAt = Number(mtimeMs);
  const changedAt = Math.max(modifiedAt, Number(ctimeMs));
  return { path, stamp: stampOf(stats), changedAt, modifiedAt, size: Number(size) };
}

const toFoundFolder = (path: string, { mtimeMs }: BigIntStats): FoundFolder => ({
  path,
  modifiedAt: Number(mtimeMs),
});

const stampOf = ({ size, ino, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${size}-${ino}-${mtimeNs}-${ctimeNs}`;

/** Whether a file is still as it was found. */
export function isUnchanged(directory: string, { path, stamp }: Pick<FoundFile, "path" | "stamp">): boolean {
  return stampOfPath(`${directory}/${path}`) === stamp;
}

/** Returns a text that changes whenever a file does, also when it is created or removed. */
export function stampOfPath(path: string): string {
  const stats = statIfExists(path);
  return stats === undefined ? "" : stampOf(stats);
}

/** Installed packages, and the data of tests, which may have any name. */
const skippedFolders: readonly string[] = ["node_modules", "testdata"];

/** A JSON schema in the same directory, which editors use, is not a definition, and neither is a file of tests. */
const isDefinitionFile = (path: string): boolean =>
  /\.(?:ya?ml|json)$/i.test(path) && !/\.schema\.json$/i.test(path) && !isTestFile(path);

/** Whether the name of a file is that of a kind. */
export const isOfKind = (kind: FileKind, path: string): boolean =>
  kind === "tests" ? isTestFile(path) : isDefinitionFile(path);

/** Whether a file contains tests only. */
export const isTestFile = (path: string): boolean => /\.test\.(?:ya?ml|json)$/i.test(path);

function readFolder(directory: string, folder: string): readonly Dirent[] {
  try {
    return readdirSync(`${directory}/${folder}`, { withFileTypes: true });
  } catch (error) {
    if (folder !== "" && (error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw unreadableDirectoryError(`${directory}/${folder}`, error);
  }
}

function unreadableDirectoryError(directory: string, error: unknown): DecisionError {
  const path = directory.replace(/\/$/, "");
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new DecisionError(
      "definitions_missing",
      code === "ENOENT" ? `the directory \`${path}\` does not exist` : `\`${path}\` is not a directory`,
      {
        hint: "specify the directory of your definitions with --decisions DIR or AGENT33_DECISIONS",
        cause: error,
      },
    );
  }
  return new DecisionError("file_unreadable", `cannot read \`${path}\`: ${(error as Error).message}`, {
    cause: error,
  });
}

/** Whether the walk of a directory visits the folder of a file. */
export const isInVisitedFolder = (path: string): boolean =>
  !path.split("/").some((name) => name.startsWith(".") || skippedFolders.includes(name));

/** Returns the path of a file in the form that the user would write. */
export function displayPath(directory: string, path: string): string {
  if (path === "") return directory;
  return directory === "." ? path : `${directory.replace(/\/$/, "")}/${path}`;
}

/** Returns a text that changes whenever a definition file of the directory or its approval lock changes. */
export function definitionStamp(directory: string): string {
  const lock = statSync(approvalLockPath(directory), { bigint: true, throwIfNoEntry: false });
  return `${filesStamp(findFiles("definitions", directory))}\n${lock === undefined ? "" : stampOf(lock)}`;
}

/** Returns a text that changes whenever a definition file does. */
export const filesStamp = ({ files }: FoundFiles): string =>
  files.map(({ path, stamp }) => `${path}\0${stamp}`).join("\n");
