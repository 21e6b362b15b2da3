import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { CommonFlags, DecideFlags, StoreFlags } from "./flags.js";
import type { CallFlags } from "./input.js";
import type { Io } from "./io.js";
import { fetchProgress, Progress, percent } from "./progress.js";
import type { SettingsFiles } from "./settings.js";
import type { Setting } from "./settings-table.js";
import {
  settingsFiles,
  approvalSettings,
  decisionsDirectory,
  decisionsSetting,
  lineageSettings,
  storeSettings,
  unknownToolsSetting,
  withoutProject,
  withoutProjectPaths,
  warnAboutIgnoredSettings,
  warnAboutUnknownSettings,
} from "./settings.js";
import { cacheHome } from "./directories.js";
import { stopwatch } from "../clock.js";
import type { Composed, WorldOptions } from "../compose.js";
import { composeApproved, composeDefinitions, composeRecords, composeWith, seenLocksIn } from "../compose.js";
import { DecisionError } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { Result } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import type { Shelf } from "../model/store.js";
import type { FindApproval } from "../present/definition-views.js";
import type { ScopeValues } from "../present/result-view.js";
import type { Records } from "../record/records.js";
import type { OpenedDefinitions } from "../store/definitions.js";
import { hasApprovalLock } from "../store/approval-lock-file.js";
import type { StoreConfiguration } from "../store/open-store.js";
import { signerFromFile } from "../store/signing.js";
import { oneLine } from "../text.js";

/** Definitions and records, for commands that make no decisions. */
export interface ReadableWorld {
  readonly definitions: OpenedDefinitions;
  readonly records: Records;
}

interface OpenOptions extends Pick<WorldOptions, "onScope"> {
  readonly files?: SettingsFiles;
}

/** Opens everything a decision needs, as configured by flags, environment and settings. */
export async function openWorld(
  flags: DecideFlags,
  io: Io,
  { files = settingsFiles(io), onScope }: OpenOptions = {},
): Promise<Composed & ReadableWorld> {
  const { definitions, records } = await openReadableWorld(flags, io, files);
  const approval = approvalSettings(flags, io, files);
  const options = { ...worldOptions(flags, io, files), onScope };
  if (!approval.required) return composeWith(records, definitions, options);
  const { value: decisions } = decisionsDirectory(flags.decisions, io, files);
  const trustedKeys = approval.trustedKeys();
  const seenLocks = await openSeenLocks(flags, io, { files, records });
  return composeApproved(records, definitions, { decisions, trustedKeys, options, seenLocks });
}

/** Finds the values that conditions read; undefined where the scope is not known. */
export async function scopeValuesOf(
  { decision_id, input_value: input }: Pick<Result, "decision_id" | "input_value">,
  scopes: ReadonlyMap<string, Scope>,
  world: Composed,
): Promise<ScopeValues | undefined> {
  const scope = scopes.get(decision_id);
  if (scope === undefined) return undefined;
  const { scopeValueReader } = await import("../record/recorded-values.js");
  const { limitUses } = await import("../present/limit-uses.js");
  const { definition } = await world.definitions.find(decision_id);
  return {
    readValues: scopeValueReader({ ...scope, input }, definition),
    limits: limitUses(definition, scope.facts),
  };
}

/**
 * Opens the shelf that remembers the newest approval locks seen. Project settings are ignored here: otherwise a
 * project could choose an empty store and roll back its lock unnoticed.
 */
export async function openSeenLocks(
  flags: StoreFlags,
  io: Io,
  { files = settingsFiles(io), records }: { readonly files?: SettingsFiles; readonly records?: Records } = {},
): Promise<Shelf> {
  if (records === undefined) warnAboutSettings(flags, io, files);
  const userFiles = withoutProject(files);
  const isSame =
    storeSettings(flags, io, userFiles).directory.value === storeSettings(flags, io, files).directory.value;
  const reusable = isSame ? records : undefined;
  const { store } = reusable ?? (await composeRecords(storeConfiguration(flags, io, userFiles)));
  return seenLocksIn(store);
}

export const openStoreRecords = (
  flags: StoreFlags,
  io: Io,
  files: SettingsFiles,
  damage?: DamageWatch,
): Promise<Records> =>
  composeRecords(storeConfiguration(flags, io, files, damage), (message) => warn(flags, io, message));

