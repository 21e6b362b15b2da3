import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { composeRecords } from "../../compose.js";
import { DecisionError } from "../../errors.js";
import type { Style } from "../../present/format.js";
import { formatBytes, formatCount } from "../../present/text.js";
import { verifyStore } from "../../store/drivers/jsonl/verify-store.js";
import type { Manifest } from "../../store/export-manifest.js";
import type { RecordFormat, ExportSource } from "../../store/write-export.js";
import { assertEmptyTarget, toReadError, formatRecords, writeExport } from "../../store/write-export.js";
import { printable } from "../../text.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags, QueryFlags } from "../flags.js";
import { addStoreFlags, styleFor, queryFor, addTimeRangeFlags } from "../flags.js";
import type { Io } from "../io.js";
import { percent, Progress } from "../progress.js";
import { note, assertStoreExists, storeConfiguration, warn } from "../world.js";

interface ExportFlags extends StoreFlags, QueryFlags {
  readonly out?: string;
}

export function addExportCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("export")
    .option("--out <dir>", "make a directory of it that can be checked anywhere; it must be new or empty")
    .option("--format <format>", "how to write the records: jsonl, csv")
    .option("--json", "with --out: tell what was exported as JSON")
    .option("--decision-id <id>", "only this decision")
    .option("--workflow-id <id>", "only on behalf of this workflow")
    .option("--stage-id <id>", "only on behalf of this stage")
    .option("--session-id <id>", "only on behalf of this session");
  addTimeRangeFlags(command)
    .option("--label <label>", "only where this branch was taken")
    .option("--target <target>", "only where this was the target")
    .option("--type <type>", "only decisions of this type")
    .option("--kind <kind>", "decision, note (what happened to the log itself) or all (the default)");
  addStoreFlags(command)
    .option("--no-color", "no colours")
    .option("-q, --quiet", "only the answer and errors")
    .option("-v, --verbose", "where settings came from")
    .summary("give the records away, so that others can check them")
    .description(
      "Writes records as JSON lines, byte for byte as they stand in the log, or as CSV. With --out they come " +
        "with all that is needed to check them without the store: the definitions and environments that they " +
        "name, the checkpoints of the log, and a manifest with the SHA-256 of every file, which is signed " +
        "where there is a signing_key. The manifest comes last: an export that was broken off has none.",
    )
    .addHelpText("after", exportHelp)
    .action(async (flags: ExportFlags) => done(await exportRecords(flags, io)));
}

const exportHelp = `
CSV has one line for each record; several labels, targets, reasons or warnings stand in one cell, with "; "
between them, and input_value is JSON. A text that begins with = + - @, a tab or a carriage return gets an
apostrophe in front of it, because a spreadsheet would run it as a formula.

Examples:
  $ agent-33 decision export --out audit-2026
  $ agent-33 decision verify audit-2026
  $ agent-33 decision export --decision-id decision-quality-gate --since 7d > last-week.jsonl
  $ agent-33 decision export --format csv --kind decision > decisions.csv`;

async function exportRecords(flags: ExportFlags, io: Io): Promise<ExitCode> {
  const format = recordFormat(flags);
  const query = queryFor({ ...flags, kind: flags.kind ?? "all" });
  assertStoreExists(flags, io);
  if (flags.out === "") {
    throw new DecisionError("usage", "--out needs the name of a directory", {
      hint: "such as --out audit-2026",
    });
  }
  const configuration = storeConfiguration(flags, io);
  const { store } = await composeRecords(configuration, (message) => warn(flags, io, message));
  const source = { format, query, store, sign: configuration.sign, log: `${configuration.directory}/log` };
  try {
    if (flags.out !== undefined) return await exportTo(resolve(io.cwd, flags.out), source, { flags, io });
    for await (const piece of formatRecords(store.log.select(query), format)) io.out.write(piece);
    return 0;
  } catch (error) {
    throw toReadError(error);
  }
}

function recordFormat({ format = "jsonl", json, out }: ExportFlags): RecordFormat {
  const wanted = json && out === undefined ? "json" : format;
  if (wanted === "jsonl" || wanted === "csv") return wanted;
  throw new DecisionError("usage", `records are not exported as \`${wanted}\``, {
    hint: "choose jsonl or csv; with --out, --json is how the summary is written",
  });
}

/** An export of a damaged log would look sound to whoever gets it. */
function assertIntact(log: string): void {
  const [problem] = verifyStore(dirname(log)).problems;
  if (problem === undefined) return;
  throw new DecisionError("log_damaged", `the log is damaged, so nothing was exported: ${problem.message}`, {
    hint: "see `agent-33 decision verify`; without --out, what can still be read is printed all the same",
  });
}

async function exportTo(
  where: string,
  source: ExportSource,
  { flags, io }: { readonly flags: ExportFlags; readonly io: Io },
): Promise<ExitCode> {
  assertEmptyTarget(where);
  assertIntact(source.log);
  // A key that cannot be used is better found out now than after a million records.
  source.sign?.("");
  const progress = new Progress(io, flags.quiet);
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  process.once("SIGINT", stop);
  try {
    const {
      manifest,
      sha256,
      warnings: troubles,
    } = await writeExport(where, source, {
      signal: interrupt.signal,
      progress: (done, total) => progress.show(() => `exporting, ${percent(done, total)}`),
    });
    progress.erase();
    for (const trouble of troubles) warn(flags, io, trouble);
    const isTable = io.out.isTerminal && !flags.json;
    const style = await styleFor(flags, io);
    const document = `${JSON.stringify({ ...manifest, where }, null, 2)}\n`;
    io.out.write(isTable ? exportSummary(manifest, { where, sha256 }, style) : document);
    return 0;
  } catch (error) {
    progress.erase();
    if (!interrupt.signal.aborted) throw error;
    note(io, "interrupted: nothing of the export was kept");
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
  const share = complete ? "all that the log holds" : `of ${formatCount(log.size)} in all`;
  return (
    `${paint("bold", `${formatCount(records)} record${records === 1 ? "" : "s"} exported`)}, ${share}\n\n` +
    field("where", printable(where)) +
    field("size", formatBytes(bytes)) +
    field("manifest", sha256) +
    field("signed", key === undefined ? "no" : `with the key ${key}`)
  );
}
