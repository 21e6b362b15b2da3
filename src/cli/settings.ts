import { dirname } from "node:path";
import { DecisionError } from "../errors.js";
import type { Io } from "./io.js";
import type { SettingsFile, SettingsFiles } from "./read-settings.js";
import { settingsFiles } from "./read-settings.js";
import type { CertainSetting, KnownSetting, Setting, Value } from "./settings-table.js";
import {
  checkpointEvery,
  decisions,
  durability,
  requireApproval,
  segmentSize,
  signingKey,
  store,
  trustedKeys,
} from "./settings-table.js";

export { settingsFile } from "./read-settings.js";
export type { Setting } from "./settings-table.js";

/** What the store is opened with. */
export interface StoreSettings {
  readonly directory: Setting;
  readonly durability: Setting<"full" | "fast">;
  readonly signingKey: Setting | undefined;
  readonly checkpointEvery: Setting<number>;
  readonly segmentSize: Setting<number>;
}

/** The directory of definitions: flag, environment, project, `./decisions`, the user's settings. */
export function decisionsDirectory(
  flag: string | undefined,
  io: Io,
  files: SettingsFiles = settingsFiles(io),
): Setting {
  const setting = findSetting(decisions, { flag, io, files });
  if (setting !== undefined) return setting;
  throw new DecisionError("definitions_missing", "no directory of definitions was found", {
    hint: "make one with `agent-33 decision new switch my-decision`, or name it with --decisions DIR or AGENT33_DECISIONS",
  });
}

export function decisionsSetting(flag: string | undefined, io: Io): Setting | undefined {
  return findSetting(decisions, { flag, io, files: settingsFiles(io) });
}

export function storeSettings(
  flags: { readonly store?: string; readonly durability?: string },
  io: Io,
  files: SettingsFiles = settingsFiles(io),
): StoreSettings {
  return {
    directory: certain(store, { flag: flags.store, io, files }),
    durability: certain(durability, { flag: flags.durability, io, files }),
    signingKey: findSetting(signingKey, { io, files }),
    checkpointEvery: certain(checkpointEvery, { io, files }),
    segmentSize: certain(segmentSize, { io, files }),
  };
}

/** The same as if the project had no settings. */
export const withoutProject = (files: SettingsFiles): SettingsFiles => ({
  user: () => files.user(),
  project: () => undefined,
});

/** Whether definitions must be approved, and with which keys. */
export interface ApprovalSettings {
  readonly required: boolean;
  readonly trustedKeys: () => readonly string[];
}

export function approvalSettings(
  flags: { readonly requireApproval?: boolean },
  io: Io,
  files: SettingsFiles = settingsFiles(io),
): ApprovalSettings {
  const flag = flags.requireApproval ? "true" : undefined;
  return {
    required: certain(requireApproval, { flag, io, files }).value,
    trustedKeys: () => findSetting(trustedKeys, { io, files })?.value.split(",") ?? [],
  };
}

interface Sources {
  readonly flag?: string | undefined;
  readonly io: Io;
  readonly files: SettingsFiles;
}

/** The strongest source that says something wins; a weaker one is not even looked at. */
export function findSetting<T extends Value>(
  setting: KnownSetting<T>,
  sources: Sources,
): Setting<T> | undefined {
  return (
    findStronger(setting, sources) ??
    inFile(setting, sources.files.user(), sources.io) ??
    setting.fallback?.(sources.io)
  );
}

/** What would win over the user's settings. */
export function findStronger<T extends Value>(
  setting: KnownSetting<T>,
  { flag, io, files }: Sources,
): Setting<T> | undefined {
  return typed(setting, flag, io) ?? inProject(setting, files.project(), io) ?? setting.here?.(io);
}

function inProject<T extends Value>(
  setting: KnownSetting<T>,
  file: SettingsFile | undefined,
  io: Io,
): Setting<T> | undefined {
  const isHeard = setting.isForProjects?.(file?.values[setting.key]) ?? true;
  return isHeard ? inFile(setting, file, io) : undefined;
}

function certain<T extends Value>(setting: CertainSetting<T>, sources: Sources): Setting<T> {
  return findSetting(setting, sources) ?? setting.fallback(sources.io);
}

function typed<T extends Value>(
  setting: KnownSetting<T>,
  flag: string | undefined,
  io: Io,
): Setting<T> | undefined {
  const { variable = "" } = setting;
  const from = flag === undefined ? variable : (setting.flag ?? setting.key);
  const text = flag ?? (io.env[variable] || undefined);
  if (text === undefined) return undefined;
  const base = setting.staysAsTyped ? undefined : io.cwd;
  const value = setting.parse(text, { env: io.env, base, isText: true });
  if (value === undefined) throw unexpected(setting, text, from);
  return { value, from };
}

function inFile<T extends Value>(
  setting: KnownSetting<T>,
  file: SettingsFile | undefined,
  io: Io,
): Setting<T> | undefined {
  if (file === undefined || !Object.hasOwn(file.values, setting.key)) return undefined;
  const given = file.values[setting.key];
  const value = setting.parse(given, { env: io.env, base: dirname(file.path), isText: false });
  if (value === undefined) throw unexpected(setting, given, `\`${setting.key}\` in \`${file.path}\``);
  return { value, from: file.path };
}

export function unexpected(setting: KnownSetting, given: unknown, where: string): DecisionError {
  return new DecisionError("usage", `${where} must be ${setting.expected} (got ${shown(given)})`, {
    hint: "see `agent-33 decision config --help`",
  });
}

/** Neither a key nor the password of an address may end up in a log. */
function shown(given: unknown): string {
  const text = typeof given === "string" ? given : JSON.stringify(given);
  if (text === "") return "nothing";
  if (text.includes("-----BEGIN")) return "the text of a key";
  const [, scheme] = /^([a-z][a-z0-9+.-]*:\/\/)/i.exec(text) ?? [];
  if (scheme !== undefined) return `\`${scheme}…\``;
  return `\`${text.length > 100 ? `${text.slice(0, 100)}…` : text}\``;
}
