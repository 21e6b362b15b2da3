import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { buildProgram } from "../../src/cli/program.js";
import { serveOptions } from "../../src/cli/commands/serve.js";
import { renderTopic } from "../../src/cli/topics/render-topic.js";
import { fakeIo } from "../cli/fake-io.js";
import { bin, cleanEnvironment, root, run, samples, temporaryDirectory } from "./command.js";
import { servingPort, startServing } from "./decision-server.js";

/** All pages: every recipe is checked, wherever it is. */
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((file) => `docs/${file}`)]
  .map((page) => readFileSync(join(root, page), "utf8"))
  .join("\n");

/** The block of a language that holds a text. */
function recipe(language: string, holding: string): string {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  const blocks = [...pages.matchAll(fence)].map((found) => found[1] ?? "");
  const fitting = blocks.filter((block) => block.includes(holding));
  expect(fitting, `${language} blocks with ${holding}`).toHaveLength(1);
  return fitting[0] ?? "";
}

/** What is set by `NAME=value`, whatever stands between. */
const variablesIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/\b(AGENT33_\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
  );

const recipes = [...pages.matchAll(/^```(?:sh|ini|dockerfile|json|toml)\n([\s\S]*?)^```$/gm)]
  .map((found) => found[1] ?? "")
  .join("\n")
  .replace(/ # .*$/gm, "");

const environment = renderTopic({ page: "configuration", section: "Environment variables" }, 100);

const program = await buildProgram(fakeIo(), () => undefined);
const decision = program.commands.find((each) => each.name() === "decision");

describe("every recipe", () => {
  // Whether it is written as a line, as a list of JSON or as one of TOML.
  const lines = [
    ...recipes
      .replace(/[\s"',[\]]+(?=\S)/g, (gap) => (gap.includes("\n") ? "\n" : " "))
      .matchAll(/\bdecision ([a-z-]+)(.*)$/gm),
  ];
  it("is about commands that are there", () => {
    expect(new Set(lines.map(([, verb]) => verb))).toContain("serve");
  });

  it.each(lines.map(([line, verb = "", rest = ""]) => ({ line, verb, rest })))("$line", ({ verb, rest }) => {
    const command = decision?.commands.find((each) => each.name() === verb);
    const known = command?.options.map(({ long }) => long);
    expect(known).toEqual(expect.arrayContaining(rest.match(/(?<= )--[a-z-]+/g) ?? []));
  });

  it("names only environment variables that mean something", () => {
    const named = new Set(recipes.match(/AGENT33_[A-Z_]+/g));
    expect(named.size).toBeGreaterThan(5);
    const known = environment.match(/AGENT33_[A-Z_]+/g);
    expect(known).toEqual(expect.arrayContaining([...named]));
  });
});

describe("the command that agents start", () => {
  it("is the installed one, on every page", async () => {
    const { stdout } = await run(["decision", "mcp", "--help"]);
    for (const page of [pages, stdout]) {
      const started = [...page.matchAll(/claude mcp add agent-33 -- (.*? mcp)/g)].map((found) => found[1]);
      expect(new Set(started)).toEqual(new Set(["agent-33 decision mcp"]));
    }
  });
});

const analyzes = spawnSync("systemd-analyze", ["--version"]).status === 0;
const noSystemd = analyzes ? "" : " (skipped: there is no `systemd-analyze` command)";

describe("the unit for systemd", () => {
  it.skipIf(!analyzes)(`is one that systemd accepts without a remark${noSystemd}`, () => {
    const unit = recipe("ini", "[Service]");
    const installed = "/usr/local/bin/agent-33";
    expect(unit).toContain(`ExecStart=${installed} `);
    const file = join(temporaryDirectory(), "agent-33.service");
    writeFileSync(file, unit.replaceAll(installed, bin));
    const { status, stderr, stdout } = spawnSync("systemd-analyze", ["verify", "--man=no", file]);
    expect(`${String(stderr)}${String(stdout)}`).toBe("");
    expect(status).toBe(0);
  });

  it("gives the server more time to end than it takes", async () => {
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(recipe("ini", "[Service]")) ?? [];
    const program = await buildProgram(fakeIo(), () => undefined, ["decision", "serve"]);
    const serve = program.commands[0]?.commands[0];
    const grace = String(serve?.options.find(({ long }) => long === "--grace")?.defaultValue);
    expect(grace).toMatch(/^\d+s$/);
    expect(Number(seconds)).toBeGreaterThan(Number.parseInt(grace, 10));
  });
});

describe("the container", () => {
  const dockerfile = recipe("dockerfile", "ENTRYPOINT");
  const [, variables = ""] = /^ENV (.*)$/m.exec(dockerfile) ?? [];
  const env = variablesIn(variables);
  const flags = {
    color: false,
    clockSkew: "30s",
    maxBody: "1048576",
    maxInFlight: "1",
    requestTimeout: "1s",
  };

  it("listens to everybody with keys, and not at all without", () => {
    const keys = variablesIn(recipe("sh", "docker run"));
    const withKeys = fakeIo({ env: { ...env, ...keys } });
    const options = serveOptions({ ...flags, grace: "8s", drainDelay: "0" }, withKeys);
    expect(options).toMatchObject({
      host: "0.0.0.0",
      port: Number(servingPort),
      tokens: { audience: "agent-33" },
    });
    const withoutKeys = fakeIo({ env });
    expect(() => serveOptions({ ...flags, grace: "8s", drainDelay: "0" }, withoutKeys)).toThrow(
      "without authentication",
    );
  });

  it("is built without what is made anew in it", () => {
    const [, ignored = ""] = /`\.dockerignore`.*\n\n```\n([\s\S]*?)```/.exec(pages) ?? [];
    expect(ignored.split("\n")).toEqual(expect.arrayContaining([".git", "node_modules", "dist"]));
  });

  it("is healthy while the server answers, and not afterwards", async () => {
    const [, words = "[]"] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile) ?? [];
    const [command = "", ...args] = JSON.parse(words) as string[];
    expect(command).toBe("node");
    const home = temporaryDirectory();
    const server = await startServing({ cwd: home, env: { AGENT33_HOME: home, AGENT33_DECISIONS: samples } });
    const check = async (): Promise<number | undefined> => {
      const asked = args.map((each) => each.replace(`:${servingPort}/`, `:${server.port}/`));
      const options = { env: cleanEnvironment(), extendEnv: false, reject: false };
      return (await execa(process.execPath, asked, options)).exitCode;
    };
    expect(await check()).toBe(0);
    await server.stop();
    expect(await check()).toBe(1);
  });
});
