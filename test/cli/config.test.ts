import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Ran } from "../acceptance/command.js";
import { temporaryDirectory } from "../acceptance/command.js";
import { runInProcess as run } from "./in-process.js";

interface User {
  readonly home: string;
  readonly file: string;
  readonly cwd: string;
  readonly config: (words: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ran>;
}

/** Somebody who has set nothing yet. */
function newUser(): User {
  const root = temporaryDirectory();
  const home = join(root, "settings/agent-33");
  const cwd = join(root, "project/inside");
  mkdirSync(cwd, { recursive: true });
  const config = (words: readonly string[], env = {}): Promise<Ran> =>
    run(["decision", "config", ...words], { cwd, env: { AGENT33_HOME: home, HOME: root, ...env } });
  return { home, file: join(home, "config.json"), cwd, config };
}

const done = { exitCode: 0, stdout: "", stderr: "" };
const mode = (path: string): number => statSync(path).mode & 0o777;
const kept = ({ file }: User): unknown => JSON.parse(readFileSync(file, "utf8"));

describe("config set", () => {
  it("keeps what was set before", async () => {
    const user = newUser();
    expect(await user.config(["set", "durability", "fast"])).toEqual(done);
    expect(await user.config(["set", "checkpoint_every", "50"])).toEqual(done);
    expect(kept(user)).toEqual({ durability: "fast", checkpoint_every: 50 });
  });

  it("lets nobody else read the file", async () => {
    const user = newUser();
    await user.config(["set", "durability", "fast"]);
    expect([mode(user.home), mode(user.file)]).toEqual([0o700, 0o600]);
    chmodSync(user.file, 0o644);
    await user.config(["set", "durability", "full"]);
    expect(mode(user.file)).toBe(0o600);
    expect(readdirSync(user.home)).toEqual(["config.json"]);
  });

  it("keeps a path whole", async () => {
    const user = newUser();
    await user.config(["set", "store", "../records"]);
    await user.config(["set", "decisions", "~/rules"]);
    expect(kept(user)).toEqual({
      store: join(user.cwd, "../records"),
      decisions: join(user.cwd, "../../rules"),
    });
  });

  it.each([
    ["durability", "quick", "must be `full` or `fast` (got `quick`)"],
    ["checkpoint_every", "0", "must be a whole number from 1 to 1000000 (got `0`)"],
    ["segment_size", "64MiB", "must be a whole number from 1024 to 1073741824 (got `64MiB`)"],
    ["store", "redis://localhost", "must be a directory (got `redis://…`)"],
    ["signing_key", "/nowhere.pem", "cannot read `/nowhere.pem`"],
    ["stroe", "x", "unknown setting `stroe`"],
    ["__proto__", "x", "unknown setting `__proto__`"],
  ])("refuses a wrong value and leaves every byte: %s %s", async (key, value, message) => {
    const user = newUser();
    const before = '{"durability":  "fast", "other": 1}\n';
    mkdirSync(user.home, { recursive: true });
    writeFileSync(user.file, before);
    const { exitCode, stdout, stderr } = await user.config(["set", key, value]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(readFileSync(user.file, "utf8")).toBe(before);
  });

  it("makes nothing where the first value is wrong", async () => {
    const user = newUser();
    await user.config(["set", "durability", "quick"]);
    expect(existsSync(user.home)).toBe(false);
  });

  it("mends a value that was broken by hand, and leaves the others", async () => {
    const user = newUser();
    mkdirSync(user.home, { recursive: true });
    writeFileSync(user.file, '{"durability":"quick","segment_size":"5","other":[1]}');
    expect(await user.config(["set", "durability", "fast"])).toEqual(done);
    expect(await user.config(["unset", "segment_size"])).toEqual(done);
    expect(kept(user)).toEqual({ durability: "fast", other: [1] });
  });

  it("does not write over a file that is not JSON", async () => {
    const user = newUser();
    mkdirSync(user.home, { recursive: true });
    writeFileSync(user.file, "{oops");
    const { exitCode, stderr } = await user.config(["set", "durability", "fast"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("is not valid JSON");
    expect(readFileSync(user.file, "utf8")).toBe("{oops");
  });

  it("says where it cannot write", async () => {
    const { config } = newUser();
    const { exitCode, stderr } = await config(["set", "durability", "fast"], { AGENT33_HOME: "/dev/null/x" });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: cannot write `\/dev\/null\/x\/config.json`: /);
  });

  it("says what still wins", async () => {
    const { config, cwd } = newUser();
    const { exitCode, stderr } = await config(["set", "durability", "fast"], { AGENT33_DURABILITY: "full" });
    expect(exitCode).toBe(0);
    expect(stderr).toBe("`durability` is stored, but AGENT33_DURABILITY overrides it here: `full`\n");
    const project = join(cwd, "../agent-33.json");
    writeFileSync(project, '{"durability":"full"}');
    expect((await config(["set", "durability", "fast"])).stderr).toContain(`but ${project} overrides it`);
    expect((await config(["set", "durability", "fast", "--quiet"])).stderr).toBe("");
    mkdirSync(join(cwd, "decisions"));
    expect((await config(["set", "decisions", "/rules"])).stderr).toContain(
      "but the current directory overrides it",
    );
  });
});

describe("a signing key", () => {
  const pem = { format: "pem" } as const;
  const ed25519 = generateKeyPairSync("ed25519");
  const privateKey = ed25519.privateKey.export({ ...pem, type: "pkcs8" });

  it("is kept by its path", async () => {
    const user = newUser();
    writeFileSync(join(user.cwd, "key.pem"), privateKey, { mode: 0o600 });
    expect(await user.config(["set", "signing_key", "key.pem"])).toEqual(done);
    expect(kept(user)).toEqual({ signing_key: join(user.cwd, "key.pem") });
  });

  it.each([
    ["of another kind", generateKeyPairSync("x25519").privateKey.export({ ...pem, type: "pkcs8" })],
    ["that is public", ed25519.publicKey.export({ ...pem, type: "spki" })],
    [
      "that is encrypted",
      ed25519.privateKey.export({ ...pem, type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" }),
    ],
    ["that is none", "SECRET"],
  ])("is refused, and not shown: one %s", async (_name, text) => {
    const user = newUser();
    writeFileSync(join(user.cwd, "key.pem"), text);
    const { exitCode, stdout, stderr } = await user.config(["set", "signing_key", "key.pem"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("does not contain an Ed25519 private key in PEM");
    expect(stderr).not.toContain(String(text).split("\n").at(1) ?? "SECRET");
    expect(existsSync(user.file)).toBe(false);
  });

  it.each(["\n", "\\n"])(
    "is not shown where it was given instead of its path, lines ended by %j",
    async (end) => {
      const { config } = newUser();
      const [, secret = "none"] = String(privateKey).split("\n");
      const text = String(privateKey).replaceAll("\n", end);
      for (const words of [[text], ["--", text]]) {
        const { exitCode, stdout, stderr } = await config(["set", "signing_key", ...words]);
        expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
        expect(stderr).not.toContain(secret);
      }
    },
  );
});

describe("config get", () => {
  it("prints the value alone to people, and where it came from to programs", async () => {
    const { config, file } = newUser();
    await config(["set", "checkpoint_every", "50"]);
    const get = async (...flags: string[]): Promise<string> =>
      (await config(["get", "checkpoint_every", ...flags])).stdout;
    expect(await get("--format", "plain")).toBe("50\n");
    expect(await get("--format", "table")).toBe("50\n");
    expect(JSON.parse(await get("--json"))).toEqual({ key: "checkpoint_every", value: 50, from: file });
    expect(await get("--format", "yaml")).toBe(`key: checkpoint_every\nvalue: 50\nfrom: ${file}\n`);
  });

  it("says that a setting is not set", async () => {
    const { config } = newUser();
    const stderr = "`signing_key` is not set\n";
    expect(await config(["get", "signing_key", "--format", "plain"])).toEqual({ ...done, stderr });
    const { stdout } = await config(["get", "signing_key", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ key: "signing_key", value: null, from: null });
  });

  it("knows what a misspelt key meant", async () => {
    const { exitCode, stdout, stderr } = await newUser().config(["get", "stroe", "--json"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: { code: "usage", message: "unknown setting `stroe`", hint: "did you mean `store`?" },
    });
  });
});

describe("config list", () => {
  it("shows every setting and where it came from", async () => {
    const { config, cwd, file, home } = newUser();
    const project = join(cwd, "../agent-33.json");
    writeFileSync(project, '{"decisions":"rules"}');
    await config(["set", "durability", "fast"]);
    const { exitCode, stdout, stderr } = await config(["list", "--json"], { AGENT33_SEGMENT_SIZE: "2048" });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual([
      { key: "decisions", value: join(cwd, "../rules"), from: project },
      { key: "store", value: home, from: "AGENT33_HOME" },
      { key: "durability", value: "fast", from: file },
      { key: "signing_key", value: null, from: null },
      { key: "checkpoint_every", value: 1000, from: "the default" },
      { key: "segment_size", value: 2048, from: "AGENT33_SEGMENT_SIZE" },
      { key: "retention", value: null, from: null },
      { key: "require_approval", value: false, from: "the default" },
      { key: "unknown_tools", value: null, from: null },
      { key: "lineage.enabled", value: true, from: "the default" },
      { key: "lineage.store_precedents", value: true, from: "the default" },
      { key: "lineage.max_precedent_refs", value: 5, from: "the default" },
      { key: "trusted_keys", value: null, from: null },
    ]);
  });

  it.each([
    ["jsonl", /^\{"key":"decisions","value":null,"from":null\}\n\{"key":"store",/],
    ["plain", /^decisions\t\t\nstore\t[^\t]+\tAGENT33_HOME\ndurability\tfull\tthe default\n/],
    ["table", /^KEY +VALUE +FROM\ndecisions +not set\nstore /],
    ["table", /\nretention +records are kept +not set\n/],
    ["table", /\nunknown_tools +allow, once there is a policy +not set\n/],
    ["yaml", /^- key: decisions\n {2}value: null\n/],
  ])("can be written as %s", async (format, shape) => {
    expect((await newUser().config(["list", "--format", format])).stdout).toMatch(shape);
  });

  it("tells of words that no setting has", async () => {
    const { config, cwd, home, file } = newUser();
    mkdirSync(home, { recursive: true });
    writeFileSync(file, '{"stroe":"x"}');
    writeFileSync(join(cwd, "agent-33.json"), '{"colour":"x"}');
    const { exitCode, stderr } = await config(["list"]);
    expect(exitCode).toBe(0);
    expect(stderr.split("\n").sort()).toEqual([
      "",
      `warning: unknown setting \`colour\` in \`${join(cwd, "agent-33.json")}\``,
      `warning: unknown setting \`stroe\` in \`${file}\`; did you mean \`store\`?`,
    ]);
    expect((await config(["list", "--quiet"])).stderr).toBe("");
    expect((await config(["get", "store"])).stderr).toBe("");
  });
});

describe("config unset", () => {
  it("takes one value out", async () => {
    const user = newUser();
    await user.config(["set", "durability", "fast"]);
    await user.config(["set", "segment_size", "2048"]);
    expect(await user.config(["unset", "durability"])).toEqual(done);
    expect(kept(user)).toEqual({ segment_size: 2048 });
    expect((await user.config(["get", "durability", "--format", "plain"])).stdout).toBe("full\n");
  });

  it("takes one value out of a group of settings", async () => {
    const user = newUser();
    await user.config(["set", "lineage.enabled", "false"]);
    await user.config(["set", "lineage.max_precedent_refs", "3"]);
    expect(kept(user)).toEqual({ lineage: { enabled: false, max_precedent_refs: 3 } });
    expect((await user.config(["get", "lineage.enabled", "--format", "plain"])).stdout).toBe("false\n");
    expect(await user.config(["unset", "lineage.enabled"])).toEqual(done);
    expect(kept(user)).toEqual({ lineage: { max_precedent_refs: 3 } });
  });

  it("writes nothing where there is nothing to take out", async () => {
    const { config, home, file } = newUser();
    const stderr = `\`durability\` is not set in \`${file}\`\n`;
    expect(await config(["unset", "durability"])).toEqual({ ...done, stderr });
    expect(existsSync(home)).toBe(false);
  });
});

describe("config", () => {
  it("prints the path of the user's settings, and makes nothing", async () => {
    const { config, home, file } = newUser();
    expect(await config(["path"])).toEqual({ ...done, stdout: `${file}\n` });
    expect(existsSync(home)).toBe(false);
  });

  it.each([[[]], [["--help"]]])("explains itself and its settings: %j", async (words) => {
    const { exitCode, stdout, stderr } = await newUser().config(words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: agent-33 decision config /);
    expect(stdout).toContain("\n  checkpoint_every ");
  });

  it.each([
    [["sett", "a", "b"], "unknown command `sett`", "did you mean `set`?"],
    [["set", "store"], "missing required argument `value`", "see `agent-33 decision config set --help`"],
    [
      ["set", "durability", "quick"],
      "(got `quick`)",
      "`full`: wait until a record is on disk; `fast`: do not wait; see `agent-33 decision config --help`",
    ],
  ])("tells what is wrong as JSON: %j", async (words, message, hint) => {
    const { exitCode, stderr } = await newUser().config([...words, "--json"]);
    expect(exitCode).toBe(2);
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string; hint: string } };
    expect(error).toMatchObject({ code: "usage", hint });
    expect(error.message).toContain(message);
  });

  it("is completed down to the keys", async () => {
    const complete = async (...words: string[]): Promise<string> =>
      (await run(["__complete", "--", "decision", ...words])).stdout;
    expect(await complete("conf")).toBe("config\n");
    expect(await complete("config", "")).toBe("list\nget\nset\nunset\npath\n");
    expect(await complete("config", "set", "s")).toBe("store\nsigning_key\nsegment_size\n");
  });
});
