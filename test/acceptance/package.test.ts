import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Conf from "conf";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { settingsFile } from "../../src/cli/settings.js";
import { fakeIo } from "../cli/fake-io.js";
import { cleanEnvironment, root, run, samples, temporaryDirectory } from "./command.js";
import { fences } from "./console-blocks.js";

describe("the package", () => {
  it("works where it was installed into an empty folder, without the network", async () => {
    const folder = temporaryDirectory();
    const { stdout } = await execa(
      "npm",
      ["pack", "--ignore-scripts", "--json", "--pack-destination", folder],
      { cwd: root },
    );
    const [packed] = Object.values(
      JSON.parse(stdout) as Record<
        string,
        { filename: string; unpackedSize: number; files: { path: string }[] }
      >,
    );
    const paths = packed?.files.map((file) => file.path) ?? [];
    const tops = new Set(paths.map((path) => path.split("/")[0]));
    expect([...tops].sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "bin",
      "decisions",
      "dist",
      "docs",
      "package.json",
    ]);
    expect(paths).toContain("dist/THIRD-PARTY-LICENSES.txt");
    expect(packed?.unpackedSize).toBeLessThanOrEqual(5_000_000);

    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    await execa("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${packed?.filename ?? ""}`], {
      cwd: folder,
    });
    const command = join(folder, "node_modules/.bin/agent-33");
    const decisions = join(folder, "node_modules/agent-33/decisions");
    const env = cleanEnvironment();
    const words = [
      "decision",
      "evaluate",
      "decision-quality-gate",
      "--decisions",
      decisions,
      "--format",
      "target",
    ];
    const answer = await execa(command, [...words, "--input", '{"artifact":{"quality_score":0.9}}'], {
      cwd: folder,
      env,
      extendEnv: false,
    });
    expect(answer.stdout).toBe("stage-deploy");
    const help = await execa(command, ["help", "rule_table"], { cwd: folder, env, extendEnv: false });
    expect(help.stdout).toMatch(/^RULE_TABLE\n\n/);
  });

  const programs = ["README.md", ...readdirSync(join(root, "docs")).map((file) => `docs/${file}`)].flatMap(
    (page) =>
      fences(readFileSync(join(root, page), "utf8"))
        .filter(({ info }) => info === "ts")
        .map(({ content }) => content),
  );

  it("is a library whose programs compile under strict TypeScript and print what the pages say", async () => {
    expect(programs.length).toBeGreaterThan(3);
    const folder = temporaryDirectory();
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(root, join(folder, "node_modules/agent-33"));
    symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
    symlinkSync(samples, join(folder, "decisions"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const files = programs.map((program, index) => {
      writeFileSync(join(folder, `program-${index}.ts`), program);
      return `program-${index}.ts`;
    });
    const flags = ["--strict", "--module", "nodenext", "--skipLibCheck", "false", "--outDir", "out"];
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const compiled = await execa(process.execPath, [compiler, ...flags, ...files], {
      cwd: folder,
      reject: false,
    });
    expect(compiled.stdout).toBe("");
    for (const [index, program] of programs.entries()) {
      const { stdout } = await execa(process.execPath, [`out/program-${index}.js`], { cwd: folder });
      expect(stdout).toBe(/console\.log\(.*\); \/\/ (.*)/.exec(program)?.[1]?.replaceAll('"', "'"));
    }
  });

  it("has only ASCII in its bundles, which are read as Latin-1", () => {
    const dist = join(root, "dist");
    const files = readdirSync(dist).filter((name) => name.endsWith(".cjs"));
    expect(files.length).toBeGreaterThan(10);
    for (const file of files)
      expect([file, /[^\0-\x7f]/.test(readFileSync(join(dist, file), "utf8"))]).toEqual([file, false]);
  });

  it("brings no dependency along", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      dependencies?: object;
    };
    expect(Object.keys(manifest.dependencies ?? {})).toEqual([]);
  });

  it("has a lock file without the addresses of a registry", () => {
    expect(readFileSync(join(root, "package-lock.json"), "utf8")).not.toContain('"resolved": "http');
  });
});

describe("settings", () => {
  it("are read where conf keeps them", () => {
    const conf = new Conf({ projectName: "agent-33", projectSuffix: "" });
    const { HOME = "", XDG_CONFIG_HOME = "" } = process.env;
    expect(settingsFile(fakeIo({ env: { AGENT33_HOME: "", HOME, XDG_CONFIG_HOME } }))).toBe(conf.path);
  });

  it("name the directory of definitions where nothing else does", async () => {
    const home = temporaryDirectory();
    const conf = new Conf({ projectName: "agent-33", cwd: home });
    conf.set("decisions", samples);
    const { exitCode, stderr } = await run(["decision", "list", "--verbose"], {
      cwd: home,
      env: { AGENT33_HOME: home },
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`decisions: ${samples} (from ${conf.path})`);
  });

  it.each([
    ["the flag", ["--decisions", samples], { AGENT33_DECISIONS: "/elsewhere" }, "--decisions"],
    ["the environment", [], { AGENT33_DECISIONS: samples }, "AGENT33_DECISIONS"],
  ] as const)("give way to %s", async (_name, flags, env, from) => {
    const { stderr } = await run(["decision", "list", "--verbose", ...flags], {
      cwd: temporaryDirectory(),
      env,
    });
    expect(stderr).toContain(`(from ${from})`);
  });
});
