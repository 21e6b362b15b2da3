import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { agentHome, expandHome } from "./directories.js";
import type { Io } from "./io.js";
import { DecisionError } from "../errors.js";
import { didYouMean } from "../text.js";

/** What the store is opened with. */
interface StoreSettings {
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
    directory: definedSetting(store, { flag: flags.store, io, files }),
    durability: definedSetting(durability, { flag: flags.durability, io, files }),
    signingKey: findSetting(signingKey, { io, files }),
    checkpointEvery: definedSetting(checkpointEvery, { io, files }),
    segmentSize: definedSetting(segmentSize, { io, files }),
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
    required: definedSetting(requireApproval, { flag, io, files }).value,
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
  setting: SettingDefinition<T>,
  sources: Sources,
): Setting<T> | undefined {
  return (
    findOverride(setting, sources) ??
    fromFile(setting, sources.files.user(), sources.io) ??
    setting.fallback?.(sources.io)
  );
}

/** What would win over the user's settings. */
export function findOverride<T extends Value>(
  setting: SettingDefinition<T>,
  { flag, io, files }: Sources,
): Setting<T> | undefined {
  return fromText(setting, flag, io) ?? fromProject(setting, files.project(), io) ?? setting.here?.(io);
}

function fromProject<T extends Value>(
  setting: SettingDefinition<T>,
  file: SettingsFile | undefined,
  io: Io,
): Setting<T> | undefined {
  const isHeard = setting.isForProjects?.(file?.values[setting.key]) ?? true;
  return isHeard ? fromFile(setting, file, io) : undefined;
}

function definedSetting<T extends Value>(setting: DefinedSetting<T>, sources: Sources): Setting<T> {
  return findSetting(setting, sources) ?? setting.fallback(sources.io);
}

function fromText<T extends Value>(
  setting: SettingDefinition<T>,
  flag: string | undefined,
  io: Io,
): Setting<T> | undefined {
  const { variable = "" } = setting;
  const from = flag === undefined ? variable : (setting.flag ?? setting.key);
  const text = flag ?? (io.env[variable] || undefined);
  if (text === undefined) return undefined;
  const base = setting.staysAsTyped ? undefined : io.cwd;
  const value = setting.parse(text, { env: io.env, base, isText: true });
  if (value === undefined) throw invalidValue(setting, text, from);
  return { value, from };
}

function fromFile<T extends Value>(
  setting: SettingDefinition<T>,
  file: SettingsFile | undefined,
  io: Io,
): Setting<T> | undefined {
  if (file === undefined || !Object.hasOwn(file.values, setting.key)) return undefined;
  const given = file.values[setting.key];
  const value = setting.parse(given, { env: io.env, base: dirname(file.path), isText: false });
  if (value === undefined) throw invalidValue(setting, given, `\`${setting.key}\` in \`${file.path}\``);
  return { value, from: file.path };
}

export function invalidValue(setting: SettingDefinition, given: unknown, where: string): DecisionError {
  return new DecisionError("usage", `${where} must be ${setting.expected} (got ${describeValue(given)})`, {
    hint: "see `agent-33 decision config --help`",
  });
}

/** Neither a key nor the password of an address may end up in a log. */
function describeValue(given: unknown): string {
  const text = typeof given === "string" ? given : JSON.stringify(given);
  if (text === "") return "nothing";
  if (text.includes("-----BEGIN")) return "the text of a key";
  const [, scheme] = /^([a-z][a-z0-9+.-]*:\/\/)/i.exec(text) ?? [];
  if (scheme !== undefined) return `\`${scheme}…\``;
  return `\`${text.length > 100 ? `${text.slice(0, 100)}…` : text}\``;
}

/** A setting with where it came from. */
export interface Setting<T = string> {
  readonly value: T;
  readonly from: string;
}

/** What a setting may be. */
export type Value = string | number | boolean;

export interface SettingDefinition<T extends Value = Value> extends Kind<T> {
  readonly key: string;
  readonly about: string;
  /** Absent: no variable sets it. */
  readonly variable?: string;
  readonly flag?: string;
  /** A path in a flag or a variable is shown as it was typed. */
  readonly staysAsTyped?: true;
  /** Whether the project's settings have a say in it: always when left out. */
  isForProjects?(value: unknown): boolean;
  /** What is kept of a value; refuses what `parse` cannot see. */
  toKeep?(value: T): Promise<T>;
  /** What the current directory says by itself; stronger than the user's settings. */
  here?(io: Io): Setting<T> | undefined;
  fallback?(io: Io): Setting<T>;
}

/** A setting that always has a value. */
interface DefinedSetting<T extends Value> extends SettingDefinition<T> {
  fallback(io: Io): Setting<T>;
}

const byDefault = "the default";

export const decisions: SettingDefinition<string> = {
  key: "decisions",
  about: "the directory of definitions",
  variable: "AGENT33_DECISIONS",
  flag: "--decisions",
  staysAsTyped: true,
  here: ({ cwd }) =>
    existsSync(join(cwd, "decisions")) ? { value: "decisions", from: "the current directory" } : undefined,
  ...path("a directory"),
};