/**
 * Whether the log was found damaged, for commands that answer with their exit code: on a damaged log they must not say
 * that all is well, and `--quiet` does not hide the warning.
 */
export interface DamageWatch {
  isDamaged: boolean;
}

export const worldOptions = (flags: DecideFlags, io: Io, files: SettingsFiles): WorldOptions => ({
  unknownTools: unknownToolsSetting(flags.unknownTools, io, files)?.value,
  lineage: lineageSettings(io, files),
  env: io.env,
  onRequest: fetchProgress(flags, io),
  onWarning: (message) => warn(flags, io, message),
});

/** Opens the world to record tool results in. They need no approved definitions. */
export async function openForToolResults(
  flags: StoreFlags,
  io: Io,
  files: SettingsFiles,
): Promise<Composed & ReadableWorld> {
  const { definitions, records } = await openReadableWorld(flags, io, files);
  return composeWith(records, definitions);
}

/** The settings files for a tool call; a hook event uses neither the store nor the definitions that the project names. */
export function settingsForCall(flags: StoreFlags & Pick<CallFlags, "event">, io: Io): SettingsFiles {
  const files = settingsFiles(io);
  if (flags.event === undefined) return files;
  const ofHook = withoutProjectPaths(files);
  const warnIfOther = (key: string, of: (files: SettingsFiles) => Setting | undefined, why: string): void => {
    const named = of(files);
    const used = of(ofHook);
    if (named === undefined || resolve(io.cwd, named.value) === resolve(io.cwd, used?.value ?? "/")) return;
    const who = "an agent that can write this file could";
    warn(flags, io, `--event ignores \`${key}\` in \`${named.from}\`: ${who} ${why}; use --${key} DIR`);
  };
  warnIfOther("store", (each) => storeSettings(flags, io, each).directory, "reset all limits");
  warnIfOther("decisions", (each) => decisionsSetting(flags.decisions, io, each), "use other policies");
  return ofHook;
}

export async function openReadableWorld(
  flags: StoreFlags,
  io: Io,
  files: SettingsFiles = settingsFiles(io),
  damage?: DamageWatch,
): Promise<ReadableWorld> {
  const startedAt = stopwatch();
  const decisions = decisionsDirectory(flags.decisions, io, files);
  const records = await openStoreRecords(flags, io, files, damage);
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
    noteStore(flags, io, files);
  }
  return { definitions, records };
}

/** Opens the records alone, for commands that need no definitions. */
export function openRecords(flags: StoreFlags, io: Io, damage?: DamageWatch): Promise<Records> {
  warnIfStoreMissing(flags, io);
  if (flags.verbose) noteStore(flags, io);
  return openStoreRecords(flags, io, settingsFiles(io), damage);
}

/** Returns the path given with --store if nothing exists there. Only commands that record create a store. */
function missingStorePath(flags: StoreFlags, io: Io): string | undefined {
  if (flags.store === undefined) return undefined;
  const { directory } = storeSettings(flags, io);
  return stateOfPath(directory.value) === "missing" ? directory.value : undefined;
}

export function warnIfStoreMissing(flags: StoreFlags, io: Io): void {
  const missing = missingStorePath(flags, io);
  if (missing !== undefined) warn(flags, io, `no store found in \`${missing}\``);
}

/** Throws if --store does not exist, for commands whose empty result would be misleading. */
export function assertStoreExists(flags: StoreFlags, io: Io): void {
  const missing = missingStorePath(flags, io);
  if (missing === undefined) return;
  throw new DecisionError("usage", `no store found in \`${missing}\``, {
    hint: "specify the directory of the log; `agent-33 decision config get store` prints the default",
  });
}

/** Makes writes beyond the file size limit fail with EFBIG instead of ending the process. */
const ignoreFileSizeLimit = (): void => undefined;

