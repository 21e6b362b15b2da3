import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { maxPrecedentRefs } from "../decide/request.js";
import { parseDuration } from "../definition/duration.js";
import { DecisionError } from "../errors.js";
import { defaultPrecedentLimit } from "../lineage/precedents.js";
import { didYouMean } from "../text.js";
import { agentHome, expandHome, projectStore } from "./directories.js";
import type { Io } from "./io.js";

/** The value of a setting and the name of its source. */
export interface Setting<T = string> {
  readonly value: T;
  readonly from: string;
}

export type SettingValue = string | number | boolean;

/** One row of the table of settings. */
export interface SettingDefinition<T extends SettingValue = SettingValue> {
  /** In a settings file, `group.name` is the field `name` of the object `group`. */
  readonly key: string;
  readonly description: string;
  readonly type: ValueType<T>;
  /** The environment variable that sets it, if any. */
  readonly env?: string;
  /** The command-line flag that sets it, if any. */
  readonly flag?: string;
  /** The default; `project` is the path of the project's settings file. Absent: no value unless a source sets it. */
  fallback?(io: Io, project?: string): Setting<T>;
  /** What applies while it has no value, for tables. */
  readonly unset?: string;
  /** The value that the current directory implies; takes precedence over the user's settings. */
  implied?(io: Io): Setting<T> | undefined;
  /** Whether a project file may set this value; `own` returns the user's value, or the default. Absent: always. */
  allowedInProject?(value: unknown, own: () => T | undefined): boolean;
  /** What a project file may set, for the warning about another value. Absent: nothing. */
  readonly onlyInProject?: string;
  /** Checks a value before `config set` stores it, and returns the value to store. */
  beforeStoring?(value: T): Promise<T>;
  /** Do not resolve a relative path from a flag or variable, so that messages show it as typed. */
  readonly keepRelative?: true;
}

/** A setting that always has a value. */
export interface SettingWithDefault<T extends SettingValue> extends SettingDefinition<T> {
  fallback(io: Io, project?: string): Setting<T>;
}

