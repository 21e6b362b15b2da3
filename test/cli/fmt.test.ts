import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import { runInProcess as run } from "./in-process.js";

const unformatted = "decision:\n    type: switch\n    id: a\n    default: {target: x} # otherwise\n";
const formatted = "decision:\n  id: a\n  type: switch\n  default: { target: x } # otherwise\n";

interface Project {
  readonly cwd: string;
  readonly path: (name: string) => string;
  readonly read: (name: string) => string;
  readonly fmt: (...words: readonly string[]) => ReturnType<typeof run>;
}

function project(files: Readonly<Record<string, string | Uint8Array>>): Project {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, "decisions"));
  const path = (name: string): string => join(cwd, "decisions", name);
  for (const [name, content] of Object.entries(files)) writeFileSync(path(name), content);
  return {
    cwd,
    path,
    read: (name) => readFileSync(path(name), "utf8"),
    fmt: (...words) => run(["decision", "fmt", ...words], { cwd }),
  };
}

describe("fmt", () => {
  it("formats the files of the directory and prints those that changed", async () => {
    const { fmt, read, path } = project({ "a.yaml": unformatted, "b.yml": formatted, "c.txt": unformatted });
    chmodSync(path("a.yaml"), 0o640);
    expect(await fmt("--format", "plain")).toEqual({ exitCode: 0, stdout: "decisions/a.yaml\n", stderr: "" });
    expect([read("a.yaml"), read("b.yml"), read("c.txt")]).toEqual([formatted, formatted, unformatted]);
    expect(statSync(path("a.yaml")).mode & 0o777).toBe(0o640);
    expect(await fmt("--format", "plain")).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(readdirSync(path(""))).toEqual(["a.yaml", "b.yml", "c.txt"]);
  });

  it("formats the named files only, and each once", async () => {
    const { fmt, read } = project({ "a.yaml": unformatted, "b.yaml": unformatted });
    const { stdout } = await fmt("decisions/a.yaml", "./decisions/a.yaml", "--format", "plain");
    expect(stdout).toBe("decisions/a.yaml\n");
    expect(read("b.yaml")).toBe(unformatted);
  });

  it("keeps JSON files JSON", async () => {
    const { fmt, read } = project({ "a.json": '{"decision":{"type":"switch","id":"a"}}' });
    await fmt();
    expect(read("a.json")).toBe('{ "decision": { "id": "a", "type": "switch" } }\n');
  });

  it("writes through a link and leaves it a link", async () => {
    const { fmt, path, read, cwd } = project({});
    writeFileSync(join(cwd, "shared.yaml"), unformatted);
    symlinkSync("../shared.yaml", path("a.yaml"));
    symlinkSync("../shared.yaml", path("b.yaml"));
    expect((await fmt("--format", "plain")).stdout).toBe("decisions/a.yaml\n");
    expect(lstatSync(path("a.yaml")).isSymbolicLink()).toBe(true);
    expect(read("b.yaml")).toBe(formatted);
  });

  it("reports a file with errors as validate does, formats the others and exits with code 3", async () => {
    const files = {
      "a.yaml": unformatted,
      "broken.yaml": "decision:\n  id: [\n",
      "latin.yaml": Buffer.from("name: \xe4\n", "latin1"),
      "keys.yaml": "? [a]\n: b\n",
    };
    const { fmt, read, cwd } = project(files);
    const { exitCode, stdout } = await fmt("--format", "json");
    expect(exitCode).toBe(3);
    const { problems, changed } = JSON.parse(stdout) as {
      problems: readonly { file: string }[];
      changed: unknown;
    };
    expect(changed).toEqual(["decisions/a.yaml"]);
    expect(problems).toMatchObject([
      { file: "decisions/broken.yaml", line: 2, column: 7, severity: "error" },
      { file: "decisions/keys.yaml", line: 1, column: 1, message: "a key must be a text on one line" },
      { file: "decisions/latin.yaml", line: 1, column: 1, message: "the file is not UTF-8 text" },
    ]);
    const validated = await run(["decision", "validate", "decisions/broken.yaml", "--format", "json"], {
      cwd,
    });
    const [first] = (JSON.parse(validated.stdout) as { problems: readonly object[] }).problems;
    expect(problems[0]).toEqual(first);
    expect(read("broken.yaml")).toBe(files["broken.yaml"]);
    expect(read("keys.yaml")).toBe(files["keys.yaml"]);
  });

  it.each<{ words: readonly string[]; files: readonly string[]; shows: readonly string[] }>([
    { words: [], files: [], shows: ["✗ 1 file could not be read"] },
    { words: ["--check"], files: [], shows: ["✗ 1 file could not be read"] },
    {
      words: [],
      files: [unformatted, formatted],
      shows: ["✗ 1 file could not be read", "✓ 1 of 2 files changed", "decisions/0.yaml"],
    },
    {
      words: ["--check"],
      files: [formatted],
      shows: ["✗ 1 file could not be read", "✓ 1 file formatted"],
    },
    {
      words: ["--check"],
      files: [unformatted, formatted],
      shows: ["✗ 1 file could not be read", "✗ 1 of 2 files not formatted", "decisions/0.yaml"],
    },
  ])("counts a file with errors as unread: $words, $shows", async ({ words, files, shows }) => {
    const named = Object.fromEntries(files.map((content, index) => [`${index}.yaml`, content]));
    const { fmt } = project({ ...named, "broken.yaml": "decision:\n  id: [\n" });
    const { exitCode, stdout } = await fmt(...words, "--format", "table");
    expect(exitCode).toBe(3);
    expect(stdout.split("\n").slice(0, shows.length)).toEqual(shows);
    expect(stdout).toContain("decisions/broken.yaml:2:7  error");
  });

  it("formats files that are not valid definitions", async () => {
    const { fmt, read } = project({ "a.yaml": "decision:\n   colour:   red\n   id: a\n" });
    expect((await fmt()).exitCode).toBe(0);
    expect(read("a.yaml")).toBe("decision:\n  id: a\n  colour: red\n");
  });

  it("exits with code 2 for a path that does not exist", async () => {
    const { exitCode, stderr } = await project({}).fmt("nowhere.yaml");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("no such file or directory: `nowhere.yaml`");
  });
});

