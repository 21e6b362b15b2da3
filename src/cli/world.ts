import { existsSync, statSync } from "node:fs";
import type { CommonFlags, DecideFlags, StoreFlags } from "./flags.js";
import type { Io } from "./io.js";
import { fetchProgress, Progress, percent } from "./progress.js";
import type { SettingsFiles } from "./settings.js";
import type { Setting } from "./settings-table.js";
import {
  settingsFiles,
  approvalSettings,
  decisionsDirectory,
  storeSettings,
  withoutProject,
  warnAboutIgnoredSettings,
  warnAboutUnknownSettings,
} from "./settings.js";
import { cacheHome } from "./directories.js";
import { stopwatch } from "../clock.js";
import type { Composed, FetchingConfiguration } from "../compose.js";
import { composeApproved, composeDefinitions, composeRecords, composeWith, seenLocksIn } from "../compose.js";
import { DecisionError } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { Shelf } from "../model/store.js";
import { printable } from "../text.js";
import type { FindApproval } from "../present/definition-views.js";
import type { Records } from "../record/records.js";
import type { OpenedDefinitions } from "../store/definitions.js";
import { hasApprovalLock } from "../store/approval-lock-file.js";
import type { StoreConfiguration } from "../store/open-store.js";
import { signerFromFile } from "../store/signing.js";

/** What is defined and what is remembered. */
export interface ReadableWorld {
  readonly definitions: OpenedDefinitions;
  readonly records: Records;
}

/** The world to decide in, as flags, environment and settings describe it. */
export async function openWorld(flags: DecideFlags, io: Io): Promise<Composed & ReadableWorld> {
  const files = settingsFiles(io);
  const { definitions, records } = await openReadableWorld(flags, io, files);
  const approval = approvalSettings(flags, io, files);
  const fetching = fetchingOptions(flags, io);
  if (!approval.required) return composeWith(records, definitions, fetching);
  const { value: decisions } = decisionsDirectory(flags.decisions, io, files);
  const trustedKeys = approval.trustedKeys();
  const seenLocks = await openSeenLocks(flags, io, { files, records });
  return composeApproved(records, definitions, { decisions, trustedKeys, fetching, seenLocks });
}

/**
 * Where the newest locks are remembered. A project that chose the store could choose one that remembers nothing,
 * so its settings have no say in this; its records go where they always went.
 */
export async function openSeenLocks(
  flags: StoreFlags,
  io: Io,
  { files = settingsFiles(io), records }: { readonly files?: SettingsFiles; readonly records?: Records } = {},
): Promise<Shelf> {
  if (records === undefined) warnAboutSettings(flags, io, files);
  const own = withoutProject(files);
  const isSame =
    storeSettings(flags, io, own).directory.value === storeSettings(flags, io, files).directory.value;
  const opened = isSame ? records : undefined;
  const { store } = opened ?? (await composeRecords(storeConfiguration(flags, io, own)));
  return seenLocksIn(store);
}

export const openStoreRecords = (flags: StoreFlags, io: Io, files: SettingsFiles): Promise<Records> =>
  composeRecords(storeConfiguration(flags, io, files), (message) => warn(flags, io, message));

export const fetchingOptions = (flags: StoreFlags, io: Io): FetchingConfiguration => ({
  env: io.env,
  onRequest: fetchProgress(flags, io),
  onWarning: (message) => warn(flags, io, message),
});

/** The same for what decides nothing, so that nothing need be approved for it. */
export async function openForToolResults(flags: StoreFlags, io: Io): Promise<Composed & ReadableWorld> {
  const { definitions, records } = await openReadableWorld(flags, io);
  return composeWith(records, definitions);
}

/** The same without what decides, for commands that only look. */
export async function openReadableWorld(
  flags: StoreFlags,
  io: Io,
  files: SettingsFiles = settingsFiles(io),
): Promise<ReadableWorld> {
  const startedAt = stopwatch();
  const decisions = decisionsDirectory(flags.decisions, io, files);
  const records = await openStoreRecords(flags, io, files);
  const definitions = await composeDefinitions({
    decisions: decisions.value,
    cacheHome: cacheHome(io.env),
  });
  if (flags.verbose) {
    const { ids, filesRead, filesCached } = definitions;
    const took = (stopwatch() - startedAt).toFixed(1);
    note(io, `decisions: ${decisions.value} (from ${decisions.from})`);
    note(
      io,
      `definitions: ${ids.length} in ${took} ms (${filesRead} files read, ${filesCached} from the cache)`,
    );
    noteStore(flags, io);
  }
  return { definitions, records };
}

/** What is remembered, for questions that need no definitions. */
export function openRecords(flags: StoreFlags, io: Io): Promise<Records> {
  warnIfStoreMissing(flags, io);
  if (flags.verbose) noteStore(flags, io);
  return composeRecords(storeConfiguration(flags, io), (message) => warn(flags, io, message));
}

/** What was named as the store and is not there; only making a decision makes one. */
function missingStorePath(flags: StoreFlags, io: Io): string | undefined {
  if (flags.store === undefined) return undefined;
  const { directory } = storeSettings(flags, io);
  return existsSync(directory.value) ? undefined : directory.value;
}

