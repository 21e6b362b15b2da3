import { fstatSync, write } from "node:fs";
import { Socket } from "node:net";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import { settingsFiles, approvalSettings, decisionsDirectory } from "./settings.js";
import { cacheHome } from "./directories.js";
import type { ReadableWorld } from "./world.js";
import { warnAboutDefinitions, fetchingOptions, openStoreRecords, openSeenLocks } from "./world.js";
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

/** How often definitions are looked at. */
const pollInterval = 250;

interface WorldListeners {
  readonly log: LogWriter;
  readonly onChange?: (change: ReloadOutcome) => void;
  readonly onDecided?: (result: Result) => void;
}

/** The world for whoever stays: definitions that change meanwhile are taken up. */
export async function openReloadingWorld(
  flags: DecideFlags,
  io: Io,
  { log, onChange = () => undefined, onDecided = () => undefined }: WorldListeners,
): Promise<ReloadingWorld> {
  const served = await openWorldSource(flags, io);
  const living = await ReloadingWorld.open({
    open: async () => observeDecisions(await served.open(), onDecided),
    stamp: served.stamp,
    rejectBroken: !served.mustBeApproved,
    intervalMs: pollInterval,
    onReload(change) {
      onChange(change);
      logChange(change, log);
    },
  });
  warnAboutDefinitions(flags, io, living.current.definitions.diagnostics);
  return living;
}

function logChange(change: ReloadOutcome, log: LogWriter): void {
  if (change.type === "applied") {
    const { decisions, diagnostics, removed: gone } = change;
    const more = { decisions, problems: diagnostics.length, ...(gone.length > 0 && { gone }) };
    log.log(gone.length > 0 ? "warn" : "info", "definitions taken up", more);
    return;
  }
  const problems = change.diagnostics.map(
    ({ file, line, column, message, hint }) =>
      `${file}:${line}:${column} ${message}${hint === undefined ? "" : ` (${hint})`}`,
  );
  log.log("error", `a change of the definitions is not taken up: ${change.reason}`, { problems });
}

/** What a server needs, which goes on while definitions change. */
interface WorldSource {
  readonly records: Records;
  /** The world with the definitions as they are now. */
  readonly open: () => Promise<Composed & ReadableWorld>;
  /** Changes whenever the definitions do. */
  readonly stamp: () => string;
  readonly mustBeApproved: boolean;
}

export async function openWorldSource(flags: DecideFlags, io: Io): Promise<WorldSource> {
  const files = settingsFiles(io);
  const records = await openStoreRecords(flags, io, files);
  const { value: decisions } = decisionsDirectory(flags.decisions, io, files);
  const approval = approvalSettings(flags, io, files);
  const fetching = fetchingOptions(flags, io);
  const seenLocks = approval.required ? await openSeenLocks(flags, io, { files, records }) : undefined;
  return {
    records,
    mustBeApproved: approval.required,
    stamp: () => definitionStamp(decisions),
    async open() {
      const definitions = await composeDefinitions({ decisions, cacheHome: cacheHome(io.env) });
      // Now, as the files of those that nobody has asked for yet may be others by the time somebody does.
      for (const id of definitions.ids) await definitions.findForInspection(id);
      if (seenLocks === undefined) return composeWith(records, definitions, fetching);
      const trustedKeys = approval.trustedKeys();
      return composeApproved(records, definitions, { decisions, trustedKeys, fetching, seenLocks });
    },
  };
}

const stderr = 2;

/** How long a pipe that is full is left alone, in milliseconds. */
const retryDelay = 5;

/** Writes without waiting for whoever reads; where that is nobody, it is lost. */
function stderrWriter(): WriteBytes {
  let isReady = false;
  const writeRest: WriteBytes = (bytes, done) => {
    write(stderr, bytes, (error, written) => {
      // Whoever does not read must not keep us from ending, so nothing waits for the next try.
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
 * To write into a full pipe would hold up a thread, and a process does not end before its threads do. Making a socket
 * of it is Node's only way to have it answer EAGAIN instead; nobody ever uses or closes the socket.
 */
function unblock(): void {
  const stats = fstatSync(stderr);
  if (!stats.isFIFO() && !stats.isSocket()) return;
  new Socket({ fd: stderr, readable: false, writable: true }).unref();
}

/** What happens, as JSON lines on standard error. */
export const openServerLog = (quiet: boolean): LogWriter =>
  new LogWriter(stderrWriter(), { clock: systemClock, quiet });
