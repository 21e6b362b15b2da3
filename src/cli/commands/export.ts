import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { composeRecords } from "../../compose.js";
import { DecisionError } from "../../errors.js";
import type { Style } from "../../present/format.js";
import { formatBytes, formatCount } from "../../present/text.js";
import { isLogDamage } from "../../record/verify-log.js";
import { verifyStore } from "../../store/drivers/jsonl/verify-store.js";
import type { Manifest } from "../../store/export-manifest.js";
import type { RecordFormat, ExportSource } from "../../store/write-export.js";
import { assertEmptyTarget, toReadError, formatRecords, writeExport } from "../../store/write-export.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags, QueryFlags } from "../flags.js";
import { addFilterFlags, addStoreFlags, styleFor, queryFor } from "../flags.js";
import type { Io } from "../io.js";
import { assertOpen } from "../io.js";
import { percent, Progress } from "../progress.js";
import { note, assertStoreExists, storeConfiguration, warn } from "../world.js";
import { oneLine } from "../../text.js";

interface ExportFlags extends StoreFlags, QueryFlags {
  readonly out?: string;
}

export function addExportCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("export")
    .option(
      "--out <dir>",
      "export to a directory that `verify` can check without the store; must be new or empty",
    )
    .option("--format <format>", "format of the records: jsonl, csv")
    .option("--json", "with --out: print the summary as JSON");
  addStoreFlags(addFilterFlags(command, "all"))
    .option("--no-color", "disable colours")
    .option("-q, --quiet", "print only the result and errors")
    .option("-v, --verbose", "print the sources of settings")
    .summary("export records with a verifiable manifest")
    .description(
      "Export records as JSON Lines, byte for byte as in the log, or as CSV. With --out, the export can be verified " +
        "without the store: it includes the definitions and environments of the records, the checkpoints of the log, and " +
        "a manifest with the SHA-256 of every file, signed if signing_key is set. The manifest is written last: an " +
        "interrupted export has none.",
    )
    .addHelpText("after", exportHelp)
    .action(async (flags: ExportFlags) => done(await exportRecords(flags, io)));
}

const exportHelp = `
CSV has one row per record. Several labels, targets, reasons or warnings share
a cell, separated by "; ", and input_value is JSON. Text that starts with
= + - @, also full-width, or with a tab or a line break is prefixed with an
apostrophe, so that a spreadsheet does not run it as a formula. On a terminal,
control characters are escaped and line breaks become spaces; a file or a pipe
receives them as they are.

Examples:
  $ agent-33 decision export --out audit-2026
  $ agent-33 decision verify audit-2026
  $ agent-33 decision export --decision-id expense-approval --since 7d \\
      > last-week.jsonl
  $ agent-33 decision export --format csv --kind decision > decisions.csv`;

async function exportRecords(flags: ExportFlags, io: Io): Promise<ExitCode> {
  const format = recordFormat(flags);
  const query = queryFor({ ...flags, kind: flags.kind ?? "all" });
  assertStoreExists(flags, io);
  if (flags.out === "") {
    throw new DecisionError("usage", "--out must not be empty", {
      hint: "specify a directory, such as --out audit-2026",
    });
  }
  const configuration = storeConfiguration(flags, io);
  const { store } = await composeRecords(configuration, (message) => warn(flags, io, message));
  const source = { format, query, store, sign: configuration.sign, log: `${configuration.directory}/log` };
  try {
    if (flags.out !== undefined) return await exportTo(resolve(io.cwd, flags.out), source, { flags, io });
    // A file or a pipe receives the data as it is.
    const escape = io.out.isTerminal ? oneLine : undefined;
    const lines = store.log.select({ ...query, unindexed: true });
    for await (const text of formatRecords(lines, format, escape)) {
      io.out.write(text);
      assertOpen(io.out);
    }
    return 0;
  } catch (error) {
    throw toReadError(error);
  }
}

function recordFormat({ format = "jsonl", json, out }: ExportFlags): RecordFormat {
  const name = json && out === undefined ? "json" : format;
  if (name === "jsonl" || name === "csv") return name;
  throw new DecisionError("usage", `unknown export format \`${name}\``, { hint: formatHint(name, out) });
}

function formatHint(name: string, out: string | undefined): string {
  if (name === "json") return "use jsonl or csv; --json needs --out and formats its summary";
  return out === undefined
    ? `use jsonl or csv; \`agent-33 decision log\` shows records in other formats`
    : "use jsonl or csv for the records; the summary is a table on a terminal, else JSON";
}

/** Throws if the log is damaged: the export of a damaged log would look valid to its reader. */
function assertIntact(log: string): void {
  const problem = verifyStore(dirname(log)).problems.find(isLogDamage);
  if (problem === undefined) return;
  throw new DecisionError("log_damaged", `the log is damaged, nothing exported: ${problem.message}`, {
    hint: "run `agent-33 decision verify`; without --out, the readable records can still be printed",
  });
}

async function exportTo(
  where: string,
  source: ExportSource,
  { flags, io }: { readonly flags: ExportFlags; readonly io: Io },
): Promise<ExitCode> {
  assertEmptyTarget(where);
  assertIntact(source.log);
  // Fail now, not after a million records, if the key cannot sign.
  source.sign?.("");
  const progress = new Progress(io, flags.quiet);
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  process.once("SIGINT", stop);
  try {
    const { manifest, sha256, warnings } = await writeExport(where, source, {
      signal: interrupt.signal,
      progress: (done, total) => progress.show(() => `exporting, ${percent(done, total)}`),
    });
    progress.erase();
    for (const warning of warnings) warn(flags, io, warning);
    const isTable = io.out.isTerminal && !flags.json;
    const style = await styleFor(flags, io);
    const document = `${JSON.stringify({ ...manifest, where }, null, 2)}\n`;
    io.out.write(isTable ? exportSummary(manifest, { where, sha256 }, style) : document);
    return 0;
  } catch (error) {
    progress.erase();
    if (!interrupt.signal.aborted) throw error;
    note(io, "interrupted: the incomplete export was removed");
    return 130;
  } finally {
    process.removeListener("SIGINT", stop);
  }
}

function exportSummary(
  { records, complete, log, files, key }: Manifest,
  { where, sha256 }: { readonly where: string; readonly sha256: string },
  { paint }: Style,
): string {
  const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(8))} ${value}\n`;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const share = complete ? "the whole log" : `of ${formatCount(log.size)} in the log`;
  return (
    `${paint("bold", `${formatCount(records)} record${records === 1 ? "" : "s"} exported`)}, ${share}\n\n` +
    field("where", oneLine(where)) +
    field("size", formatBytes(bytes)) +
    field("manifest", sha256) +
    field("signed", key === undefined ? "no" : `with the key ${key}`)
  );
}
