import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { buildProgram } from "../../src/cli/program.js";
import { samples, temporaryDirectory } from "../acceptance/command.js";
import { fakeIo } from "./fake-io.js";
import { runInProcess } from "./in-process.js";

/** No AGENT33_HOME: that is a store of its own. */
const run = (cwd: string, ...words: readonly string[]): ReturnType<typeof runInProcess> =>
  runInProcess(words, { cwd, env: { AGENT33_HOME: "", HOME: join(cwd, "home"), XDG_CONFIG_HOME: "" } });

const filesIn = (cwd: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(cwd, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(cwd.length + 1), readFileSync(path, "utf8")]),
  );

describe("init", () => {
  it("writes a project whose decision and tests work as printed", async () => {
    const cwd = temporaryDirectory();
    const { exitCode, stdout, stderr } = await run(cwd, "init", "--yes");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.split("\n").slice(0, 4)).toEqual([
      "created   agent-33.json",
      "created   .gitignore",
      "created   decisions/expense-approval.yaml",
      "created   decisions/expense-approval.test.yaml",
    ]);
    expect(stdout).toContain("agent-33 decision test --coverage");
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const evaluated = await run(
      cwd,
      ..."decision evaluate expense-approval --format target --input".split(" "),
      '{"expense": {"amount": 40}}',
    );
    expect(evaluated).toEqual({ exitCode: 0, stdout: "pay\n", stderr: "" });
    expect(existsSync(join(cwd, ".agent-33/log"))).toBe(true);
    expect((await run(cwd, "decision", "test", "--threshold", "100")).exitCode).toBe(0);
    expect((await run(cwd, "decision", "validate", "--strict")).exitCode).toBe(0);
    expect((await run(cwd, "decision", "fmt", "--check")).exitCode).toBe(0);
    expect((await run(cwd, "decision", "explain", "latest")).exitCode).toBe(0);
  });

  it.each([
    "validate --format table",
    "validate --format json",
    "validate --format github",
    "test --format table",
    "test --format json",
    "test --format junit",
    "test --format github",
    "fmt --check --format json",
    "fmt --check --format github",
    "analyze --format plain",
    "show expense-approval --format table",
    "show expense-approval --format json",
    "list --format json",
  ])("shows paths from the current directory: %s", async (command) => {
    const cwd = temporaryDirectory();
    await run(cwd, "init", "--yes");
    const [definition = "", tests = ""] = ["", ".test"].map((kind) =>
      join(cwd, `decisions/expense-approval${kind}.yaml`),
    );
    writeFileSync(definition, `${readFileSync(definition, "utf8").replace("pay\n", "'pay'\n")}# \n`);
    writeFileSync(tests, readFileSync(tests, "utf8").replace("to: pay", "to: other"));
    if (/validate|fmt/.test(command)) writeFileSync(join(cwd, "decisions/broken.yaml"), "decision: {}\n");
    const { stdout } = await run(cwd, "decision", ...command.split(" "));
    expect(stdout).toContain("decisions/");
    expect(stdout).not.toContain(cwd);
  });

  it("annotates files by their paths from the current directory, however they were given", async () => {
    const cwd = temporaryDirectory();
    await run(cwd, "init", "--yes");
    writeFileSync(join(cwd, "decisions/broken.yaml"), "decision:   {}\n");
    for (const words of ["validate", "test", "fmt --check"]) {
      const command = ["decision", ...words.split(" "), join(cwd, "decisions"), "--format", "github"];
      const { stdout } = await run(cwd, ...command);
      expect(stdout).toMatch(/^::error file=decisions\/broken\.yaml,/);
    }
  });

  it("changes nothing the second time, and needs no confirmation then", async () => {
    const cwd = temporaryDirectory();
    await run(cwd, "init", "--yes");
    const before = filesIn(cwd);
    const { exitCode, stdout } = await run(cwd, "init");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^(unchanged .*\n){4}\n/);
    expect(filesIn(cwd)).toEqual(before);
  });

  it("keeps existing files and definitions, and adds one line to .gitignore", async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, "decisions"));
    writeFileSync(join(cwd, "decisions/expense-approval.yaml"), "# mine\n");
    writeFileSync(join(cwd, "agent-33.json"), "{}\n");
    writeFileSync(join(cwd, ".gitignore"), "node_modules");
    const { stdout } = await run(cwd, "init", "--yes");
    expect(stdout).toContain(
      "unchanged agent-33.json\nextended  .gitignore\nunchanged decisions/expense-approval.yaml\n",
    );
    expect(filesIn(cwd)).toMatchObject({
      "decisions/expense-approval.yaml": "# mine\n",
      "agent-33.json": "{}\n",
      ".gitignore": "node_modules\n.agent-33/\n",
    });
  });

  it("needs --yes where it cannot ask", async () => {
    const cwd = temporaryDirectory();
    const { exitCode, stderr } = await run(cwd, "init");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("hint: add --yes");
    expect(filesIn(cwd)).toEqual({});
  });
});

