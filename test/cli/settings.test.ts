import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Io } from "../../src/cli/io.js";
import {
  decisionsDirectory,
  decisionsSetting,
  lineageSettings,
  settingsFile,
  settingsFiles,
  storeSettings,
  warnAboutIgnoredSettings,
  warnAboutUnknownSettings,
  warnAboutUnknownVariables,
} from "../../src/cli/settings.js";
import { variables } from "../../src/cli/settings-table.js";
import { DecisionError } from "../../src/errors.js";
import { fakeIo } from "./fake-io.js";

let root: string;
let home: string;
let project: string;
let cwd: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "agent-33-settings-"));
  home = join(root, "home");
  project = join(root, "project");
  cwd = join(project, "some/where");
  mkdirSync(home);
  mkdirSync(cwd, { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const userFile = (): string => join(home, "config.json");
const projectFile = (): string => join(project, "agent-33.json");

function write(file: string, settings: unknown): void {
  writeFileSync(file, typeof settings === "string" ? settings : JSON.stringify(settings));
}

function io(env: Readonly<Record<string, string>> = {}): Io {
  return fakeIo({ cwd, env: { AGENT33_HOME: home, HOME: join(root, "me"), ...env } });
}

/** Returns the code and message of the error that a function throws. */
function errorOf(read: () => unknown): { code: string; message: string } {
  try {
    read();
  } catch (error) {
    if (error instanceof DecisionError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("no error was thrown");
}

/** The sources, highest precedence first. */
const sources = ["flag", "environment", "project", "user"] as const;
type Source = (typeof sources)[number];

describe("a setting", () => {
  const settings = [
    {
      key: "store",
      variable: "AGENT33_STORE",
      flag: "--store",
      values: { flag: "/1", environment: "/2", project: "/3", user: "/4" },
      read: (flag: string | undefined, from: Io) =>
        storeSettings(flag === undefined ? {} : { store: flag }, from).directory,
    },
    {
      key: "durability",
      variable: "AGENT33_DURABILITY",
      flag: "--durability",
      values: { flag: "fast", environment: "full", project: "fast", user: "full" },
      read: (flag: string | undefined, from: Io) =>
        storeSettings(flag === undefined ? {} : { durability: flag }, from).durability,
    },
    {
      key: "decisions",
      variable: "AGENT33_DECISIONS",
      flag: "--decisions",
      values: { flag: "1", environment: "2", project: "/3", user: "/4" },
      read: decisionsSetting,
    },
    {
      key: "signing_key",
      variable: "AGENT33_SIGNING_KEY",
      values: { environment: "/2", user: "/4" },
      read: (_flag: string | undefined, from: Io) => storeSettings({}, from).signingKey,
    },
    {
      key: "checkpoint_every",
      variable: "AGENT33_CHECKPOINT_EVERY",
      values: { environment: 2, project: 3, user: 4 },
      read: (_flag: string | undefined, from: Io) => storeSettings({}, from).checkpointEvery,
    },
    {
      key: "segment_size",
      variable: "AGENT33_SEGMENT_SIZE",
      values: { environment: 2000, user: 4000 },
      read: (_flag: string | undefined, from: Io) => storeSettings({}, from).segmentSize,
    },
    {
      key: "retention",
      variable: "AGENT33_RETENTION",
      values: { environment: "90d", user: "1h30m" },
      read: (_flag: string | undefined, from: Io) => storeSettings({}, from).retention,
    },
  ];

  const cases = settings.flatMap((setting) =>
    sources
      .filter((source) => source in setting.values)
      .map((winner) => ({ name: `${setting.key} of the ${winner}`, setting, winner })),
  );

  it.each(cases)("comes from the source with the highest precedence: $name", ({ setting, winner }) => {
    const { key, variable, flag, read } = setting;
    const values: Partial<Record<Source, string | number>> = setting.values;
    const present = sources.slice(sources.indexOf(winner));
    if (present.includes("project")) write(projectFile(), { [key]: values.project });
    if (present.includes("user")) write(userFile(), { [key]: values.user });
    const env = present.includes("environment") ? { [variable]: String(values.environment) } : {};
    const from = { flag, environment: variable, project: projectFile(), user: userFile() }[winner];
    expect(read(present.includes("flag") ? String(values.flag) : undefined, io(env))).toEqual({
      value: values[winner],
      from,
    });
  });

  it("has its default if no source sets it", () => {
    expect(storeSettings({}, io())).toEqual({
      directory: { value: home, from: "AGENT33_HOME" },
      durability: { value: "full", from: "the default" },
      signingKey: undefined,
      checkpointEvery: { value: 1000, from: "the default" },
      segmentSize: { value: 67_108_864, from: "the default" },
      retention: undefined,
    });
    expect(decisionsSetting(undefined, io())).toBeUndefined();
    expect(errorOf(() => decisionsDirectory(undefined, io())).code).toBe("definitions_missing");
  });

  it("treats an empty variable as not set", () => {
    const { durability, directory } = storeSettings({}, io({ AGENT33_DURABILITY: "", AGENT33_STORE: "" }));
    expect([durability.value, directory.value]).toEqual(["full", home]);
  });

  it("does not read files of lower precedence", () => {
    write(projectFile(), "{oops");
    write(userFile(), "{oops");
    expect(decisionsSetting("rules", io())).toEqual({ value: "rules", from: "--decisions" });
    expect(decisionsSetting(undefined, io({ AGENT33_DECISIONS: "rules" }))?.value).toBe("rules");
  });
});

describe("the store", () => {
  it("is in the user's config directory by default", () => {
    const { directory } = storeSettings({}, io({ AGENT33_HOME: "", XDG_CONFIG_HOME: "/etc/xdg" }));
    expect(directory.from).toBe("the default");
    if (process.platform === "linux") expect(directory.value).toBe("/etc/xdg/agent-33");
  });

  it.each(["redis://localhost", "rediss://me:secret@host:6379/0", "REDIS://x"])(
    "cannot be a server: %s",
    (address) => {
      const { code, message } = errorOf(() => storeSettings({ store: address }, io()));
      expect(code).toBe("usage");
      expect(message).toMatch(/^--store must be a directory \(got `redis/i);
      expect(message).not.toContain("secret");
    },
  );
});

describe("./decisions", () => {
  beforeEach(() => mkdirSync(join(cwd, "decisions")));

  it("takes precedence over the user's settings", () => {
    write(userFile(), { decisions: "/elsewhere" });
    expect(decisionsSetting(undefined, io())).toEqual({ value: "decisions", from: "the current directory" });
  });

  it("is overridden by the project file", () => {
    write(projectFile(), { decisions: "/elsewhere" });
    expect(decisionsSetting(undefined, io())).toEqual({ value: "/elsewhere", from: projectFile() });
  });

  it("applies if the project file does not set `decisions`", () => {
    write(projectFile(), { store: "records" });
    expect(decisionsSetting(undefined, io())?.value).toBe("decisions");
  });
});

describe("a project file", () => {
  it("applies in its own directory", () => {
    write(join(cwd, "agent-33.json"), { store: "records" });
    expect(storeSettings({}, io()).directory.value).toBe(join(cwd, "records"));
  });

  it("is replaced as a whole by a nearer one", () => {
    write(projectFile(), { store: "far", durability: "fast" });
    write(join(project, "some/agent-33.json"), { store: "near" });
    const { directory, durability } = storeSettings({}, io());
    expect(directory).toEqual({
      value: join(project, "some/near"),
      from: join(project, "some/agent-33.json"),
    });
    expect(durability.from).toBe("the default");
  });
});

describe("the settings of the log in a project file", () => {
  const used = (): unknown[] => {
    const { signingKey, checkpointEvery, segmentSize } = storeSettings({}, io());
    return [signingKey?.value, checkpointEvery.value, segmentSize.value];
  };

  it.each<{ name: string; user: object; project: object; expected: unknown[]; ignored: readonly string[] }>([
    {
      name: "another key and smaller files are ignored",
      user: { signing_key: "/own.pem" },
      project: { signing_key: "/dev/zero", segment_size: 1024 },
      expected: ["/own.pem", 1000, 67_108_864],
      ignored: [
        "signing_key: only the user's own settings can set it",
        "segment_size: only the user's own settings can set it",
      ],
    },
    {
      name: "fewer checkpoints than by default are not written",
      user: {},
      project: { checkpoint_every: 1001 },
      expected: [undefined, 1000, 67_108_864],
      ignored: ["checkpoint_every: a project file can only set a number up to that of the user"],
    },
    {
      name: "fewer checkpoints than the user wants are not written",
      user: { checkpoint_every: 10 },
      project: { checkpoint_every: 11 },
      expected: [undefined, 10, 67_108_864],
      ignored: ["checkpoint_every: a project file can only set a number up to that of the user"],
    },
    {
      name: "more checkpoints are written",
      user: { checkpoint_every: 2000 },
      project: { checkpoint_every: 1999 },
      expected: [undefined, 1999, 67_108_864],
      ignored: [],
    },
  ])("apply only if they do not weaken it: $name", ({ user, project: written, expected, ignored }) => {
    write(userFile(), user);
    write(projectFile(), written);
    expect(used()).toEqual(expected);
    const warnings: string[] = [];
    warnAboutIgnoredSettings({ io: io(), files: settingsFiles(io()) }, (message) => warnings.push(message));
    expect(warnings).toEqual(
      ignored.map((each) => each.replace(/^(\w+)/, `ignoring \`$1\` in \`${projectFile()}\``)),
    );
  });
});

describe("a path", () => {
  it.each([
    ["relative in the project's file", "records", () => join(project, "records")],
    ["above the project's file", "../records", () => join(root, "records")],
    ["absolute", "/var/records", () => "/var/records"],
    ["in the home directory", "~/records", () => join(root, "me/records")],
    ["with a tilde elsewhere", "x/~/records", () => join(project, "x/~/records")],
    ["in another user's home", "~you", () => join(project, "~you")],
  ])("is resolved from the directory of the file that sets it: %s", (_name, written, expected) => {
    write(projectFile(), { store: written, decisions: written });
    expect(storeSettings({}, io()).directory.value).toBe(expected());
    expect(decisionsSetting(undefined, io())?.value).toBe(expected());
  });

  it("in the user's file is resolved from the directory of that file", () => {
    write(userFile(), { decisions: "rules", signing_key: "k.pem" });
    expect(decisionsSetting(undefined, io())).toEqual({ value: join(home, "rules"), from: userFile() });
    expect(storeSettings({}, io()).signingKey?.value).toBe(join(home, "k.pem"));
  });

  it("in a flag or a variable is resolved from the current directory", () => {
    expect(storeSettings({ store: "records" }, io()).directory.value).toBe(join(cwd, "records"));
    expect(storeSettings({}, io({ AGENT33_SIGNING_KEY: "k.pem" })).signingKey?.value).toBe(
      join(cwd, "k.pem"),
    );
  });

  it("of definitions stays as typed", () => {
    expect(decisionsSetting("./rules/", io())?.value).toBe("./rules/");
    expect(decisionsSetting("~/rules", io())?.value).toBe(join(root, "me/rules"));
  });

  it.each([
    { name: "within the current directory", named: "./some/where/rules/", shown: "rules" },
    { name: "that is the current directory", named: "some/where", shown: "." },
    { name: "within it that begins with dots", named: "some/where/..rules", shown: "..rules" },
    { name: "next to the current directory", named: "some/where2", shown: "/some/where2" },
    { name: "above the current directory", named: "some", shown: "/some" },
  ])("of definitions in a settings file is relative only within the current directory: $name", (each) => {
    const expected = each.shown.startsWith("/") ? project + each.shown : each.shown;
    write(projectFile(), { decisions: each.named });
    expect(decisionsDirectory(undefined, io()).value).toBe(expected);
    write(projectFile(), {});
    write(userFile(), { decisions: join(project, each.named) });
    expect(decisionsDirectory(undefined, io()).value).toBe(expected);
  });

  it("in the home directory is an error if HOME is not set", () => {
    const { code, message } = errorOf(() =>
      storeSettings({ store: "~/x" }, io({ HOME: "", USERPROFILE: "" })),
    );
    expect(code).toBe("usage");
    expect(message).toContain("HOME is not set");
  });

  it("of the settings directory may be relative or start with a tilde", () => {
    expect(settingsFile(io({ AGENT33_HOME: "mine" }))).toBe(join(cwd, "mine/config.json"));
    expect(settingsFile(io({ AGENT33_HOME: "~/mine" }))).toBe(join(root, "me/mine/config.json"));
  });
});

describe("an invalid value", () => {
  it.each([
    ["AGENT33_DURABILITY", "quick", "must be `full` or `fast` (got `quick`)"],
    ["AGENT33_CHECKPOINT_EVERY", "0", "must be a whole number from 1 to 1000000 (got `0`)"],
    ["AGENT33_CHECKPOINT_EVERY", "1000001", "(got `1000001`)"],
    ["AGENT33_CHECKPOINT_EVERY", "1e3", "(got `1e3`)"],
    ["AGENT33_CHECKPOINT_EVERY", " 5", "(got ` 5`)"],
    ["AGENT33_CHECKPOINT_EVERY", "-5", "(got `-5`)"],
    ["AGENT33_SEGMENT_SIZE", "1000000000000", "(got `1000000000000`)"],
    ["AGENT33_SEGMENT_SIZE", "1023", "must be a whole number from 1024 to 1073741824 (got `1023`)"],
    [
      "AGENT33_RETENTION",
      "90",
      "must be a duration above zero such as `90d` (`ms`, `s`, `m`, `h`, `d` or `w`) (got `90`)",
    ],
    [
      "AGENT33_RETENTION",
      "0d",
      "must be a duration above zero such as `90d` (`ms`, `s`, `m`, `h`, `d` or `w`) (got `0d`)",
    ],
    ["AGENT33_SEGMENT_SIZE", "9".repeat(400), `(got \`${"9".repeat(100)}…\`)`],
  ])("in the environment names its variable: %s=%s", (variable, value, message) => {
    const error = errorOf(() => storeSettings({}, io({ [variable]: value })));
    expect(error.code).toBe("usage");
    expect(error.message).toMatch(new RegExp(`^${variable} must be `));
    expect(error.message).toContain(message);
  });

  it.each([
    ["--store", { store: "" }, "(got an empty value)"],
    ["--store", { store: "a\0b" }, "must be a directory"],
    ["--durability", { durability: "FULL" }, "must be `full` or `fast` (got `FULL`)"],
  ])("of a flag names the flag: %s %j", (flag, flags, message) => {
    const error = errorOf(() => storeSettings(flags, io()));
    expect(error.message.startsWith(`${flag} must be `)).toBe(true);
    expect(error.message).toContain(message);
  });

  it.each([
    [{ store: 5 }, "(got `5`)"],
    [{ store: null }, "(got `null`)"],
    [{ store: ["x"] }, '(got `["x"]`)'],
    [{ durability: true }, "must be `full` or `fast` (got `true`)"],
    [{ checkpoint_every: "1000" }, "must be a whole number from 1 to 1000000 (got `1000`)"],
    [{ checkpoint_every: 1.5 }, "(got `1.5`)"],
    [{ checkpoint_every: 0 }, "(got `0`)"],
  ])("in a file names the file and the setting: %j", (settings, message) => {
    for (const file of [projectFile(), userFile()]) {
      write(file, settings);
      const error = errorOf(() => storeSettings({}, io()));
      expect(error.code).toBe("usage");
      expect(error.message).toContain(`\`${Object.keys(settings).join()}\` in \`${file}\` must be `);
      expect(error.message).toContain(message);
      rmSync(file);
    }
  });

  it("is not shown if it is a key", () => {
    const key = "-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----";
    expect(errorOf(() => storeSettings({}, io({ AGENT33_SIGNING_KEY: key }))).message).toBe(
      "AGENT33_SIGNING_KEY must be the path of a file (got the text of a key)",
    );
  });
});

describe("the settings of the lineage", () => {
  const lineage = (env: Readonly<Record<string, string>> = {}): ReturnType<typeof lineageSettings> => {
    const from = io(env);
    return lineageSettings(from, settingsFiles(from));
  };

  it("record everything by default", () => {
    expect(lineage()).toEqual({ enabled: true, storePrecedents: true, maxPrecedentRefs: 5 });
  });

  it("come from the user's file and from the environment", () => {
    write(userFile(), { lineage: { enabled: false, store_precedents: false, max_precedent_refs: 3 } });
    expect(lineage()).toEqual({ enabled: false, storePrecedents: false, maxPrecedentRefs: 3 });
    const env = {
      AGENT33_LINEAGE_ENABLED: "true",
      AGENT33_LINEAGE_STORE_PRECEDENTS: "1",
      AGENT33_LINEAGE_MAX_PRECEDENT_REFS: "7",
    };
    expect(lineage(env)).toEqual({ enabled: true, storePrecedents: true, maxPrecedentRefs: 7 });
  });

  it("can be turned on by a project, not off", () => {
    write(projectFile(), { lineage: { enabled: false, store_precedents: false, max_precedent_refs: 3 } });
    expect(lineage()).toEqual({ enabled: true, storePrecedents: true, maxPrecedentRefs: 5 });
    const warnings: string[] = [];
    warnAboutIgnoredSettings({ io: io(), files: settingsFiles(io()) }, (message) => warnings.push(message));
    expect(warnings).toEqual([
      `ignoring \`lineage.enabled\` in \`${projectFile()}\`: a project file can only set \`true\``,
      `ignoring \`lineage.store_precedents\` in \`${projectFile()}\`: a project file can only set \`true\``,
      `ignoring \`lineage.max_precedent_refs\` in \`${projectFile()}\`: a project file can only set 5 or more`,
    ]);
    write(projectFile(), { lineage: { max_precedent_refs: 8 } });
    expect(lineage().maxPrecedentRefs).toBe(8);
    write(userFile(), { lineage: { enabled: false, store_precedents: false } });
    write(projectFile(), { lineage: { enabled: true, store_precedents: true } });
    expect(lineage()).toMatchObject({ enabled: true, storePrecedents: true });
  });

  it.each([
    [{ enabled: "no" }, "`lineage.enabled` in `FILE` must be `true` or `false` (got `no`)"],
    [
      { max_precedent_refs: 0 },
      "`lineage.max_precedent_refs` in `FILE` must be a whole number from 1 to 20 (got `0`)",
    ],
    [
      { max_precedent_refs: 21 },
      "`lineage.max_precedent_refs` in `FILE` must be a whole number from 1 to 20 (got `21`)",
    ],
  ])("have to be valid: %j", (values, message) => {
    write(userFile(), { lineage: values });
    expect(errorOf(lineage)).toEqual({ code: "usage", message: message.replace("FILE", userFile()) });
  });

  it.each([
    [{ lineage: false }, "`lineage` in `FILE` must be an object (got `false`)"],
    [{ "lineage.enabled": false }, "`lineage.enabled` in `FILE` must be a field of the object `lineage`"],
  ])("are fields of an object: %j", (written, message) => {
    write(userFile(), written);
    expect(errorOf(lineage)).toEqual({
      code: "usage",
      message: message.replace("FILE", userFile()),
    });
  });

  it("are suggested where one is misspelt", () => {
    write(projectFile(), { lineage: { enabeld: true } });
    const warnings: string[] = [];
    warnAboutUnknownSettings(settingsFiles(io()).project(), (message) => warnings.push(message));
    expect(warnings).toEqual([
      `unknown setting \`lineage.enabeld\` in \`${projectFile()}\`; did you mean \`lineage.enabled\`?`,
    ]);
  });
});

describe("environment variables", () => {
  it.each([
    { name: "a misspelt one", env: { AGENT33_UNKNOWN_TOOL: "deny" }, similar: "AGENT33_UNKNOWN_TOOLS" },
    { name: "one of the server", env: { AGENT33_JWK: "keys.json" }, similar: "AGENT33_JWKS" },
    { name: "one that is like no other", env: { AGENT33_COLOUR: "1" }, similar: undefined },
  ])("are warned about where they are unknown: $name", ({ env, similar }) => {
    const warnings: string[] = [];
    warnAboutUnknownVariables(env, (message) => warnings.push(message));
    const suggestion = similar === undefined ? "" : `; did you mean \`${similar}\`?`;
    expect(warnings).toEqual([`unknown environment variable \`${Object.keys(env).join("")}\`${suggestion}`]);
  });

  it("are known if the page about configuration lists them, and are not warned about then", () => {
    const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
    const listed = [...page.matchAll(/^\| `(AGENT33_\w+)` /gm)].map(([, name = ""]) => name);
    expect(listed.toSorted()).toEqual(variables.toSorted());
    const env = { ...Object.fromEntries(listed.map((name) => [name, "x"])), AGENT33_UNSET: "", OTHER: "x" };
    warnAboutUnknownVariables(env, (message) => expect.fail(message));
  });
});

describe("a settings file", () => {
  it.each([
    ['{\n  "store": "a",\n}', "is not valid JSON: unexpected `}` after `,` (line 3, column 1)"],
    ["", "is not valid JSON: a value is missing (column 1)"],
    ['{"store": "a", "store": "b"}', "cannot be used: an object has a duplicate key"],
    ["[]", "must contain a JSON object"],
    ["null", "must contain a JSON object"],
  ])("that is not a JSON object is an error: %j", (text, message) => {
    for (const file of [projectFile(), userFile()]) {
      write(file, text);
      expect(errorOf(() => storeSettings({}, io()))).toEqual({
        code: "usage",
        message: `\`${file}\` ${message}`,
      });
      rmSync(file);
    }
  });

  it("that cannot be read is an error", () => {
    mkdirSync(userFile());
    expect(errorOf(() => storeSettings({}, io()))).toMatchObject({ code: "file_unreadable" });
  });

  it("that is a device or a pipe is an error, because it may have no end", () => {
    symlinkSync("/dev/null", projectFile());
    expect(errorOf(() => storeSettings({}, io()))).toMatchObject({
      code: "file_unreadable",
      message: `cannot read \`${projectFile()}\`: it is not a regular file`,
    });
  });

  it("may contain unknown settings", () => {
    write(userFile(), '{ "stroe": 1, "__proto__": { "store": "/evil" }, "durability": "fast" }');
    const { directory, durability } = storeSettings({}, io());
    expect([directory.value, durability.value]).toEqual([home, "fast"]);
  });
});
