import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { root as checkout, temporaryDirectory } from "../acceptance/command.js";
import { isThorough } from "../thoroughness.js";
import { attack, refused } from "./attack.js";

const definition = (id: string): string =>
  `decision: {id: ${id}, type: switch, cases: [{condition: a == 1, target: hit}], default: {target: miss}}\n`;

/** A folder with the decision `x` in it. */
function folderWithX(): string {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "x.yaml"), definition("x"));
  return folder;
}

const validate = ["decision", "validate", "--format", "plain"];
const evaluate = [
  "decision",
  "evaluate",
  "x",
  "--decisions",
  ".",
  "--input",
  '{"a": 1}',
  "--format",
  "target",
];

interface Folder {
  readonly name: string;
  readonly make: (folder: string) => unknown;
  /** Whether a command that reads it could wait forever. */
  readonly spawned?: boolean;
}

/** Each is beside the definition of `x` and must not be in its way. */
const companions: readonly Folder[] = [
  { name: "a folder called y.yaml", make: (folder) => mkdirSync(join(folder, "y.yaml")) },
  {
    name: "a folder called y.yaml with a definition in it",
    make: (folder) => {
      mkdirSync(join(folder, "y.yaml"));
      writeFileSync(join(folder, "y.yaml/z.yml"), definition("z"));
    },
  },
  {
    name: "a link to nothing that is no definition",
    make: (folder) => symlinkSync("x", join(folder, "y.txt")),
  },
  { name: "a link to the folder itself", make: (folder) => symlinkSync(".", join(folder, "loop")) },
  {
    name: "two links to the folder itself",
    make: (folder) => {
      symlinkSync(".", join(folder, "a"));
      symlinkSync(folder, join(folder, "b"));
    },
  },
  {
    name: "a link to the folder above",
    make: (folder) => {
      mkdirSync(join(folder, "deep/er"), { recursive: true });
      symlinkSync("../..", join(folder, "deep/er/up"));
      symlinkSync("..", join(folder, "deep/up"));
    },
  },
  {
    name: "folders that link to one another",
    make: (folder) => {
      mkdirSync(join(folder, "a"));
      mkdirSync(join(folder, "b"));
      for (const index of Array.from({ length: 8 }, (_, each) => each)) {
        symlinkSync("../b", join(folder, `a/b${index}`));
        symlinkSync("../a", join(folder, `b/a${index}`));
      }
    },
  },
  {
    name: "150 folders in one another",
    make: (folder) => {
      const deepest = join(folder, ...Array.from({ length: 150 }, () => "d"));
      mkdirSync(deepest, { recursive: true });
      writeFileSync(join(deepest, "y.yaml"), definition("y"));
    },
  },
  {
    name: "names that no terminal should see",
    make: (folder) => {
      for (const name of ["\u001b[2J", "a\nb", "\u202e", " ", "__proto__", "$(exit 9)", "-rf"]) {
        writeFileSync(join(folder, `${name}.yaml`), "tests: []\n");
      }
    },
  },
  {
    name: "a name that is no UTF-8",
    make: (folder) =>
      writeFileSync(
        Buffer.concat([Buffer.from(`${folder}/`), Buffer.of(0xff, 0xfe), Buffer.from(".yaml")]),
        "tests: []\n",
      ),
  },
  {
    name: "a name of 255 bytes",
    make: (folder) => writeFileSync(join(folder, `${"n".repeat(250)}.yaml`), "tests: []\n"),
  },
  {
    name: "500 files",
    make: (folder) => {
      for (let index = 0; index < 500; index++) writeFileSync(join(folder, `${index}.yaml`), "tests: []\n");
    },
  },
];

