import { existsSync, statSync } from "node:fs";
import type { Command } from "commander";
import { systemClock } from "../clock.js";
import { DecisionError } from "../errors.js";
import { present } from "../present/format.js";
import { signingsView } from "../present/approval-views.js";
import type { Signing, SigningOptions } from "../store/approve.js";
import { openPrivateKey } from "../store/signing.js";
import { approvalKeyFile } from "./directories.js";
import type { StoreFlags } from "./flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "./flags.js";
import type { Io } from "./io.js";
import { approvalSettings, decisionsDirectory } from "./settings.js";
import { note, openSeenLocks, warn } from "./world.js";

/** Flags of the commands that sign. */
export interface SigningFlags extends StoreFlags {
  readonly key?: string;
}

export function addSigningFlags(command: Command): Command {
  command.option(
    "--key <file>",
    "private key to sign with (default: the key that `agent-33 decision keygen` created)",
  );
  return addCommonFlags(addStoreFlags(command));
}

export async function signingOptions(flags: SigningFlags, io: Io): Promise<SigningOptions> {
  const file = flags.key ?? defaultKeyFile(io);
  const key = openPrivateKey(file);
  if (isOpenToOthers(file))
    warn(flags, io, `other users can access the private key; run \`chmod 600 ${file}\``);
  const { value: directory } = decisionsDirectory(flags.decisions, io);
  const trustedKeys = approvalSettings({}, io).trustedKeys();
  return { directory, key, trustedKeys, shelf: await openSeenLocks(flags, io), at: systemClock() };
}

/** Always false on Windows, which has no mode bits. */
const isOpenToOthers = (file: string): boolean =>
  process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0;

function defaultKeyFile(io: Io): string {
  const file = approvalKeyFile(io);
  if (existsSync(file)) return file;
  throw new DecisionError("usage", "no key to sign with", {
    hint: "create one with `agent-33 decision keygen`, or specify one with --key FILE",
  });
}

/** Prints what was signed, and how to trust the key if none is trusted yet. */
export async function showSignings(
  signings: readonly Signing[],
  { key, trustedKeys, at }: SigningOptions,
  { flags, io }: { readonly flags: SigningFlags; readonly io: Io },
): Promise<void> {
  const format = formatFor(flags, io, { answer: "many" });
  io.out.write(await present(signingsView(signings), format, await styleFor(flags, io)));
  if (flags.quiet) return;
  const unchanged = signings.filter((each) => each.at !== at).length;
  if (unchanged > 0) note(io, `${unchanged} of ${signings.length} unchanged`);
  if (trustedKeys.length > 0) return;
  const { trustCommand } = await import("../store/approval-keys.js");
  warn(
    flags,
    io,
    `no key is trusted yet, so this approval is not accepted; to trust the key, run \`${trustCommand(key.publicKey, [])}\``,
  );
}
