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
    .option("--out <file>", "where to write the private key; FILE.pub becomes the public one");
  addCommonFlags(command)
    .summary("make a key that approves definitions")
    .description(
      "Makes an Ed25519 key: a private half that only its owner may read, and a public one beside it. Prints its " +
        "name and the command that trusts it. Nothing is overwritten. Without --out it is written to the " +
        "directory of the user's settings, where approve and retire look for it.",
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
