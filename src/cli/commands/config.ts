import type { Command } from "commander";
import type { View } from "../../present/format.js";
import { present } from "../../present/format.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import type { SettingsFiles } from "../settings.js";
import {
  findOverride,
  findSetting,
  invalidValue,
  settingsFile,
  settingsFiles,
  warnAboutIgnoredSettings,
  warnAboutUnknownSettings,
} from "../settings.js";
import type { SettingDefinition, SettingValue } from "../settings-table.js";
import { findSettingDefinition, settingDefinitions, settings } from "../settings-table.js";
import { note, warn } from "../world.js";
import { oneLine } from "../../text.js";

export function addConfigCommand(parent: Command, io: Io): void {
  const config = parent
    .command("config")
    .summary("show and change settings")
    .description(
      "Show and change settings. Precedence, highest first: flags, AGENT33_* variables, the project's `agent-33.json` " +
        "(in the current directory or a parent), the user's settings (changed by `set` and `unset`), defaults.",
    )
    .helpCommand(false)
    .addHelpText("after", () => settingsHelp);
  addList(config, io);
  addGet(config, io);
  addSet(config, io);
  addUnset(config, io);
  addPath(config, io);
}

const keyWidth = 17;

/** A description goes on a line of its own if there is no room after the key. */
const settingHelp = ({ key, description }: SettingDefinition): string =>
  key.length > keyWidth
    ? `  ${key}\n${" ".repeat(keyWidth + 3)}${description}`
    : `  ${key.padEnd(keyWidth)} ${description}`;

const settingsHelp = `
Settings:
${settingDefinitions.map(settingHelp).join("\n")}

Examples:
  $ agent-33 decision config list
  $ agent-33 decision config set durability fast
  $ agent-33 decision config unset durability`;

function addList(config: Command, io: Io): void {
  addCommonFlags(config.command("list"))
    .summary("list all settings with their sources")
    .description("List every setting with its value and the source of the value.")
    .action(async (flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "many" });
      const files = settingsFiles(io);
      const rows = settingDefinitions.map((definition) => toRow(definition, flags, { io, files }));
      io.out.write(await present(settingsView(rows), format, await styleFor(flags, io)));
      for (const file of [files.project(), files.user()]) {
        warnAboutUnknownSettings(file, (message) => warn(flags, io, message));
      }
      warnAboutIgnoredSettings({ io, files }, (message) => warn(flags, io, message));
    });
}

function addGet(config: Command, io: Io): void {
  addCommonFlags(config.command("get"))
    .argument("<key>", "name of the setting")
    .summary("print one setting")
    .description("Print the value of a setting. JSON and YAML include the source of the value.")
    .action(async (key: string, flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      const row = toRow(findSettingDefinition(key), flags, { io, files: settingsFiles(io) });
      io.out.write(await present(settingView(row), format, await styleFor(flags, io)));
      if (row.value === null && !flags.quiet) note(io, `\`${key}\` is not set`);
    });
}

interface ChangeFlags {
  readonly quiet?: boolean;
}

function addChangeFlags(command: Command): Command {
  return command.option("--json", "write errors as JSON").option("-q, --quiet", "print errors only");
}

function addSet(config: Command, io: Io): void {
  addChangeFlags(config.command("set"))
    .argument("<key>", "name of the setting")
    .argument(
      "<value>",
      "the value; paths are stored as absolute paths, trusted_keys as the keys in the files",
    )
    .summary("store a value in the user's settings")
    .description("Store a value in the user's settings. An invalid value is rejected and changes nothing.")
    .action(async (key: string, text: string, flags: ChangeFlags) => {
      const definition = findSettingDefinition(key);
      const value = definition.type.parse(text, { env: io.env, base: io.cwd, isText: true });
      if (value === undefined) throw invalidValue(definition, text, `\`${key}\``);
      const stored = (await definition.beforeStoring?.(value)) ?? value;
      const files = settingsFiles(io);
      const override = findOverride(definition, { io, files });
      const { writeSetting } = await import("../settings-file.js");
      await writeSetting(files.user().path, key, stored);
      if (override !== undefined && !flags.quiet)
        note(io, `\`${key}\` is stored, but ${override.from} overrides it here: \`${override.value}\``);
    });
}

function addUnset(config: Command, io: Io): void {
  addChangeFlags(config.command("unset"))
    .argument("<key>", "name of the setting")
    .summary("remove a value from the user's settings")
    .description("Remove a value from the user's settings, so that the default applies.")
    .action(async (key: string, flags: ChangeFlags) => {
      findSettingDefinition(key);
      const { path, values } = settingsFiles(io).user();
      if (Object.hasOwn(values, key)) {
        const { removeSetting } = await import("../settings-file.js");
        await removeSetting(path, key);
      } else if (!flags.quiet) note(io, `\`${key}\` is not set in \`${path}\``);
    });
}

function addPath(config: Command, io: Io): void {
  config
    .command("path")
    .summary("print the path of the user's settings")
    .description("Print the path of the user's settings file, whether it exists or not.")
    .action(() => io.out.write(`${settingsFile(io)}\n`));
}

function toRow(
  definition: SettingDefinition,
  flags: CommonFlags,
  { io, files }: { readonly io: Io; readonly files: SettingsFiles },
): SettingRow {
  const flag = definition === settings.decisions ? flags.decisions : undefined;
  const found = findSetting(definition, { flag, io, files });
  return { key: definition.key, value: found?.value ?? null, from: found?.from ?? null };
}

/** A setting as printed; null: not set. */
interface SettingRow {
  readonly key: string;
  readonly value: SettingValue | null;
  readonly from: string | null;
}

function settingsView(settingRows: readonly SettingRow[]): View {
  const rows = settingRows.map(({ key, value, from }) => [key, String(value ?? ""), from ?? ""].map(oneLine));
  const unset = ({ key }: SettingRow): string => findSettingDefinition(key).unset ?? "";
  return {
    value: settingRows,
    items: settingRows,
    plain: () => rows.map((row) => row.join("\t")).join("\n"),
    table: async (style) => {
      const { grid } = await import("../../present/grid.js");
      const shown = settingRows.map((row, index) => {
        const [key = "", value = "", from = ""] = rows[index] ?? [];
        return row.value !== null ? [key, value, from] : [key, style.paint("dim", unset(row)), "not set"];
      });
      return grid([{ title: "key" }, { title: "value" }, { title: "from", flexible: true }], shown, style);
    },
  };
}

/** One setting; tables and plain text show the value alone. */
function settingView(setting: SettingRow): View {
  const text = oneLine(String(setting.value ?? ""));
  return { value: setting, plain: () => text, table: () => text };
}