describe("a folder of definitions with", () => {
  it.each(companions)("$name is read", async ({ make, spawned = false }) => {
    const folder = folderWithX();
    await make(folder);
    const { stdout } = await attack([...validate, "."], { cwd: folder, exitCode: 0, spawned });
    expect(stdout).toBe("");
    expect((await attack(evaluate, { cwd: folder, exitCode: 0, spawned })).stdout).toBe("hit\n");
  });

  it.each<{ name: string; make: (folder: string) => unknown }>([
    { name: "a pipe called y.yaml", make: (folder) => execa("mkfifo", [join(folder, "y.yaml")]) },
    { name: "a link to a device", make: (folder) => symlinkSync("/dev/zero", join(folder, "y.yaml")) },
  ])("$name is refused: it may hide what guards decisions", async ({ make }) => {
    const folder = folderWithX();
    await make(folder);
    const { stdout } = await attack([...validate, "."], { cwd: folder, exitCode: 3, spawned: true });
    expect(stdout).toContain("it is not a regular file");
    await attack(evaluate, { cwd: folder, exitCode: 3, spawned: true });
  });

  it("a link to itself is read, or refused with a reason", async () => {
    const folder = folderWithX();
    symlinkSync("y.yaml", join(folder, "y.yaml"));
    await attack([...validate, "."], { cwd: folder, exitCode: [0, 1, 3] });
    await attack(evaluate, { cwd: folder, exitCode: [3] });
  });

  it("a broken file whose name no terminal should see is refused without it", async () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, "\u001b[2J\u202e.yaml"), "decision: {id: x, type: nope}\n");
    await refused(evaluate, { cwd: folder, exitCode: 3 });
  });

  it("files that come and go is read as it is at some moment, or refused", async () => {
    const folder = folderWithX();
    mkdirSync(join(folder, "sub"));
    const files = Array.from({ length: 40 }, (_, index) => join(folder, "sub", `${index}.yaml`));
    let turn = 0;
    const flicker = setInterval(() => {
      const file = files[turn++ % files.length] ?? "";
      if (existsSync(file)) rmSync(file);
      else writeFileSync(file, definition(`y${turn}`));
      if (turn % 97 === 0) rmSync(join(folder, "sub"), { recursive: true, force: true });
      mkdirSync(join(folder, "sub"), { recursive: true });
    }, 0);
    try {
      for (let round = 0; round < (isThorough ? 4 : 1); round++) {
        await attack([...validate, "."], { cwd: folder, exitCode: [0, 1, 3] });
        await attack(evaluate, { cwd: folder, exitCode: [0, 1, 3] });
      }
    } finally {
      clearInterval(flicker);
    }
  });
});

describe("a path that leads nowhere", () => {
  const folder = folderWithX();
  symlinkSync("loop.yaml", join(folder, "loop.yaml"));

  it.each(["missing", "x.yaml/y", "", "loop.yaml", "a".repeat(5_000), "missing\u001b[2J"])(
    "is refused by validate: %j",
    async (path) => {
      await refused([...validate, path], { cwd: folder, exitCode: [1, 2] });
    },
  );

  it.each(["missing", "x.yaml", "x.yaml/y", "loop.yaml", "a".repeat(5_000)])(
    "is refused as --decisions: %j",
    async (path) => {
      await refused(["decision", "list", "--decisions", path], { cwd: folder, exitCode: [1, 2] });
    },
  );
});

/** Root reads everything, so it runs the command as somebody else. */
const isRoot = process.getuid?.() === 0;
const somebody = isRoot ? { uid: 65_534 } : {};

const windows = process.platform === "win32" ? " (skipped: Windows keeps other permissions)" : "";

describe.skipIf(windows !== "")(`what may not be read${windows}`, () => {
  it.each([
    ["a file", "y.yaml", "x.yaml"],
    ["a folder", "sub", "x.yaml"],
    ["the file that is asked for", "x.yaml", "y.yaml"],
  ])("is named: %s", async (_what, forbidden, other) => {
    const folder = temporaryDirectory();
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "sub"));
    for (const name of ["x", "y"]) writeFileSync(join(folder, `${name}.yaml`), definition(name));
    chmodSync(join(folder, other), 0o644);
    chmodSync(join(folder, forbidden), 0);
    const options = { cwd: folder, exitCode: [1, 3], ...somebody };
    const { stdout, stderr } = await attack([...validate, "."], options);
    expect(stdout + stderr).toContain(forbidden);
    chmodSync(join(folder, forbidden), 0o755);
  });
});