export function warnIfStoreMissing(flags: StoreFlags, io: Io): void {
  const missing = missingStorePath(flags, io);
  if (missing !== undefined) warn(flags, io, `there is no store in \`${missing}\` yet`);
}

/** Where an answer of nothing would be taken for one of something. */
export function assertStoreExists(flags: StoreFlags, io: Io): void {
  const missing = missingStorePath(flags, io);
  if (missing === undefined) return;
  throw new DecisionError("usage", `there is no store in \`${missing}\``, {
    hint: "name the directory that decisions were recorded in; `agent-33 decision config get store` tells the usual one",
  });
}

/** Where a file may grow no further, the system would end us; so it only fails to write. */
const ignoreFileSizeLimit = (): void => undefined;

export function storeConfiguration(
  flags: StoreFlags,
  io: Io,
  files: SettingsFiles = settingsFiles(io),
): Exclude<StoreConfiguration, "memory"> {
  const { directory, durability, signingKey, checkpointEvery, segmentSize } = storeSettings(flags, io, files);
  warnAboutSettings(flags, io, files);
  assertDirectory(directory.value);
  if (signingKey !== undefined && !existsSync(signingKey.value)) throw missingKey(signingKey);
  if (process.listenerCount("SIGXFSZ") === 0) process.on("SIGXFSZ", ignoreFileSizeLimit);
  return {
    directory: directory.value,
    durability: durability.value,
    segmentSize: segmentSize.value,
    checkpointEvery: checkpointEvery.value,
    sign: signingKey && signerFromFile(signingKey.value),
    progress: readingProgress(flags, io),
    onDamage: (message) => warn(flags, io, message),
  };
}

function warnAboutSettings(flags: StoreFlags, io: Io, files: SettingsFiles): void {
  warnAboutUnknownSettings(files.project(), (message) => warn(flags, io, message));
  warnAboutIgnoredSettings(files.project(), (message) => warn(flags, io, message));
}

function assertDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  throw new DecisionError("store_failed", `the store \`${directory}\` is not a directory`, {
    hint: "name the directory that records are kept in",
  });
}

/** Found out now, not at the next checkpoint. */
function missingKey({ value, from }: Setting): DecisionError {
  return new DecisionError("store_failed", `the signing key \`${value}\` (from ${from}) is not there`, {
    hint: "put it back, or go on without with `agent-33 decision config unset signing_key`",
  });
}

function noteStore(flags: StoreFlags, io: Io): void {
  const { directory } = storeSettings(flags, io);
  note(io, `store: ${directory.value} (from ${directory.from})`);
}

/** Reading a log for the first time may take a while. */
function readingProgress({ quiet }: StoreFlags, io: Io): (done: number, total: number) => void {
  let progress: Progress | undefined;
  return (done, total) => {
    progress ??= new Progress(io, quiet);
    if (done >= total) progress.erase();
    else progress.show(() => `reading the log, ${percent(done, total)}`);
  };
}

export function note(io: Io, text: string): void {
  io.err.write(`${printable(text)}\n`);
}

export function warn(flags: CommonFlags, io: Io, message: string): void {
  if (!flags.quiet) io.err.write(`warning: ${printable(message)}\n`);
}

/** Broken files are only a warning to those who ask for something else. */
export function warnAboutDefinitions(flags: CommonFlags, io: Io, problems: readonly Diagnostic[]): void {
  const files = new Map<string, Diagnostic[]>();
  for (const problem of problems) files.set(problem.file, [...(files.get(problem.file) ?? []), problem]);
  for (const [file, found] of files) {
    const [first] = found;
    const more = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
    if (first)
      warn(flags, io, `${file}:${first.line}:${first.column} cannot be used: ${first.message}${more}`);
  }
}

/**
 * What the lock of the definitions says of each, for those who only look; undefined where there is no lock and
 * none is asked for. Where it proves nothing, a warning says why, and nothing is known.
 */
export async function openApprovals(
  records: Records,
  flags: CommonFlags,
  io: Io,
): Promise<FindApproval | undefined> {
  const files = settingsFiles(io);
  const { value: directory } = decisionsDirectory(flags.decisions, io, files);
  const settings = approvalSettings({}, io, files);
  if (!settings.required && !hasApprovalLock(directory)) return undefined;
  const { readVerifiedLock: openVerifiedLock } = await import("../store/approved-definitions.js");
  const { approvalOf } = await import("../definition/approval/approved-library.js");
  const { withRecomputedHashes } = await import("../definition/loaded-definition.js");
  try {
    const shelf = await openSeenLocks(flags, io, { files, records });
    const lock = await openVerifiedLock({ directory, trustedKeys: settings.trustedKeys(), shelf });
    return (loaded) => approvalOf(lock, loaded.definition.id, withRecomputedHashes(loaded));
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "not_approved") throw error;
    warn(flags, io, error.message);
    return () => ({ state: "unknown" });
  }
}