describe("init where something else is in the way", () => {
  it.each([
    { path: ".gitignore", kind: "file", make: (path: string) => mkdirSync(path) },
    { path: ".gitignore", kind: "file", make: (path: string) => symlinkSync(`${path}.missing`, path) },
    { path: "agent-33.json", kind: "file", make: (path: string) => mkdirSync(path) },
    { path: "decisions", kind: "directory", make: (path: string) => writeFileSync(path, "") },
    { path: ".agent-33", kind: "directory", make: (path: string) => writeFileSync(path, "") },
  ])("writes nothing: $path is not a $kind", async ({ path, kind, make }) => {
    const cwd = temporaryDirectory();
    make(join(cwd, path));
    const { exitCode, stderr } = await run(cwd, "init", "--yes");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(path);
    if (path !== "agent-33.json") expect(stderr).toContain(`error: \`${path}\` is not a ${kind}\nhint: `);
    expect(readdirSync(cwd)).toEqual([path]);
  });
});

describe("the store of a project", () => {
  const storeIn = async (cwd: string, env: Readonly<Record<string, string>> = {}): Promise<object> => {
    const words = ["decision", "config", "get", "store", "--format", "json"];
    const home = { AGENT33_HOME: "", HOME: join(cwd, "home"), XDG_CONFIG_HOME: "" };
    return JSON.parse((await runInProcess(words, { cwd, env: { ...home, ...env } })).stdout) as object;
  };

  it("is next to agent-33.json, also below it", async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, "agent-33.json"), "{}");
    mkdirSync(join(cwd, "deep/er"), { recursive: true });
    const store = {
      value: join(cwd, ".agent-33"),
      from: `the default next to ${join(cwd, "agent-33.json")}`,
    };
    expect(await storeIn(cwd)).toMatchObject(store);
    expect(await storeIn(join(cwd, "deep/er"))).toMatchObject(store);
  });

  it("is another one where a variable or a setting says so", async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, "agent-33.json"), "{}");
    expect(await storeIn(cwd, { AGENT33_HOME: "/h" })).toMatchObject({ value: "/h", from: "AGENT33_HOME" });
    expect(await storeIn(cwd, { AGENT33_STORE: "/s" })).toMatchObject({ value: "/s", from: "AGENT33_STORE" });
    mkdirSync(join(cwd, "home/.config/agent-33"), { recursive: true });
    writeFileSync(join(cwd, "home/.config/agent-33/config.json"), '{"store": "/u"}');
    expect(await storeIn(cwd)).toMatchObject({ value: "/u" });
    writeFileSync(join(cwd, "agent-33.json"), '{"store": "log"}');
    expect(await storeIn(cwd)).toMatchObject({ value: join(cwd, "log") });
  });

  it("is not used for hook events, because an agent may be able to create agent-33.json", async () => {
    const cwd = temporaryDirectory();
    await run(cwd, "init", "--yes");
    const event = '{"session_id": "s", "tool_name": "send", "tool_input": {}}';
    const env = { AGENT33_HOME: "", HOME: join(cwd, "home"), XDG_CONFIG_HOME: "" };
    const words = [
      "decision",
      "check",
      "--event",
      "-",
      "--unknown-tools",
      "allow",
      "--decisions",
      "decisions",
    ];
    const { stderr } = await runInProcess(words, { cwd, env, input: event });
    expect(stderr).toContain("--event ignores `store` in ");
    expect(existsSync(join(cwd, ".agent-33"))).toBe(false);
    writeFileSync(join(cwd, "agent-33.json"), "{}");
    await runInProcess(words, { cwd, env, input: event });
    expect(existsSync(join(cwd, ".agent-33"))).toBe(false);
  });
});

describe("the examples of help", () => {
  const helpOf = async (...words: readonly string[]): Promise<string> =>
    (await runInProcess([...words, "--help"])).stdout;

  it("work in a project that init has set up", async () => {
    const cwd = temporaryDirectory();
    await run(cwd, "init", "--yes");
    writeFileSync(join(cwd, "expense.json"), '{"expense": {"amount": 40}}');
    const pages = [await helpOf(), await helpOf("decision", "evaluate"), await helpOf("decision", "dry-run")];
    const examples = pages
      .flatMap((page) => page.replace(/\\\n */g, "").match(/(?<=^ {2}\$ )agent-33 decision .*$/gm) ?? [])
      .filter((line) => line.includes("--input "));
    expect(examples.length).toBeGreaterThan(5);
    for (const example of examples) {
      const words = (example.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ""));
      const { exitCode, stdout } = await run(cwd, ...words.slice(1), "--format", "target");
      expect({ example, exitCode, answer: stdout.split("\n")[0] }).toEqual({
        example,
        exitCode: 0,
        answer: "pay",
      });
    }
  });

  it("name no decision of the samples, which only a clone has", async () => {
    const files = readdirSync(samples).filter((name) => /(?<!\.test)\.yaml$/.test(name));
    const ids = files.flatMap((name) =>
      parseAllDocuments(readFileSync(join(samples, name), "utf8")).flatMap(
        (document) => (document.toJS() as { decision?: { id: string } }).decision?.id ?? [],
      ),
    );
    expect(ids).toContain("decision-quality-gate");
    const program = await buildProgram(fakeIo(), () => undefined);
    const commands = program.commands.find((each) => each.name() === "decision")?.commands ?? [];
    const pages = commands.flatMap((command) => [
      ["decision", command.name()],
      ...command.commands.map((each) => ["decision", command.name(), each.name()]),
    ]);
    for (const words of [[], ...pages]) {
      const text = await helpOf(...words);
      for (const id of [...ids, ...files]) expect(text, words.join(" ")).not.toContain(id);
    }
  });
});