/** Every setting, in the order that `config list` prints them. */
export const settings = {
  decisions: setting({
    key: "decisions",
    description: "directory of definitions",
    type: path("a directory"),
    env: "AGENT33_DECISIONS",
    flag: "--decisions",
    keepRelative: true,
    implied: ({ cwd }) =>
      existsSync(join(cwd, "decisions")) ? { value: "decisions", from: "the current directory" } : undefined,
  }),
  store: settingWithDefault({
    key: "store",
    description: "directory of the log and the cache",
    type: path("a directory", { except: /^[a-z][a-z0-9+.-]*:\/\//i }),
    env: "AGENT33_STORE",
    flag: "--store",
    fallback: (io, project) => {
      if (io.env["AGENT33_HOME"]) return { value: agentHome(io), from: "AGENT33_HOME" };
      return project === undefined
        ? { value: agentHome(io), from: "the default" }
        : { value: join(dirname(project), projectStore), from: `the default next to ${project}` };
    },
  }),
  durability: settingWithDefault({
    key: "durability",
    description: "`full`: wait until a record is on disk; `fast`: do not wait",
    type: choice("full", "fast"),
    env: "AGENT33_DURABILITY",
    flag: "--durability",
    fallback: () => ({ value: "full", from: "the default" }),
  }),
  // A guarded agent may be able to write the project's settings: another key would sign what it does, or block the log.
  signingKey: setting({
    key: "signing_key",
    description: "private key file (PEM) for signatures; user's settings only",
    type: path("the path of a file", { except: /-----BEGIN/ }),
    env: "AGENT33_SIGNING_KEY",
    unset: "checkpoints are not signed",
    allowedInProject: () => false,
    beforeStoring: async (file) => (await import("./settings-file.js")).checkSigningKey(file),
  }),
  // With fewer checkpoints, fewer records are signed.
  checkpointEvery: settingWithDefault({
    key: "checkpoint_every",
    description: "number of records between two checkpoints",
    type: integer(1, 1_000_000),
    env: "AGENT33_CHECKPOINT_EVERY",
    fallback: () => ({ value: 1000, from: "the default" }),
    allowedInProject: (value, own) => typeof value !== "number" || value <= (own() ?? Infinity),
    onlyInProject: "a number up to that of the user",
  }),
  // With large files, `retention` and `prune` remove nothing; with small ones, a log has very many.
  segmentSize: settingWithDefault({
    key: "segment_size",
    description: "maximum size of a log file in bytes; user's settings only",
    type: integer(1024, 1_073_741_824),
    env: "AGENT33_SEGMENT_SIZE",
    fallback: () => ({ value: 67_108_864, from: "the default" }),
    allowedInProject: () => false,
  }),
  // It must not delete the evidence of what it did.
  retention: setting({
    key: "retention",
    description: "how long records are kept: `90d`; user's settings only",
    type: duration(),
    env: "AGENT33_RETENTION",
    unset: "records are kept",
    allowedInProject: () => false,
  }),
  // People who can edit a project's definitions can edit its settings too: they may require approval, not waive it.
  requireApproval: settingWithDefault({
    key: "require_approval",
    description: "`true`: use approved definitions only",
    type: boolean(),
    env: "AGENT33_REQUIRE_APPROVAL",
    flag: "--require-approval",
    fallback: () => ({ value: false, from: "the default" }),
    allowedInProject: (value) => value !== false,
    onlyInProject: "`true`",
  }),
  // A guarded agent may be able to write the project's settings.
  unknownTools: setting({
    key: "unknown_tools",
    description: "`deny` or `allow` tools that no policy matches",
    type: choice("deny", "allow"),
    env: "AGENT33_UNKNOWN_TOOLS",
    flag: "--unknown-tools",
    unset: "allow, once there is a policy",
    allowedInProject: (value) => value !== "allow",
    onlyInProject: "`deny`",
  }),
  // A guarded agent must not be able to keep what it does out of the log, or from the observers.
  lineageEnabled: settingWithDefault({
    key: "lineage.enabled",
    description: "`false`: do not record what decisions were based on",
    type: boolean(),
    env: "AGENT33_LINEAGE_ENABLED",
    fallback: () => ({ value: true, from: "the default" }),
    allowedInProject: (value) => value !== false,
    onlyInProject: "`true`",
  }),
  storePrecedents: settingWithDefault({
    key: "lineage.store_precedents",
    description: "`false`: do not look up and record precedents",
    type: boolean(),
    env: "AGENT33_LINEAGE_STORE_PRECEDENTS",
    fallback: () => ({ value: true, from: "the default" }),
    allowedInProject: (value) => value !== false,
    onlyInProject: "`true`",
  }),
  maxPrecedentRefs: settingWithDefault({
    key: "lineage.max_precedent_refs",
    description: "maximum number of precedents recorded with a decision",
    type: integer(1, maxPrecedentRefs),
    env: "AGENT33_LINEAGE_MAX_PRECEDENT_REFS",
    fallback: () => ({ value: defaultPrecedentLimit, from: "the default" }),
    // An observer that compares with fewer precedents finds fewer deviations.
    allowedInProject: (value) => typeof value !== "number" || value < 1 || value >= defaultPrecedentLimit,
    onlyInProject: `${defaultPrecedentLimit} or more`,
  }),
  trustedKeys: setting({
    key: "trusted_keys",
    description: "public keys to accept approvals of; user's settings only",
    type: publicKeys(),
    allowedInProject: () => false,
    beforeStoring: async (keys) => (await import("./settings-file.js")).normalizeTrustedKeys(keys),
  }),
};

export const settingDefinitions: readonly SettingDefinition[] = Object.values(settings);

export const settingKeys: readonly string[] = settingDefinitions.map(({ key }) => key);

/** The names of environment variables that begin like this are for this program. */
export const variablePrefix = "AGENT33_";

/** Every environment variable of this program; those without a setting belong to directories and to `serve`. */
export const variables: readonly string[] = [
  ...settingDefinitions.flatMap(({ env }) => env ?? []),
  ...["HOME", "CACHE", "HOST", "PORT", "JWKS", "ISSUER", "AUDIENCE"].map((name) => variablePrefix + name),
];

/** The groups of settings: objects in a settings file. */
export const settingGroups: readonly string[] = [
  ...new Set(settingKeys.flatMap((key) => (key.includes(".") ? (key.split(".")[0] ?? []) : []))),
];

export function findSettingDefinition(key: string): SettingDefinition {
  const definition = settingDefinitions.find((each) => each.key === key);
  if (definition !== undefined) return definition;
  throw new DecisionError("usage", `unknown setting \`${key}\``, {
    hint: didYouMean(key, settingKeys) ?? `choose one of ${settingKeys.join(", ")}`,
  });
}

function setting<T extends SettingValue>(definition: SettingDefinition<T>): SettingDefinition<T> {
  return definition;
}

function settingWithDefault<T extends SettingValue>(
  definition: SettingWithDefault<T>,
): SettingWithDefault<T> {
  return definition;
}

/** Where a value was found, as far as parsing depends on it. */
export interface ValueSource {
  readonly env: Io["env"];
  /** The directory that relative paths are resolved from; undefined: they are not resolved. */
  readonly base: string | undefined;
  /** Flags and variables are text; settings files have numbers and booleans. */
  readonly isText: boolean;
}

interface ValueType<T> {
  /** Completes "must be …" in the error about an invalid value. */
  readonly expected: string;
  /** Returns undefined for an invalid value. */
  parse(value: unknown, source: ValueSource): T | undefined;
}

function path(expected: string, { except }: { readonly except?: RegExp } = {}): ValueType<string> {
  return {
    expected,
    parse: (value, { env, base }) => {
      if (typeof value !== "string" || value === "" || value.includes("\0")) return undefined;
      if (except?.test(value)) return undefined;
      const expanded = expandHome(value, env);
      return base === undefined ? expanded : resolve(base, expanded);
    },
  };
}

function choice<T extends string>(...choices: readonly T[]): ValueType<T> {
  return {
    expected: choices.map((each) => `\`${each}\``).join(" or "),
    parse: (value) => choices.find((each) => each === value),
  };
}

function integer(minimum: number, maximum: number): ValueType<number> {
  return {
    expected: `a whole number from ${minimum} to ${maximum}`,
    parse: (value, { isText }) => {
      const number = isText && /^\d{1,10}$/.test(String(value)) ? Number(value) : value;
      if (typeof number !== "number" || !Number.isInteger(number)) return undefined;
      return number >= minimum && number <= maximum ? number : undefined;
    },
  };
}

function duration(): ValueType<string> {
  return {
    expected: "a duration above zero such as `90d` (`ms`, `s`, `m`, `h`, `d` or `w`)",
    parse: (value) => (typeof value === "string" && (parseDuration(value) ?? 0) > 0 ? value : undefined),
  };
}

/** As text, `1` and `0` are accepted too. */
function boolean(): ValueType<boolean> {
  return {
    expected: "`true` or `false`",
    parse: (value, { isText }) => {
      if (!isText) return typeof value === "boolean" ? value : undefined;
      if (value === "true" || value === "1") return true;
      return value === "false" || value === "0" ? false : undefined;
    },
  };
}

/** Public keys on one line, in PEM, or as paths of PEM files; separated by commas or in a JSON array. */
function publicKeys(): ValueType<string> {
  const keyFile = path("the path of a file", { except: /-----BEGIN|,/ });
  const parseKey = (value: unknown, source: ValueSource): string | undefined => {
    if (typeof value !== "string") return undefined;
    const text = value.trim();
    const pem = publicPem.exec(text)?.[1];
    if (pem !== undefined) return parseKey(`ed25519:${pem.replaceAll(/\s/g, "")}`, source);
    if (!text.startsWith("ed25519:")) return keyFile.parse(text, source);
    return /^ed25519:[A-Za-z0-9+/]{43}=$/.test(text) ? text : undefined;
  };
  return {
    expected: "public keys: `ed25519:…` or the paths of PEM files, separated by commas",
    parse: (value, source) => {
      const values: readonly unknown[] = Array.isArray(value) ? value : splitKeys(String(value));
      const keys = values.map((each) => parseKey(each, source));
      return keys.length === 0 || keys.includes(undefined) ? undefined : keys.join(",");
    },
  };
}

function splitKeys(text: string): readonly unknown[] {
  if (!text.trimStart().startsWith("[")) return text.split(",");
  try {
    return JSON.parse(text) as readonly unknown[];
  } catch {
    return [undefined];
  }
}

/** An Ed25519 public key in PEM: a fixed prefix of 16 characters (RFC 8410), then 32 bytes in base64. */
const publicPem =
  /^-----BEGIN PUBLIC KEY-----\s*MCowBQYDK2VwAyEA([A-Za-z0-9+/\s]+=)\s*-----END PUBLIC KEY-----$/;
