import { existsSync } from "node:fs";
import { join } from "node:path";
import { DecisionError } from "../errors.js";
import { didYouMean } from "../nearest.js";
import { agentHome } from "./agent-home.js";
import type { Io } from "./io.js";
import type { SettingsFile } from "./read-settings.js";
import type { Kind } from "./setting-kinds.js";
import { choice, integer, keys, path, yesOrNo } from "./setting-kinds.js";

/** A setting with where it came from. */
export interface Setting<T = string> {
  readonly value: T;
  readonly from: string;
}

/** What a setting may be. */
export type Value = string | number | boolean;

export interface KnownSetting<T extends Value = Value> extends Kind<T> {
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
export interface CertainSetting<T extends Value> extends KnownSetting<T> {
  fallback(io: Io): Setting<T>;
}

const byDefault = "the default";

export const decisions: KnownSetting<string> = {
  key: "decisions",
  about: "the directory of definitions",
  variable: "AGENT33_DECISIONS",
  flag: "--decisions",
  staysAsTyped: true,
  here: ({ cwd }) =>
    existsSync(join(cwd, "decisions")) ? { value: "decisions", from: "the current directory" } : undefined,
  ...path("a directory"),
};

export const store: CertainSetting<string> = {
  key: "store",
  about: "the directory of records",
  variable: "AGENT33_STORE",
  flag: "--store",
  fallback: (io) => ({ value: agentHome(io), from: io.env["AGENT33_HOME"] ? "AGENT33_HOME" : byDefault }),
  ...path("a directory, as this version keeps its records in one", { but: /^[a-z][a-z0-9+.-]*:\/\//i }),
};

export const durability: CertainSetting<"full" | "fast"> = {
  key: "durability",
  about: "`full`: a record is on the disk before its decision is told; `fast`: soon after",
  variable: "AGENT33_DURABILITY",
  flag: "--durability",
  fallback: () => ({ value: "full", from: byDefault }),
  ...choice("full", "fast"),
};

export const signingKey: KnownSetting<string> = {
  key: "signing_key",
  about: "the file of the private key (Ed25519, PEM) that checkpoints are signed with",
  variable: "AGENT33_SIGNING_KEY",
  toKeep: async (file) => {
    await (await import("./check-signing-key.js")).checkSigningKey(file);
    return file;
  },
  ...path("the path of a file", { but: /-----BEGIN/ }),
};

export const checkpointEvery: CertainSetting<number> = {
  key: "checkpoint_every",
  about: "how many records lie between two checkpoints",
  variable: "AGENT33_CHECKPOINT_EVERY",
  fallback: () => ({ value: 1000, from: byDefault }),
  ...integer(1, 1_000_000),
};

export const segmentSize: CertainSetting<number> = {
  key: "segment_size",
  about: "how many bytes a file of records may have before the next one begins",
  variable: "AGENT33_SEGMENT_SIZE",
  fallback: () => ({ value: 67_108_864, from: byDefault }),
  ...integer(1024, 1_073_741_824),
};

/** Who can change the definitions of a project could change its settings too: they may ask for more, not for less. */
export const requireApproval: CertainSetting<boolean> = {
  key: "require_approval",
  about: "`true`: decide only by definitions that are approved; a project can switch it on, not off",
  variable: "AGENT33_REQUIRE_APPROVAL",
  flag: "--require-approval",
  isForProjects: (value) => value !== false,
  fallback: () => ({ value: false, from: byDefault }),
  ...yesOrNo(),
};

export const trustedKeys: KnownSetting<string> = {
  key: "trusted_keys",
  about: "the public keys whose approvals count; of a PEM file its key is kept; in the user's settings only",
  isForProjects: () => false,
  toKeep: async (written) => (await import("./check-trusted-keys.js")).trustedKeysToKeep(written),
  ...keys(),
};

export const knownSettings: readonly KnownSetting[] = [
  decisions,
  store,
  durability,
  signingKey,
  checkpointEvery,
  segmentSize,
  requireApproval,
  trustedKeys,
];

export const settingKeys: readonly string[] = knownSettings.map((setting) => setting.key);

export function knownSetting(key: string): KnownSetting {
  const setting = knownSettings.find((each) => each.key === key);
  if (setting !== undefined) return setting;
  throw new DecisionError("usage", `there is no setting \`${key}\``, {
    hint: didYouMean(key, settingKeys) ?? `choose one of ${settingKeys.join(", ")}`,
  });
}

/** What a project says and may not say would be silently without effect. */
export function warnOfProjectSettings(file: SettingsFile | undefined, warn: (message: string) => void): void {
  if (file === undefined) return;
  for (const setting of knownSettings) {
    const { key } = setting;
    if (!Object.hasOwn(file.values, key) || (setting.isForProjects?.(file.values[key]) ?? true)) continue;
    warn(`\`${key}\` in \`${file.path}\` does not count: only the user's own settings can say that`);
  }
}

/** A misspelt setting would be silently without effect. */
export function warnOfUnknownSettings(file: SettingsFile | undefined, warn: (message: string) => void): void {
  if (file === undefined) return;
  for (const key of Object.keys(file.values).filter((each) => !settingKeys.includes(each))) {
    const meant = didYouMean(key, settingKeys);
    warn(`there is no setting \`${key}\` (in ${file.path})${meant ? `; ${meant}` : ""}`);
  }
}