export const store: DefinedSetting<string> = {
  key: "store",
  about: "the directory of records",
  variable: "AGENT33_STORE",
  flag: "--store",
  fallback: (io) => ({ value: agentHome(io), from: io.env["AGENT33_HOME"] ? "AGENT33_HOME" : byDefault }),
  ...path("a directory, as this version keeps its records in one", { but: /^[a-z][a-z0-9+.-]*:\/\//i }),
};

export const durability: DefinedSetting<"full" | "fast"> = {
  key: "durability",
  about: "`full`: a record is on the disk before its decision is told; `fast`: soon after",
  variable: "AGENT33_DURABILITY",
  flag: "--durability",
  fallback: () => ({ value: "full", from: byDefault }),
  ...choice("full", "fast"),
};

const signingKey: SettingDefinition<string> = {
  key: "signing_key",
  about: "the file of the private key (Ed25519, PEM) that checkpoints are signed with",
  variable: "AGENT33_SIGNING_KEY",
  toKeep: async (file) => {
    await (await import("./settings-file.js")).checkSigningKey(file);
    return file;
  },
  ...path("the path of a file", { but: /-----BEGIN/ }),
};

const checkpointEvery: DefinedSetting<number> = {
  key: "checkpoint_every",
  about: "how many records lie between two checkpoints",
  variable: "AGENT33_CHECKPOINT_EVERY",
  fallback: () => ({ value: 1000, from: byDefault }),
  ...integer(1, 1_000_000),
};

const segmentSize: DefinedSetting<number> = {
  key: "segment_size",
  about: "how many bytes a file of records may have before the next one begins",
  variable: "AGENT33_SEGMENT_SIZE",
  fallback: () => ({ value: 67_108_864, from: byDefault }),
  ...integer(1024, 1_073_741_824),
};

/** Who can change the definitions of a project could change its settings too: they may ask for more, not for less. */
const requireApproval: DefinedSetting<boolean> = {
  key: "require_approval",
  about: "`true`: decide only by definitions that are approved; a project can switch it on, not off",
  variable: "AGENT33_REQUIRE_APPROVAL",
  flag: "--require-approval",
  isForProjects: (value) => value !== false,
  fallback: () => ({ value: false, from: byDefault }),
  ...yesOrNo(),
};

const trustedKeys: SettingDefinition<string> = {
  key: "trusted_keys",
  about: "the public keys whose approvals count; of a PEM file its key is kept; in the user's settings only",
  isForProjects: () => false,
  toKeep: async (written) => (await import("./settings-file.js")).normalizeTrustedKeys(written),
  ...keys(),
};

export const settingDefinitions: readonly SettingDefinition[] = [
  decisions,
  store,
  durability,
  signingKey,
  checkpointEvery,
  segmentSize,
  requireApproval,
  trustedKeys,
];

export const settingKeys: readonly string[] = settingDefinitions.map((setting) => setting.key);

export function findSettingDefinition(key: string): SettingDefinition {
  const setting = settingDefinitions.find((each) => each.key === key);
  if (setting !== undefined) return setting;
  throw new DecisionError("usage", `there is no setting \`${key}\``, {
    hint: didYouMean(key, settingKeys) ?? `choose one of ${settingKeys.join(", ")}`,
  });
}

/** What a project says and may not say would be silently without effect. */
export function warnAboutIgnoredSettings(
  file: SettingsFile | undefined,
  warn: (message: string) => void,
): void {
  if (file === undefined) return;
  for (const setting of settingDefinitions) {
    const { key } = setting;
    if (!Object.hasOwn(file.values, key) || (setting.isForProjects?.(file.values[key]) ?? true)) continue;
    warn(`\`${key}\` in \`${file.path}\` does not count: only the user's own settings can say that`);
  }
}

/** A misspelt setting would be silently without effect. */
export function warnAboutUnknownSettings(
  file: SettingsFile | undefined,
  warn: (message: string) => void,
): void {
  if (file === undefined) return;
  for (const key of Object.keys(file.values).filter((each) => !settingKeys.includes(each))) {
    const meant = didYouMean(key, settingKeys);
    warn(`there is no setting \`${key}\` (in ${file.path})${meant ? `; ${meant}` : ""}`);
  }
}

/** Where a value stands, as far as its meaning depends on it. */
interface Place {
  readonly env: Io["env"];
  /** What relative paths are taken from; undefined: they stay as they are. */
  readonly base: string | undefined;
  /** Flags and variables are text; in a settings file a number is a number. */
  readonly isText: boolean;
}

/** What the values of a setting look like. */
interface Kind<T> {
  /** As in "must be …". */
  readonly expected: string;
  readonly schema: object;
  /** Undefined where the value is not as expected. */
  parse(value: unknown, place: Place): T | undefined;
}

export function path(expected: string, { but }: { readonly but?: RegExp } = {}): Kind<string> {
  return {
    expected,
    schema: { type: "string", minLength: 1 },
    parse: (value, { env, base }) => {
      if (typeof value !== "string" || value === "" || value.includes("\0") || but?.test(value))
        return undefined;
      const whole = expandHome(value, env);
      return base === undefined ? whole : resolve(base, whole);
    },
  };
}

function choice<T extends string>(...choices: readonly T[]): Kind<T> {
  return {
    expected: choices.map((each) => `\`${each}\``).join(" or "),
    schema: { enum: choices },
    parse: (value) => choices.find((each) => each === value),
  };
}

export function integer(minimum: number, maximum: number): Kind<number> {
  return {
    expected: `a whole number from ${minimum} to ${maximum}`,
    schema: { type: "integer", minimum, maximum },
    parse: (value, { isText }) => {
      const number = isText && /^\d{1,10}$/.test(String(value)) ? Number(value) : value;
      const fits = Number.isInteger(number) && Number(number) >= minimum && Number(number) <= maximum;
      return fits ? Number(number) : undefined;
    },
  };
}

/** Texts know `1` and `0` too. */
function yesOrNo(): Kind<boolean> {
  return {
    expected: "`true` or `false`",
    schema: { type: "boolean" },
    parse: (value, { isText }) => {
      if (!isText) return typeof value === "boolean" ? value : undefined;
      if (value === "true" || value === "1") return true;
      return value === "false" || value === "0" ? false : undefined;
    },
  };
}

/** Public keys on one line or in PEM, or the paths of files of them; as one text with commas, or as a list. */
export function keys(): Kind<string> {
  return {
    expected: "public keys: `ed25519:…` or the paths of PEM files, separated by commas",
    schema: { type: "string", minLength: 1 },
    parse: (value, place) => {
      const written: readonly unknown[] = Array.isArray(value) ? value : listIn(String(value));
      const known = written.map((each) => parseKey(each, place));
      return known.length === 0 || known.includes(undefined) ? undefined : known.join(",");
    },
  };
}

const keyFile = path("the path of a file", { but: /-----BEGIN|,/ });

function listIn(text: string): readonly unknown[] {
  if (!text.trimStart().startsWith("[")) return text.split(",");
  try {
    return JSON.parse(text) as readonly unknown[];
  } catch {
    return [undefined];
  }
}

function parseKey(written: unknown, place: Place): string | undefined {
  if (typeof written !== "string") return undefined;
  const text = written.trim();
  const pem = publicPem.exec(text)?.[1];
  if (pem !== undefined) return parseKey(`ed25519:${pem.replaceAll(/\s/g, "")}`, place);
  if (!text.startsWith("ed25519:")) return keyFile.parse(text, place);
  return /^ed25519:[A-Za-z0-9+/]{43}=$/.test(text) ? text : undefined;
}

/** An Ed25519 key in PEM: sixteen letters that are always the same (RFC 8410), and its 32 bytes in base64. */
const publicPem =
  /^-----BEGIN PUBLIC KEY-----\s*MCowBQYDK2VwAyEA([A-Za-z0-9+/\s]+=)\s*-----END PUBLIC KEY-----$/;

interface SettingsFile {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The files of settings; each is read when it is first asked for, and only then. */
export interface SettingsFiles {
  project(): SettingsFile | undefined;
  user(): SettingsFile;
}

export function settingsFiles(io: Io): SettingsFiles {
  return {
    project: once(() => {
      const path = projectFile(io.cwd);
      return path === undefined ? undefined : readSettingsFile(path);
    }),
    user: once(() => readSettingsFile(settingsFile(io))),
  };
}

/** Where conf keeps the user's settings; read without conf, which would cost most of the start-up. */
export function settingsFile(io: Io): string {
  return join(agentHome(io), "config.json");
}

/** The settings of a project stand in its directory and count in all below it. */
function projectFile(directory: string): string | undefined {
  const path = join(directory, "agent-33.json");
  if (existsSync(path)) return path;
  const above = dirname(directory);
  return above === directory ? undefined : projectFile(above);
}

function readSettingsFile(path: string): SettingsFile {
  if (!existsSync(path)) return { path, values: {} };
  const values = parseJsonText(readText(path), path);
  if (typeof values === "object" && values !== null && !Array.isArray(values)) {
    return { path, values: values as Record<string, unknown> };
  }
  throw new DecisionError("file_unreadable", `the settings in \`${path}\` are not a JSON object`, {
    hint: fixHint,
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { message } = error as Error;
    throw new DecisionError("file_unreadable", `cannot read \`${path}\`: ${message}`, {
      hint: "see that you may read it",
      cause: error,
    });
  }
}

function parseJsonText(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DecisionError("file_unreadable", `the settings in \`${path}\` are not JSON`, {
      hint: fixHint,
      cause: error,
    });
  }
}

const fixHint = "mend the file, or remove it to go on with the defaults";

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
