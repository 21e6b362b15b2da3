import type { Command } from "commander";
import type { View } from "../../present/format.js";
import { present } from "../../present/format.js";
import { printable } from "../../text.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import type { SettingsFiles, SettingDefinition } from "../settings.js";
import {
  settingsFiles,
  decisions,
  findSettingDefinition,
  settingDefinitions,
  warnAboutIgnoredSettings,
  warnAboutUnknownSettings,
  findSetting,
  findOverride,
  settingsFile,
  invalidValue,
} from "../settings.js";
import { note, warn } from "../world.js";

export function addConfigCommand(parent: Command, io: Io): void {
  const config = parent
    .command("config")
    .summary("show and change settings")
    .description(
      "Shows and changes settings. Flags win over AGENT33_* variables, those over the project's `agent-33.json` " +
        "(in the current directory or above it), that over the user's settings, which `set` and `unset` change.",
    )
    .helpCommand(false)
    .addHelpText("after", () => settingsHelp);
  addList(config, io);
  addGet(config, io);
  addSet(config, io);
  addUnset(config, io);
  addPath(config, io);
}

const settingsHelp = `
Settings:
${settingDefinitions.map(({ key, about }) => `  ${key.padEnd(17)} ${about}`).join("\n")}

Examples:
  $ agent-33 decision config list
  $ agent-33 decision config set durability fast
  $ agent-33 decision config unset durability`;

function addList(config: Command, io: Io): void {
  addCommonFlags(config.command("list"))
    .summary("list all settings and where they come from")
    .description("Lists every setting with its value and where that came from.")
    .action(async (flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "many" });
      const files = settingsFiles(io);
      const settings = settingDefinitions.map((setting) => showSetting(setting, flags, { io, files }));
      io.out.write(await present(settingsView(settings), format, await styleFor(flags, io)));
      for (const file of [files.project(), files.user()]) {
        warnAboutUnknownSettings(file, (message) => warn(flags, io, message));
      }
      warnAboutIgnoredSettings(files.project(), (message) => warn(flags, io, message));
    });
}

function addGet(config: Command, io: Io): void {
  addCommonFlags(config.command("get"))
    .argument("<key>", "the setting's name")
    .summary("print one setting")
    .description("Prints the value of a setting; as JSON or YAML also where it came from.")
    .action(async (key: string, flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      const setting = showSetting(findSettingDefinition(key), flags, { io, files: settingsFiles(io) });
      io.out.write(await present(settingView(setting), format, await styleFor(flags, io)));
      if (setting.value === null && !flags.quiet) note(io, `\`${key}\` is not set`);
    });
}

interface ChangeFlags {
  readonly quiet?: boolean;
}

function addChangeFlags(command: Command): Command {
  return command.option("--json", "write errors as JSON").option("-q, --quiet", "only errors");
}

function addSet(config: Command, io: Io): void {
  addChangeFlags(config.command("set"))
    .argument("<key>", "the setting's name")
    .argument("<value>", "its value; a path is kept whole, and of trusted_keys the keys themselves")
    .summary("keep a value in the user's settings")
    .description("Keeps a value in the user's settings. A wrong value is refused and changes nothing.")
    .action(async (key: string, text: string, flags: ChangeFlags) => {
      const setting = findSettingDefinition(key);
      const value = setting.parse(text, { env: io.env, base: io.cwd, isText: true });
      if (value === undefined) throw invalidValue(setting, text, `\`${key}\``);
      const kept = (await setting.toKeep?.(value)) ?? value;
      const files = settingsFiles(io);
      const stronger = findOverride(setting, { io, files });
      const { writeSetting } = await import("../settings-file.js");
      await writeSetting(files.user().path, setting, kept);
      if (stronger !== undefined && !flags.quiet)
        note(io, `\`${key}\` is kept, but here it still comes from ${stronger.from}: \`${stronger.value}\``);
    });
}

function addUnset(config: Command, io: Io): void {
  addChangeFlags(config.command("unset"))
    .argument("<key>", "the setting's name")
    .summary("take a value out of the user's settings")
    .description("Takes a value out of the user's settings, so that the next weaker source counts.")
    .action(async (key: string, flags: ChangeFlags) => {
      const setting = findSettingDefinition(key);
      const { path, values } = settingsFiles(io).user();
      if (Object.hasOwn(values, key)) {
        const { removeSetting } = await import("../settings-file.js");
        await removeSetting(path, setting);
      } else if (!flags.quiet) note(io, `\`${key}\` was not set in ${path}`);
    });
}

function addPath(config: Command, io: Io): void {
  config
    .command("path")
    .summary("print the path of the user's settings")
    .description(
      "Prints the path of the file that the user's settings are kept in, whether it is there or not.",
    )
    .action(() => io.out.write(`${settingsFile(io)}\n`));
}

function showSetting(
  setting: SettingDefinition,
  flags: CommonFlags,
  { io, files }: { readonly io: Io; readonly files: SettingsFiles },
): SettingRow {
  const flag = setting === decisions ? flags.decisions : undefined;
  const found = findSetting(setting, { flag, io, files });
  return { key: setting.key, value: found?.value ?? null, from: found?.from ?? null };
}
/** A word that no setting has is most likely misspelt, or of a newer version. */

/** A setting as it is shown; null where nothing sets it. */
interface SettingRow {
  readonly key: string;
  readonly value: string | number | boolean | null;
  readonly from: string | null;
}

function settingsView(settings: readonly SettingRow[]): View {
  const rows = settings.map(({ key, value, from }) => [key, String(value ?? ""), from ?? ""].map(printable));
  return {
    value: settings,
    items: settings,
    plain: () => rows.map((row) => row.join("\t")).join("\n"),
    table: async (style) => {
      const { grid } = await import("../../present/grid.js");
      return grid([{ title: "key" }, { title: "value" }, { title: "from", flexible: true }], rows, style);
    },
  };
}

/** One setting: to people and scripts its value alone. */
function settingView(setting: SettingRow): View {
  const text = printable(String(setting.value ?? ""));
  return { value: setting, plain: () => text, table: () => text };
}
