import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LineageOptions } from "../decide/request.js";
import { InvalidJson, parseJson } from "../digest/parse-json.js";
import { DecisionError, fileErrorHint } from "../errors.js";
import { shortenPath } from "../present/text.js";
import { didYouMean, nearest } from "../text.js";
import { agentHome } from "./directories.js";
import { decodeText, stripByteOrderMark } from "./input.js";
import type { Io } from "./io.js";
import type { Setting, SettingDefinition, SettingValue, SettingWithDefault } from "./settings-table.js";
import {
  settingDefinitions,
  settingGroups,
  settingKeys,
  settings,
  variablePrefix,
  variables,
} from "./settings-table.js";
import { isObject } from "../expression/equal.js";

/** The settings that the store is opened with. */
interface StoreSettings {
  readonly directory: Setting;
  readonly durability: Setting<"full" | "fast">;
  readonly signingKey: Setting | undefined;
  readonly checkpointEvery: Setting<number>;
  readonly segmentSize: Setting<number>;
  readonly retention: Setting | undefined;
}

/** Finds the directory of definitions, or throws. */
export function decisionsDirectory(
  flag: string | undefined,
  io: Io,
  files: SettingsFiles = settingsFiles(io),
): Setting {
  const found = decisionsSetting(flag, io, files);
  if (found !== undefined) return found;
  throw new DecisionError("definitions_missing", "no directory of definitions found", {
    hint: "create one with `agent-33 decision new switch my-decision`, or specify it with --decisions DIR or AGENT33_DECISIONS",
  });
}

/**
 * Finds the directory of definitions; undefined if there is none. Output shows the paths of definitions as they are opened,
 * so a path from a settings file is relative if it is within the current directory. A typed path stays as it was typed.
 */
export function decisionsSetting(
  flag: string | undefined,
  io: Io,
  files: SettingsFiles = settingsFiles(io),
): Setting | undefined {
  const found = findSetting(settings.decisions, { flag, io, files });
  const isTyped = flag !== undefined || Boolean(io.env["AGENT33_DECISIONS"]);
  return found === undefined || isTyped ? found : { ...found, value: shortenPath(found.value, io.cwd) };
}

export function storeSettings(
  flags: { readonly store?: string; readonly durability?: string },
  io: Io,
  files: SettingsFiles = settingsFiles(io),
): StoreSettings {
  return {
    directory: resolveSetting(settings.store, { flag: flags.store, io, files }),
    durability: resolveSetting(settings.durability, { flag: flags.durability, io, files }),
    signingKey: findSetting(settings.signingKey, { io, files }),
    checkpointEvery: resolveSetting(settings.checkpointEvery, { io, files }),
    segmentSize: resolveSetting(settings.segmentSize, { io, files }),
    retention: findSetting(settings.retention, { io, files }),
  };
}

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
    required: resolveSetting(settings.requireApproval, { flag, io, files }).value,
    trustedKeys: () => findSetting(settings.trustedKeys, { io, files })?.value.split(",") ?? [],
  };
}

/** The answer about tools that no policy matches, if it is set. */
export const unknownToolsSetting = (
  flag: string | undefined,
  io: Io,
  files: SettingsFiles,
): Setting<"deny" | "allow"> | undefined => findSetting(settings.unknownTools, { flag, io, files });

/** What is recorded of the lineage of decisions. */
export const lineageSettings = (io: Io, files: SettingsFiles): Required<LineageOptions> => ({
  enabled: resolveSetting(settings.lineageEnabled, { io, files }).value,
  storePrecedents: resolveSetting(settings.storePrecedents, { io, files }).value,
  maxPrecedentRefs: resolveSetting(settings.maxPrecedentRefs, { io, files }).value,
});

interface Sources {
  readonly flag?: string | undefined;
  readonly io: Io;
  readonly files: SettingsFiles;
}

/**
 * Returns the value of the source with the highest precedence: flag, environment variable, project file, current
 * directory, user's settings, default. Sources below it are not read.
 */
export function findSetting<T extends SettingValue>(
  definition: SettingDefinition<T>,
  sources: Sources,
): Setting<T> | undefined {
  return findOverride(definition, sources) ?? findOwn(definition, sources);
}

/** Returns the value of the user's settings, or the default. */
function findOwn<T extends SettingValue>(
  definition: SettingDefinition<T>,
  { io, files }: Pick<Sources, "io" | "files">,
): Setting<T> | undefined {
  return fromFile(definition, files.user(), io) ?? definition.fallback?.(io, files.projectPath());
}