describe.skipIf(windows !== "")(`a store that another user owns${windows}`, () => {
  it.each([["log"], ["explain", "latest"], ["distribution", "x"], ["verify"]])(
    "is named by %s with a hint",
    async (...words) => {
      const folder = folderWithX();
      chmodSync(folder, 0o755);
      const store = join(folder, "store");
      mkdirSync(store, { mode: isRoot ? 0o700 : 0 });
      const args = ["decision", ...words, "--store", store, "--decisions", folder];
      const { stderr } = await attack(args, { cwd: folder, exitCode: 1, ...somebody });
      expect(stderr).toMatch(/^error: .*permission denied/m);
      expect(stderr).toMatch(new RegExp(`^hint: check the owner and the permissions of \`${store}`, "m"));
      chmodSync(store, 0o700);
    },
  );
});

const junk = [
  "",
  "{",
  "{}",
  "[]",
  "[null]",
  "[[]]",
  "[{}]",
  "null",
  "5",
  '"x"',
  "\u0000\u0000",
  '[{"path":"x.yaml"}]',
];

/** Asks once, so that a cache is written, and tells where. */
async function warmCache(folder: string, cache: string): Promise<string> {
  const past = new Date(Date.now() - 60_000);
  utimesSync(join(folder, "x.yaml"), past, past);
  await new Promise((done) => setTimeout(done, 100));
  await attack(evaluate, { cwd: folder, env: { AGENT33_CACHE: cache }, exitCode: 0 });
  const [name = ""] = readdirSync(join(cache, "definitions"));
  return join(cache, "definitions", name);
}

describe("a cache that was damaged", () => {
  it.each([
    ["index", junk],
    [
      "definitions",
      [
        ...junk,
        '{"definitions": [null]}',
        '{"definitions": 5}',
        '{"definitions": [{}]}',
        '{"definitions": [{"id": "x"}]}',
      ],
    ],
  ])("is as good as none: its %s", async (part, contents) => {
    const folder = folderWithX();
    const cache = temporaryDirectory();
    const kept = await warmCache(folder, cache);
    const file = readdirSync(kept).find((name) => (name === "index.json") === (part === "index")) ?? "";
    for (const content of contents) {
      const intact = existsSync(join(kept, file));
      expect(intact).toBe(true);
      writeFileSync(join(kept, file), content);
      const { stdout } = await attack(evaluate, { cwd: folder, env: { AGENT33_CACHE: cache }, exitCode: 0 });
      expect(stdout, `with ${content}`).toBe("hit\n");
    }
  });

  it.each(["/dev/null", "/dev/null/x", join(checkout, "package.json"), "a".repeat(5_000)])(
    "or cannot be is as good as none: %s",
    async (cache) => {
      const folder = folderWithX();
      const { stdout } = await attack(evaluate, { cwd: folder, env: { AGENT33_CACHE: cache }, exitCode: 0 });
      expect(stdout).toBe("hit\n");
    },
  );
});

describe("settings that were damaged", () => {
  it.each([
    ...junk,
    '{"decisions": 5}',
    '{"decisions": null}',
    '{"decisions": ["a"]}',
    '{"__proto__": {"decisions": "."}}',
  ])("name no directory of definitions: %j", async (content) => {
    const home = temporaryDirectory();
    writeFileSync(join(home, "config.json"), content);
    const options = { cwd: temporaryDirectory(), env: { AGENT33_HOME: home }, exitCode: [1, 2] };
    await refused(["decision", "list"], options);
  });
});