describe("fmt --check", () => {
  it("changes nothing, lists the files that would change and exits with code 6", async () => {
    const { fmt, read } = project({ "a.yaml": unformatted, "b.yaml": formatted });
    expect(await fmt("--check", "--format", "plain")).toEqual({
      exitCode: 6,
      stdout: "decisions/a.yaml\n",
      stderr: "",
    });
    expect(read("a.yaml")).toBe(unformatted);
    const { stdout } = await fmt("--check", "--format", "github");
    expect(stdout).toBe(
      "::error file=decisions/a.yaml,line=1,col=1::the file is not formatted (run `agent-33 decision fmt`)\n",
    );
    expect((await fmt("--check", "--format", "table")).stdout).toBe(
      "✗ 1 of 2 files not formatted\ndecisions/a.yaml\nhint: run `agent-33 decision fmt`\n",
    );
  });

  it("exits with code 0 if nothing would change", async () => {
    const { fmt } = project({ "a.yaml": formatted });
    const { exitCode, stdout } = await fmt("--check", "--format", "json");
    expect({ exitCode, ...(JSON.parse(stdout) as object) }).toEqual({
      exitCode: 0,
      formatted: true,
      files: 1,
      changed: [],
      problems: [],
    });
  });

  it("fails if there is no file, unless that is allowed", async () => {
    const { fmt } = project({});
    const { exitCode, stderr } = await fmt("--check");
    expect(exitCode).toBe(6);
    expect(stderr).toContain("nothing to check: no definition files in decisions");
    expect((await fmt("--check", "--allow-empty")).exitCode).toBe(0);
  });
});
