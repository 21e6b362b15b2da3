import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  lstatSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { syncDirectory, systemFiles, writeAll } from "./drivers/jsonl/files.js";
import type { Release } from "./drivers/jsonl/lock.js";
import { openLock } from "./drivers/jsonl/lock.js";
import { makeDirectory } from "./files.js";
import { readRegularFile } from "./regular-file.js";
import { lockError, lockName, parseLock, lockText } from "../definition/approval/lock.js";
import { DecisionError } from "../errors.js";
import type { ApprovalLock } from "../model/approval.js";

/** No lock that we write is larger. */
const maxLockBytes = 64 * 1024 * 1024;

/** Returns the path of a directory's lock in the form that the user would write. */
export const approvalLockPath = (directory: string): string =>
  directory === "." ? lockName : `${directory.replace(/\/$/, "")}/${lockName}`;

export function assertDirectoryExists(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new DecisionError("definitions_missing", `the directory \`${directory}\` does not exist`, {
    hint: "specify the directory of your definitions with --decisions DIR or AGENT33_DECISIONS",
  });
}

/** Returns true if anything has the name of the lock, even a broken link. */
export const hasApprovalLock = (directory: string): boolean =>
  lstatSync(`${directory}/${lockName}`, { throwIfNoEntry: false }) !== undefined;

/** Reads the lock of a directory without verifying it; undefined if there is none. */
export function readApprovalLock(directory: string): ApprovalLock | undefined {
  const file = approvalLockPath(directory);
  if (!hasApprovalLock(directory)) return undefined;
  return parseLock(readLockText(file), file);
}

function readLockText(file: string): string {
  try {
    return readRegularFile(file, maxLockBytes).toString("utf8");
  } catch (error) {
    throw lockError(file, `cannot be read: ${(error as Error).message}`, readHint, error);
  }
}

const readHint = "check what is at this path and its permissions";

/** Replaces the lock while no other process changes it. `change` returns undefined to leave it as it is. */
export async function updateApprovalLock(
  directory: string,
  change: (lock: ApprovalLock | undefined) => Promise<ApprovalLock | undefined>,
): Promise<void> {
  const workDirectory = `${directory}/.agent-33`;
  prepareWorkDirectory(workDirectory);
  const release = await acquireMutex(`${workDirectory}/approving`);
  try {
    const changed = await change(readApprovalLock(directory));
    if (changed !== undefined) writeLock(directory, workDirectory, lockText(changed));
  } finally {
    release();
  }
}

async function acquireMutex(lock: string): Promise<Release> {
  try {
    return await openLock(lock).acquire();
  } catch (error) {
    throw error instanceof DecisionError ? error : unwritableLockError(lock, error);
  }
}

/** Creates a directory that neither the search for definitions nor git looks into. */
function prepareWorkDirectory(path: string): void {
  try {
    if (makeDirectory(path)) writeFileSync(`${path}/.gitignore`, "*\n");
  } catch (error) {
    throw unwritableLockError(path, error);
  }
}

/**
 * Writes a temporary file, syncs it and renames it: readers see the old lock or the new one, also after a power cut.
 */
function writeLock(directory: string, workDirectory: string, text: string): void {
  const temporary = `${workDirectory}/lock.${process.pid}.tmp`;
  try {
    const fd = openSync(temporary, "w", 0o644);
    try {
      writeAll(systemFiles, fd, Buffer.from(text));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, `${directory}/${lockName}`);
    syncDirectory(systemFiles, directory);
  } catch (error) {
    removeIfPossible(temporary);
    throw unwritableLockError(`${directory}/${lockName}`, error);
  }
}

function removeIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    return;
  }
}

function unwritableLockError(path: string, error: unknown): DecisionError {
  return new DecisionError("file_unwritable", `cannot write \`${path}\`: ${(error as Error).message}`, {
    cause: error,
  });
}
