import type { Command } from "commander";
import { systemClock } from "../clock.js";
import { present } from "../present/format.js";
import { signingsView } from "../present/approval-views.js";
import type { Signing, SigningOptions } from "../store/approve.js";
import { openPrivateKey } from "../store/signing.js";
import type { StoreFlags } from "./flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "./flags.js";
import type { Io } from "./io.js";
import { approvalSettings, decisionsDirectory } from "./settings.js";
import { note, openRecords } from "./world.js";

/** Flags of the commands that sign. */
export interface SigningFlags extends StoreFlags {
  readonly key: string;
}

export function addSigningFlags(command: Command): Command {
  command.requiredOption(
    "--key <file>",
    "the private key to sign with (`agent-33 decision keygen` makes one)",
  );
  return addCommonFlags(addStoreFlags(command));
}

export async function signingOptions(flags: SigningFlags, io: Io): Promise<SigningOptions> {
  const key = openPrivateKey(flags.key);
  const { value: directory } = decisionsDirectory(flags.decisions, io);
  const { store } = await openRecords(flags, io);
  const trustedKeys = approvalSettings({}, io).trustedKeys();
  return { directory, key, trustedKeys, shelf: store.shelf("approvals"), at: systemClock() };
}

/** Shows what was signed; a key that nobody here trusts is worth a word. */
export async function showSignings(
  signings: readonly Signing[],
  { key, trustedKeys, at }: SigningOptions,
  { flags, io }: { readonly flags: SigningFlags; readonly io: Io },
): Promise<void> {
  const format = formatFor(flags, io, { answer: "many" });
  io.out.write(await present(signingsView(signings), format, await styleFor(flags, io)));
  if (flags.quiet) return;
  const unchanged = signings.filter((each) => each.at !== at).length;
  if (unchanged > 0) note(io, `${unchanged} of ${signings.length} were so already and stay as they are`);
  const { oneLineKey, isTrusted } = await import("../store/trusted-keys.js");
  if (isTrusted(key.publicKey, trustedKeys)) return;
  const all = [...trustedKeys, oneLineKey(key.publicKey)].join(",");
  note(io, `this key is not trusted here; agent-33 decision config set trusted_keys ${all}`);
}