function resolveSetting<T extends SettingValue>(
  definition: SettingWithDefault<T>,
  sources: Sources,
): Setting<T> {
  return findSetting(definition, sources) ?? definition.fallback(sources.io, sources.files.projectPath());
}

/** Returns the value of a source that takes precedence over the user's settings, if there is one. */
export function findOverride<T extends SettingValue>(
  definition: SettingDefinition<T>,
  sources: Sources,
): Setting<T> | undefined {
  const { flag, io } = sources;
  return fromText(definition, flag, io) ?? fromProject(definition, sources) ?? definition.implied?.(io);
}

function fromText<T extends SettingValue>(
  definition: SettingDefinition<T>,
  flag: string | undefined,
  io: Io,
): Setting<T> | undefined {
  const { key, type, env = "", keepRelative = false } = definition;
  const from = flag === undefined ? env : (definition.flag ?? key);
  const text = flag ?? (io.env[env] || undefined);
  if (text === undefined) return undefined;
  const value = type.parse(text, { env: io.env, base: keepRelative ? undefined : io.cwd, isText: true });
  if (value === undefined) throw invalidValue(definition, text, from);
  return { value, from };
}

function fromProject<T extends SettingValue>(
  definition: SettingDefinition<T>,
  sources: Sources,
): Setting<T> | undefined {
  const file = sources.files.project();
  if (file === undefined || !isAllowedInProject(definition, file, sources)) return undefined;
  return fromFile(definition, file, sources.io);
}

function isAllowedInProject(
  definition: SettingDefinition,
  { values }: SettingsFile,
  sources: Pick<Sources, "io" | "files">,
): boolean {
  const own = (): SettingValue | undefined => findOwn(definition, sources)?.value;
  return definition.allowedInProject?.(values[definition.key], own) ?? true;
}

function fromFile<T extends SettingValue>(
  definition: SettingDefinition<T>,
  file: SettingsFile,
  io: Io,
): Setting<T> | undefined {
  const { key, type } = definition;
  if (!Object.hasOwn(file.values, key)) return undefined;
  const raw = file.values[key];
  const value = type.parse(raw, { env: io.env, base: dirname(file.path), isText: false });
  if (value === undefined) throw invalidValue(definition, raw, `\`${key}\` in \`${file.path}\``);
  return { value, from: file.path };
}

export function invalidValue(
  { type, description }: SettingDefinition,
  value: unknown,
  where: string,
): DecisionError {
  return new DecisionError("usage", `${where} must be ${type.expected} (got ${describeValue(value)})`, {
    hint: `${description}; see \`agent-33 decision config --help\``,
  });
}

/** Describes a value without showing keys or passwords in URLs. */
function describeValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === "") return "an empty value";
  if (text.includes("-----BEGIN")) return "the text of a key";
  const [, scheme] = /^([a-z][a-z0-9+.-]*:\/\/)/i.exec(text) ?? [];
  if (scheme !== undefined) return `\`${scheme}…\``;
  return `\`${text.length > 100 ? `${text.slice(0, 100)}…` : text}\``;
}

/** Warns about settings in a project file that only the user may set; they have no effect. */
export function warnAboutIgnoredSettings(
  sources: Pick<Sources, "io" | "files">,
  warn: (message: string) => void,
): void {
  const file = sources.files.project();
  if (file === undefined) return;
  for (const definition of settingDefinitions) {
    const { key, onlyInProject } = definition;
    if (!Object.hasOwn(file.values, key) || isAllowedInProject(definition, file, sources)) continue;
    const why =
      onlyInProject === undefined
        ? "only the user's own settings can set it"
        : `a project file can only set ${onlyInProject}`;
    warn(`ignoring \`${key}\` in \`${file.path}\`: ${why}`);
  }
}

/** Warns about misspelt settings; they have no effect. */
export function warnAboutUnknownSettings(
  file: SettingsFile | undefined,
  warn: (message: string) => void,
): void {
  if (file === undefined) return;
  for (const key of Object.keys(file.values).filter((each) => !settingKeys.includes(each))) {
    const suggestion = didYouMean(key, settingKeys);
    warn(`unknown setting \`${key}\` in \`${file.path}\`${suggestion ? `; ${suggestion}` : ""}`);
  }
}

