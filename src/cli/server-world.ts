import { fstatSync, write } from "node:fs";
import { Socket } from "node:net";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import { settingsFiles, approvalSettings, decisionsDirectory } from "./settings.js";
import { cacheHome } from "./directories.js";
import type { ReadableWorld } from "./world.js";
import { warnAboutDefinitions, worldOptions, openStoreRecords, openSeenLocks } from "./world.js";
import { systemClock } from "../clock.js";
import type { Composed } from "../compose.js";
import { composeApproved, composeDefinitions, composeWith } from "../compose.js";
import type { Result } from "../model/result.js";
import type { Records } from "../record/records.js";
import type { ReloadOutcome } from "../serve/reloading-world.js";
import { ReloadingWorld, observeDecisions } from "../serve/reloading-world.js";
import type { WriteBytes } from "../serve/log-writer.js";
import { LogWriter } from "../serve/log-writer.js";
import { definitionStamp } from "../store/definition-directory.js";

/** Milliseconds between two checks for changed definitions. */
const pollInterval = 250;

interface WorldListeners {
  readonly log: LogWriter;
  readonly onChange?: (change: ReloadOutcome) => void;
  readonly onDecided?: (result: Result) => void;
}

/** Opens the world for a server; changed definitions are reloaded. */
export async function openReloadingWorld(
  flags: DecideFlags,
  io: Io,
  { log, onChange = () => undefined, onDecided = () => undefined }: WorldListeners,
): Promise<ReloadingWorld> {
  const source = await openWorldSource(flags, io);
  const world = await ReloadingWorld.open({
    open: async () => observeDecisions(await source.open(), onDecided),
    stamp: source.stamp,
    rejectBroken: !source.mustBeApproved,
    intervalMs: pollInterval,
    onReload(change) {
      onChange(change);
      logChange(change, log);
    },
  });
  warnAboutDefinitions(flags, io, world.current.definitions.diagnostics);
  return world;
}

function logChange(change: ReloadOutcome, log: LogWriter): void {
  if (change.type === "applied") {
    const { decisions, diagnostics, removed } = change;
    const fields = {
      decisions,
      problems: diagnostics.length,
      ...(removed.length > 0 && { gone: removed }),
    };
    log.log(removed.length > 0 ? "warn" : "info", "definitions reloaded", fields);
    return;
  }
  const problems = change.diagnostics.map(
    ({ file, line, column, message, hint }) =>
      `${file}:${line}:${column} ${message}${hint === undefined ? "" : ` (${hint})`}`,
  );
  log.log("error", `definitions not reloaded: ${change.reason}`, { problems });
}

/** Opens the world repeatedly, with one store and the current definitions. */
interface WorldSource {
  readonly records: Records;
  readonly open: () => Promise<Composed & ReadableWorld>;
  /** A value that changes when the definitions do. */
  readonly stamp: () => string;
  readonly mustBeApproved: boolean;
}

export async function openWorldSource(flags: DecideFlags, io: Io): Promise<WorldSource> {
  const files = settingsFiles(io);
  const records = await openStoreRecords(flags, io, files);
  const { value: decisions } = decisionsDirectory(flags.decisions, io, files);
  const approval = approvalSettings(flags, io, files);
  const options = worldOptions(flags, io, files);
  const seenLocks = approval.required ? await openSeenLocks(flags, io, { files, records }) : undefined;
  return {
    records,
    mustBeApproved: approval.required,
    stamp: () => definitionStamp(decisions),
    async open() {
      const definitions = await composeDefinitions({ decisions, cacheHome: cacheHome(io.env) });
      // Load all definitions now: the files may change before the first request for one of them.
      for (const id of definitions.ids) await definitions.findForInspection(id);
      if (seenLocks === undefined) return composeWith(records, definitions, options);
      const trustedKeys = approval.trustedKeys();
      return composeApproved(records, definitions, { decisions, trustedKeys, options, seenLocks });
    },
  };
}

const stderr = 2;

/** Milliseconds to wait before writing to a full pipe again. */
const retryDelay = 5;

/** Writes to stderr without blocking. If nothing reads the pipe, the output is lost. */
function stderrWriter(): WriteBytes {
  let isReady = false;
  const writeRest: WriteBytes = (bytes, done) => {
    write(stderr, bytes, (error, written) => {
      // unref: a pending retry does not keep the process alive.
      if (error?.code === "EAGAIN") setTimeout(() => writeRest(bytes, done), retryDelay).unref();
      else if (error !== null || written >= bytes.length) done(error);
      else writeRest(bytes.subarray(written), done);
    });
  };
  return (bytes, done) => {
    if (!isReady) unblock();
    isReady = true;
    writeRest(bytes, done);
  };
}

/**
 * Makes a pipe non-blocking. Writing to a full blocking pipe blocks a thread, and a process cannot end before its
 * threads do. Opening a socket on the descriptor is the only way in Node; the socket itself is not used.
 */
function unblock(): void {
  const stats = fstatSync(stderr);
  if (!stats.isFIFO() && !stats.isSocket()) return;
  new Socket({ fd: stderr, readable: false, writable: true }).unref();
}

/** Opens the server log: JSON Lines on stderr. */
export const openServerLog = (quiet: boolean): LogWriter =>
  new LogWriter(stderrWriter(), { clock: systemClock, quiet });
