import type { Command } from "commander";
import { composeRecords } from "../../compose.js";
import { DecisionError } from "../../errors.js";
import type { View } from "../../present/format.js";
import { fieldLine, headline, present } from "../../present/format.js";
import { formatCount } from "../../present/text.js";
import type { Verification } from "../../store/drivers/jsonl/verify-store.js";
import { storeNotEmptyError } from "../../store/drivers/store-not-empty.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { Progress, percent } from "../progress.js";
import { oneLine } from "../../text.js";
import { note, storeConfiguration, warn } from "../world.js";
import { verificationView } from "./verify.js";

interface ImportFlags extends StoreFlags {
  readonly key?: string;
}

export function addImportCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("import")
    .argument("<export>", "directory or manifest.json of an export of the whole log")
    .option("--key <file>", "public key (PEM, Ed25519) that the export must be signed with");
  addCommonFlags(addStoreFlags(command))
    .summary("restore an export into an empty store")
    .description(
      "Verify an export and restore it into an empty store: the exact lines of the log, checkpoints, definitions and approval locks. Nothing is appended, so the log keeps its size and head, limits keep their counts, and later decisions continue the chain. If the export is damaged, report the problems, exit with code 6 and import nothing. An interrupted import leaves the store empty and can be repeated.",
    )
    .addHelpText(
      "after",
      `
Caches are not part of an export. The store must not contain records; records
of two logs cannot be merged.

Examples:
  $ agent-33 decision export --out moved
  $ agent-33 decision import moved --store /srv/agent-33
  $ agent-33 decision import moved --store /srv/agent-33 --key public.pem`,
    )
    .action(async (path: string, flags: ImportFlags) => done(await importExport(path, flags, io)));
}

async function importExport(path: string, flags: ImportFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const { openExport, verifyExport } = await import("../../store/verify-export.js");
  const { assertRestorable, restoreExport } = await import("../../store/restore-export.js");
  const { textSignatureCheck } = await import("../../store/signing.js");
  const checkTextSignature = flags.key === undefined ? undefined : textSignatureCheck(flags.key);
  const { directory, manifest } = openExport(path);
  if (typeof manifest !== "string") assertRestorable(manifest, path);
  const configuration = storeConfiguration(flags, io);
  const { store } = await composeRecords(configuration, (message) => warn(flags, io, message));
  // The store checks it again; this spares the user the time to verify the export.
  if ((await store.log.state()).size > 0) throw storeNotEmptyError(configuration.directory);
  const progress = new Progress(io, flags.quiet);
  const refuse = async (verification: Verification): Promise<ExitCode> => {
    progress.erase();
    const view = verificationView(verification, path, "export");
    io.out.write(await present(view, format, await styleFor(flags, io)));
    note(io, "nothing imported");
    return 6;
  };
  const verification = verifyExport(path, {
    checkTextSignature,
    progress: (read, total) => progress.show(() => `verifying, ${percent(read, total)}`),
  });
  if (!verification.ok || typeof manifest === "string") return await refuse(verification);
  try {
    const warnings = await restoreExport(directory, manifest, {
      store,
      progress: (read, total) => progress.show(() => `importing, ${percent(read, total)}`),
    });
    progress.erase();
    for (const warning of warnings) warn(flags, io, warning);
  } catch (error) {
    progress.erase();
    if (!(error instanceof DecisionError) || error.code !== "log_damaged") throw error;
    const problem = { kind: "file", message: error.message } as const;
    return await refuse({ ...verification, ok: false, problems: [problem] });
  } finally {
    await store.close();
  }
  io.out.write(
    await present(importedView(verification, configuration.directory), format, await styleFor(flags, io)),
  );
  return 0;
}

function importedView({ records, size, head, pruned }: Verification, where: string): View {
  return {
    value: { imported: records, size, head, pruned },
    plain: () => [records, `${size}:${head}`].join("\t"),
    table: (style) => {
      const what = `${formatCount(records)} record${records === 1 ? "" : "s"} imported`;
      return [
        headline(style.paint("bold", style.paint("green", `✓ ${what}`)), `into ${oneLine(where)}`, style),
        "",
        fieldLine("head", `${size}:${head}`, style, 6),
        ...(pruned > 0 ? [fieldLine("pruned", `records 1 to ${formatCount(pruned)}`, style, 6)] : []),
      ].join("\n");
    },
  };
}