/** Warns about misspelt environment variables; they have no effect. */
export function warnAboutUnknownVariables(env: Io["env"], warn: (message: string) => void): void {
  const names = variables.map((name) => name.slice(variablePrefix.length));
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(variablePrefix) || variables.includes(name) || !value) continue;
    const similar = nearest(name.slice(variablePrefix.length), names);
    const suggestion = similar === undefined ? "" : `; did you mean \`${variablePrefix}${similar}\`?`;
    warn(`unknown environment variable \`${name}\`${suggestion}`);
  }
}

interface SettingsFile {
  readonly path: string;
  /** By the keys of settings. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** The settings files; each is read on first use. */
export interface SettingsFiles {
  project(): SettingsFile | undefined;
  /** The path of the project's file, if the default store is next to it. */
  projectPath(): string | undefined;
  user(): SettingsFile;
}

export function settingsFiles(io: Io): SettingsFiles {
  const projectPath = once(() => findProjectFile(io.cwd));
  return {
    projectPath,
    project: once(() => {
      const path = projectPath();
      return path === undefined ? undefined : readSettingsFile(path);
    }),
    user: once(() => readSettingsFile(settingsFile(io))),
  };
}

export const withoutProject = (files: SettingsFiles): SettingsFiles => ({
  user: () => files.user(),
  project: () => undefined,
  projectPath: () => undefined,
});

/**
 * For hook events: the project chooses neither the store nor the definitions, because an agent that can write its
 * settings file could reset all limits, or use other policies.
 */
export const withoutProjectPaths = (files: SettingsFiles): SettingsFiles => ({
  user: () => files.user(),
  projectPath: () => undefined,
  project: () => {
    const file = files.project();
    if (file === undefined) return undefined;
    const ignored: readonly string[] = [settings.store.key, settings.decisions.key];
    const values = Object.entries(file.values).filter(([key]) => !ignored.includes(key));
    return { ...file, values: Object.fromEntries(values) };
  },
});

/** The file in which conf stores the user's settings; read without conf, which takes most of the start-up time. */
export function settingsFile(io: Io): string {
  return join(agentHome(io), "config.json");
}

/** Finds the nearest `agent-33.json` in this directory or above it. */
function findProjectFile(directory: string): string | undefined {
  const path = join(directory, "agent-33.json");
  if (existsSync(path)) return path;
  const parent = dirname(directory);
  return parent === directory ? undefined : findProjectFile(parent);
}

function readSettingsFile(path: string): SettingsFile {
  if (!existsSync(path)) return { path, values: {} };
  let bytes: Buffer;
  try {
    const stats = statSync(path);
    // Reading a pipe or a device may not end: an agent may make the call if its hook does not answer.
    if (!stats.isFile() && !stats.isDirectory()) throw new Error("it is not a regular file");
    bytes = readFileSync(path);
  } catch (error) {
    throw new DecisionError("file_unreadable", `cannot read \`${path}\`: ${(error as Error).message}`, {
      hint: fileErrorHint(error, path) ?? fixHint,
      cause: error,
    });
  }
  let values: unknown;
  try {
    values = parseJson(stripByteOrderMark(decodeText(bytes, `\`${path}\``)));
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    const problem = error.value === undefined ? "is not valid JSON" : "cannot be used";
    throw unusableFile(`\`${path}\` ${problem}: ${error.message}`, error.hint ?? fixHint, error);
  }
  if (isObject(values)) {
    return { path, values: withoutGroups(path, values) };
  }
  throw unusableFile(`\`${path}\` must contain a JSON object`, fixHint);
}

/** Names the fields of each group by their keys: `{"lineage": {"enabled": true}}` has `lineage.enabled`. */
function withoutGroups(
  path: string,
  written: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(written).flatMap(
    ([name, value]): readonly (readonly [string, unknown])[] => {
      const [group = ""] = name.split(".");
      if (!settingGroups.includes(group)) return [[name, value]];
      if (name === group && isObject(value))
        return Object.entries(value).map(([field, each]) => [`${group}.${field}`, each]);
      const field = name.slice(group.length + 1) || "enabled";
      throw unusableFile(
        name === group
          ? `\`${name}\` in \`${path}\` must be an object (got ${describeValue(value)})`
          : `\`${name}\` in \`${path}\` must be a field of the object \`${group}\``,
        `write it as {"${group}": {"${field}": …}}`,
      );
    },
  );
  return Object.fromEntries(entries);
}

const fixHint = "fix the file, or remove it to use the defaults";

const unusableFile = (message: string, hint: string, cause?: unknown): DecisionError =>
  new DecisionError("usage", message, { hint, cause });

function once<T>(compute: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => (result ??= { value: compute() }).value;
}