export function storeConfiguration(
  flags: StoreFlags,
  io: Io,
  files: SettingsFiles = settingsFiles(io),
  damage?: DamageWatch,
): Exclude<StoreConfiguration, "memory"> {
  const { directory, durability, signingKey, checkpointEvery, segmentSize, retention } = storeSettings(
    flags,
    io,
    files,
  );
  warnAboutSettings(flags, io, files);
  assertDirectory(directory.value);
  if (signingKey !== undefined && !existsSync(signingKey.value)) throw missingKey(signingKey);
  if (process.listenerCount("SIGXFSZ") === 0) process.on("SIGXFSZ", ignoreFileSizeLimit);
  return {
    directory: directory.value,
    durability: durability.value,
    segmentSize: segmentSize.value,
    retention: retention?.value,
    checkpointEvery: checkpointEvery.value,
    sign: signingKey && signerFromFile(signingKey.value),
    progress: readingProgress(flags, io),
    onDamage: (message) => {
      if (damage !== undefined) damage.isDamaged = true;
      warn({ ...flags, quiet: damage === undefined && flags.quiet === true }, io, message);
    },
  };
}

function warnAboutSettings(flags: StoreFlags, io: Io, files: SettingsFiles): void {
  warnAboutUnknownSettings(files.project(), (message) => warn(flags, io, message));
  warnAboutIgnoredSettings({ io, files }, (message) => warn(flags, io, message));
}

function assertDirectory(directory: string): void {
  if (stateOfPath(directory) !== "other") return;
  throw new DecisionError("store_failed", `the store \`${directory}\` is not a directory`, {
    hint: "specify a directory with --store DIR",
  });
}

/** `other`: a file, or a path that leads through a file. Throws if the path cannot be inspected. */
function stateOfPath(path: string): "missing" | "directory" | "other" {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return "missing";
    return stats.isDirectory() ? "directory" : "other";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return "other";
    throw error;
  }
}

function missingKey({ value, from }: Setting): DecisionError {
  return new DecisionError("store_failed", `the signing key \`${value}\` (from ${from}) does not exist`, {
    hint: "restore the file, or stop signing with `agent-33 decision config unset signing_key`",
  });
}

function noteStore(flags: StoreFlags, io: Io, files?: SettingsFiles): void {
  const { directory } = storeSettings(flags, io, files);
  note(io, `store: ${directory.value} (from ${directory.from})`);
}

/** Shows progress while the log is read for the first time, which can take a while. */
function readingProgress({ quiet }: StoreFlags, io: Io): (done: number, total: number) => void {
  let progress: Progress | undefined;
  return (done, total) => {
    progress ??= new Progress(io, quiet);
    if (done >= total) progress.erase();
    else progress.show(() => `reading the log, ${percent(done, total)}`);
  };
}

export function note(io: Io, text: string): void {
  io.err.write(`${oneLine(text)}\n`);
}

/** Says where definitions were searched, and in which files. */
export function noteNoDecisions(flags: CommonFlags, io: Io): void {
  if (flags.quiet) return;
  const { value: directory } = decisionsDirectory(flags.decisions, io);
  note(io, `no decisions found in \`${directory}\`: they are in files named *.yaml, *.yml or *.json`);
}

export function warn(flags: CommonFlags, io: Io, message: string): void {
  if (!flags.quiet) io.err.write(`warning: ${oneLine(message)}\n`);
}

/** Warns about invalid definition files, one line per file. */
export function warnAboutDefinitions(flags: CommonFlags, io: Io, diagnostics: readonly Diagnostic[]): void {
  const files = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    files.set(diagnostic.file, [...(files.get(diagnostic.file) ?? []), diagnostic]);
  }
  for (const [file, found] of files) {
    const [first] = found;
    const more = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
    if (first) warn(flags, io, `${file}:${first.line}:${first.column} is invalid: ${first.message}${more}`);
  }
}

/**
 * Returns a function that finds the approval of a definition, or undefined if there is no lock and approval is not
 * required. If the lock cannot be trusted, warns and reports every approval as unknown.
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
  const { readVerifiedLock } = await import("../store/approved-definitions.js");
  const { approvalOf } = await import("../definition/approval/approved-library.js");
  const { withRecomputedHashes } = await import("../definition/loaded-definition.js");
  try {
    const shelf = await openSeenLocks(flags, io, { files, records });
    const lock = await readVerifiedLock({ directory, trustedKeys: settings.trustedKeys(), shelf });
    return (loaded) => approvalOf(lock, loaded.definition.id, withRecomputedHashes(loaded));
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "not_approved") throw error;
    warn(flags, io, error.message);
    return () => ({ state: "unknown" });
  }
}
