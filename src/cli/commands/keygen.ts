import { resolve } from "node:path";
import type { Command } from "commander";
import { keysView } from "../../present/approval-views.js";
import { present } from "../../present/format.js";
import { approvalKeyFile, expandHome } from "../directories.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { approvalSettings } from "../settings.js";

interface KeygenFlags extends CommonFlags {
  readonly out?: string;
}

export function addKeygenCommand(parent: Command, io: Io): void {
  const command = parent
    .command("keygen")
    .option("--out <file>", "file for the private key; the public key is written to FILE.pub");
  addCommonFlags(command)
    .summary("create a key to approve definitions")
    .description(
      "Create an Ed25519 key pair: a private key that only its owner can read, and a public key next to it. Print the " +
        "key id and the command that trusts the key. Existing files are not overwritten. Without --out the key is " +
        "written to the directory of the user's settings, where approve and retire find it.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision keygen
  $ agent-33 decision keygen --out ~/keys/approval.pem`,
    )
    .action(async (flags: KeygenFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      const { out } = flags;
      const file = out === undefined ? approvalKeyFile(io) : resolve(io.cwd, expandHome(out, io.env));
      const trusted = approvalSettings({}, io).trustedKeys();
      const { generateKeys: makeKeys } = await import("../../store/approval-keys.js");
      const made = makeKeys(file);
      const all = [...trusted, made.public_key].join(",");
      const view = keysView({ ...made, trust: `agent-33 decision config set trusted_keys ${all}` });
      io.out.write(await present(view, format, await styleFor(flags, io)));
    });
}
