import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { definitionHash } from "../../src/definition/loaded-definition.js";
import type { OpenedDefinitions } from "../../src/store/definitions.js";
import { openDefinitions } from "../../src/store/definitions.js";

let home = "";
let directory = "";
let cacheHome = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "agent-33-definitions-"));
  directory = join(home, "decisions");
  cacheHome = join(home, "cache");
  mkdirSync(directory);
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const open = (version = "1"): Promise<OpenedDefinitions> =>
  openDefinitions({ directory, cacheHome, version });

const definition = (id: string, target = "t"): string =>
  `decision:\n  id: ${id}\n  type: switch\n  cases:\n    - { condition: "true", target: ${target} }\n  default: { target: z }\n`;

/** Writes a file with an older modification time, so that it can be cached. */
function write(path: string, text: string, secondsAgo = 60): void {
  const file = join(directory, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
  const then = Date.now() / 1000 - secondsAgo;
  utimesSync(file, then, then);
}

/** Waits until a file can be cached: its change time cannot be set. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 80));

async function targetOf(id: string, version?: string): Promise<string | undefined> {
  const { definition: found } = await (await open(version)).find(id);
  return found.type === "switch" ? found.cases[0]?.target : undefined;
}

describe("definitions of a directory", () => {
  it("are found in subfolders, in YAML and JSON, also several per file", async () => {
    write("a.yaml", `${definition("one")}---\n${definition("two")}`);
    write("deep/er/b.yml", definition("three"));
    write(
      "c.json",
      JSON.stringify({
        decision: {
          id: "four",
          type: "switch",
          cases: [{ condition: "true", target: "t" }],
          default: { target: "z" },
        },
      }),
    );
    write("notes.txt", "not a definition");
    write(".hidden.yaml", "broken: [");
    write("node_modules/x.yaml", "broken: [");
    const opened = await open();
    expect([...opened.ids].sort()).toEqual(["four", "one", "three", "two"]);
    expect(opened.diagnostics).toEqual([]);
  });

  it("come from the cache when nothing has changed", async () => {
    write("a.yaml", definition("one"));
    await settle();
    expect(await open()).toMatchObject({ filesRead: 1, filesCached: 0 });
    const again = await open();
    expect(again).toMatchObject({ filesRead: 0, filesCached: 1 });
    expect((await again.find("one")).definition.id).toBe("one");
  });

  it("have the same hashes from the cache as from the file", async () => {
    write("a.yaml", definition("one"));
    write("t.yaml", "targets: [t, z]");
    await settle();
    const fresh = await (await open()).find("one");
    const cached = await (await open()).find("one");
    expect(cached).toEqual(fresh);
  });

  it("are read again when a file was edited, even with its size and time kept", async () => {
    write("a.yaml", definition("one", "aaa"));
    await settle();
    expect(await targetOf("one")).toBe("aaa");
    expect(await targetOf("one")).toBe("aaa");
    const { atimeMs, mtimeMs } = statSync(join(directory, "a.yaml"));
    writeFileSync(join(directory, "a.yaml"), definition("one", "bbb"));
    utimesSync(join(directory, "a.yaml"), atimeMs / 1000, mtimeMs / 1000);
    expect(await targetOf("one")).toBe("bbb");
  });

  it("are read again after every one of many quick edits", async () => {
    write("a.yaml", definition("one", "t000"), 0);
    for (let edit = 0; edit < 10; edit++) {
      const target = `t${String(edit).padStart(3, "0")}`;
      writeFileSync(join(directory, "a.yaml"), definition("one", target));
      expect(await targetOf("one")).toBe(target);
    }
  });

  it("see a file that was added or removed", async () => {
    write("a.yaml", definition("one"));
    await settle();
    await open();
    write("b.yaml", definition("two"));
    expect((await open()).ids).toEqual(["one", "two"]);
    rmSync(join(directory, "a.yaml"));
    expect((await open()).ids).toEqual(["two"]);
  });

  it("keep the diagnostics of an invalid file in the cache", async () => {
    write("a.yaml", definition("one").replace("switch", "swich"));
    await settle();
    const fresh = await open();
    const cached = await open();
    expect(cached).toMatchObject({ filesCached: 1, diagnostics: fresh.diagnostics });
    await expect(cached.find("one")).rejects.toMatchObject({ code: "definition_invalid" });
  });

  it("survive a cache that was emptied, damaged or made read-only", async () => {
    write("a.yaml", definition("one"));
    await settle();
    await open();
    const [folder = ""] = readdirSync(join(cacheHome, "definitions"));
    const cached = join(cacheHome, "definitions", folder);
    for (const file of readdirSync(cached).filter((name) => name !== "index.json"))
      rmSync(join(cached, file));
    expect(await targetOf("one")).toBe("t");
    writeFileSync(join(cached, "index.json"), "{ not json");
    expect(await targetOf("one")).toBe("t");
    rmSync(cacheHome, { recursive: true });
    writeFileSync(cacheHome, "a file where the directory should be");
    expect(await targetOf("one")).toBe("t");
  });

  it.each([
    { name: "guardrails", held: "guardrails: [{ type: no_disabled_targets }]\n" },
    { name: "masks", held: "masks: [/password]\n" },
    { name: "disabled targets", held: "targets: [t, z, { id: x, disabled: true }]\n" },
  ])("are refused while a file is broken that had $name, whatever is left of it", async ({ held }) => {
    const broken = definition("two").replace("switch", "swich");
    write("a.yaml", definition("one"));
    write("b.yaml", `${definition("two")}---\n${held}`);
    await settle();
    expect(await targetOf("one")).toBe("t");
    for (const secondsAgo of [0, 60, 120]) {
      write("b.yaml", broken, secondsAgo);
      await expect(targetOf("one")).rejects.toThrow("which may contain guardrails or masks");
      await settle();
      await expect(targetOf("one")).rejects.toThrow("which may contain guardrails or masks");
    }
    write("b.yaml", definition("two"));
    expect(await targetOf("one")).toBe("t");
    await settle();
    expect(await targetOf("one")).toBe("t");
    write("b.yaml", broken);
    expect(await targetOf("one")).toBe("t");
  });

  it("do not use the cache of another version", async () => {
    write("a.yaml", definition("one"));
    await settle();
    await open("1");
    expect(await open("2")).toMatchObject({ filesRead: 1 });
  });

  it("are cached in files that only the user can read", async () => {
    write("a.yaml", definition("one"));
    await settle();
    await open();
    const [folder = ""] = readdirSync(join(cacheHome, "definitions"));
    const cached = join(cacheHome, "definitions", folder);
    expect(statSync(cached).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(cached)) expect(statSync(join(cached, file)).mode & 0o777).toBe(0o600);
  });

  describe("in a cache that somebody changed", () => {
    let folder = "";
    let body = "";

    beforeEach(async () => {
      write("a.yaml", definition("one", "genuine"));
      await settle();
      await open();
      const [name = ""] = readdirSync(join(cacheHome, "definitions"));
      folder = join(cacheHome, "definitions", name);
      body = readdirSync(folder).find((each) => each !== "index.json") ?? "";
    });

    /** Replaces a text in a file of the cache, wherever it is, so that both copies stay equal. */
    const forge = (name: string, from: string, to: string): void => {
      const text = readFileSync(join(folder, name), "utf8");
      expect(text).toContain(from);
      writeFileSync(join(folder, name), text.replaceAll(from, to));
    };

    it("are read from their file if a cached definition does not have its hash", async () => {
      forge(body, "genuine", "evil");
      expect(await targetOf("one")).toBe("genuine");
    });

    it("are refused once if the cached hash is wrong, and then read from their file", async () => {
      const { definition_hash: hash } = await (await open()).find("one");
      forge("index.json", hash, "0".repeat(64));
      await expect(targetOf("one")).rejects.toMatchObject({ code: "definition_invalid" });
      expect(await targetOf("one")).toBe("genuine");
      expect((await (await open()).find("one")).definition_hash).toBe(hash);
    });

    it("are never used under the hash of the genuine definition", async () => {
      const genuine = await (await open()).find("one");
      const forged = { ...genuine.definition, default: { target: "evil" } };
      forge(body, '{"target":"z"}', '{"target":"evil"}');
      forge("index.json", genuine.definition_hash, definitionHash(forged));
      const found = await (await open()).find("one");
      expect(found.definition_hash).toBe(definitionHash(found.definition));
      expect(found.definition_hash).not.toBe(genuine.definition_hash);
    });

    it.each(["index.json", "body", "folder"])(
      "are read from their file if others can write: %s",
      async (what) => {
        forge(body, "genuine", "evil");
        const path = what === "folder" ? folder : join(folder, what === "body" ? body : what);
        chmodSync(path, what === "folder" ? 0o720 : 0o620);
        expect(await targetOf("one")).toBe("genuine");
      },
    );

    it.skipIf(process.getuid?.() !== 0)(
      "are read from their file if another user owns the cached one",
      async () => {
        chownSync(join(folder, "index.json"), 12_345, 12_345);
        expect(await open()).toMatchObject({ filesRead: 1 });
        chownSync(folder, 12_345, 12_345);
        expect(await open()).toMatchObject({ filesRead: 1 });
      },
    );
  });

  it("remove deleted files from the cache", async () => {
    write("a.yaml", definition("one"));
    write("b.yaml", definition("two"));
    await settle();
    await open();
    rmSync(join(directory, "b.yaml"));
    await open();
    const [folder = ""] = readdirSync(join(cacheHome, "definitions"));
    expect(readdirSync(join(cacheHome, "definitions", folder))).toHaveLength(2);
  });

  it("fail with an error that names a missing directory", async () => {
    rmSync(directory, { recursive: true });
    await expect(open()).rejects.toMatchObject({
      code: "definitions_missing",
      message: `the directory \`${directory}\` does not exist`,
    });
  });

  it("are found behind links once, even if links form a cycle", async () => {
    write("real/a.yaml", definition("one"));
    symlinkSync(join(directory, "real"), join(directory, "again"));
    symlinkSync(join(directory, "real"), join(directory, "real", "loop"));
    const elsewhere = join(home, "elsewhere.yaml");
    writeFileSync(elsewhere, definition("two"));
    symlinkSync(elsewhere, join(directory, "b.yaml"));
    const opened = await open();
    expect(opened.diagnostics).toEqual([]);
    expect([...opened.ids].sort()).toEqual(["one", "two"]);
  });

  it.each(["c.yaml", "shared", "policies.d"])(
    "behind the broken link `%s` are reported as missing",
    async (name) => {
      write("a.yaml", definition("one"));
      symlinkSync(join(home, "gone"), join(directory, name));
      symlinkSync(join(home, "gone"), join(directory, "notes.txt"));
      for (let time = 0; time < 2; time++) {
        const opened = await open();
        expect(opened.ids).toEqual(["one"]);
        expect(opened.diagnostics.map(({ message }) => message)).toEqual(["it is a broken link"]);
        expect(opened.brokenPolicies).toEqual(opened.diagnostics);
      }
      symlinkSync(join(directory, "a.yaml"), join(home, "gone"));
    },
  );

  it("are missing where a file of their name is no regular file", async () => {
    write("a.yaml", definition("one"));
    symlinkSync("/dev/null", join(directory, "b.yaml"));
    const opened = await open();
    expect(opened.diagnostics.map(({ message }) => message)).toEqual(["it is not a regular file"]);
    expect(opened.brokenPolicies).toEqual(opened.diagnostics);
  });

  it.skipIf(process.getuid?.() === 0)(
    "go on without a file that cannot be read (skipped: root reads all)",
    async () => {
      write("a.yaml", definition("one"));
      write("b.yaml", definition("two"));
      chmodSync(join(directory, "a.yaml"), 0o000);
      const opened = await open();
      expect(opened.ids).toEqual(["two"]);
      expect(opened.diagnostics[0]?.message).toContain("it cannot be read: EACCES");
    },
  );
});
