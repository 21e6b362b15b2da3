import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
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
import { lockError, lockName, parseLock, lockText } from "../definition/approval/lock.js";
import { DecisionError } from "../errors.js";
import type { ApprovalLock } from "../model/approval.js";

/** A lock of more bytes was not written by us. */
const maxLockBytes = 64 * 1024 * 1024;

/** Where the lock of a directory is, as the user would name it. */
export const approvalLockPath = (directory: string): string =>
  directory === "." ? lockName : `${directory.replace(/\/$/, "")}/${lockName}`;

/** Nothing is signed into a directory that is not there. */
export function assertDirectoryExists(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new DecisionError("definitions_missing", `there is no directory \`${directory}\``, {
    hint: "name the directory of your definitions with --decisions DIR or AGENT33_DECISIONS",
  });
}

/** Whether there is anything in the place of a lock. */
export const hasApprovalLock = (directory: string): boolean =>
  lstatSync(`${directory}/${lockName}`, { throwIfNoEntry: false }) !== undefined;

/** The lock of a directory, unverified; undefined where there is none. */
export function readApprovalLock(directory: string): ApprovalLock | undefined {
  const file = approvalLockPath(directory);
  if (!hasApprovalLock(directory)) return undefined;
  return parseLock(readLockText(file), file);
}

function readLockText(file: string): string {
  let fd: number;
  try {
    // Opening what is no file, such as a pipe, must not wait for anybody.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw lockError(file, `cannot be read: ${(error as Error).message}`, "see what is in its place", error);
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw lockError(file, "is not a file", "see what is in its place");
    if (stats.size > maxLockBytes) throw lockError(file, "is larger than 64 MiB");
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Makes a new lock of the one that is there, which nobody else changes meanwhile; undefined leaves it. */
export async function updateApprovalLock(
  directory: string,
  change: (lock: ApprovalLock | undefined) => Promise<ApprovalLock | undefined>,
): Promise<void> {
  const workplace = `${directory}/.agent-33`;
  prepareWorkDirectory(workplace);
  const release = await acquireMutex(`${workplace}/approving`);
  try {
    const changed = await change(readApprovalLock(directory));
    if (changed !== undefined) writeLock(directory, workplace, lockText(changed));
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

/** Hidden from the definitions, and from git. */
function prepareWorkDirectory(workplace: string): void {
  try {
    if (makeDirectory(workplace)) writeFileSync(`${workplace}/.gitignore`, "*\n");
  } catch (error) {
    throw unwritableLockError(workplace, error);
  }
}

/** Others see the old lock or the new one, also after a power cut. */
function writeLock(directory: string, workplace: string, text: string): void {
  const temporary = `${workplace}/lock.${process.pid}.tmp`;
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
