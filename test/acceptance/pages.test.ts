import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { settingKeys } from "../../src/cli/settings-table.js";
import * as library from "../../src/index.js";
import { fakeIo } from "../cli/fake-io.js";
import { bin, root, samples, temporaryDirectory } from "./command.js";
import type { Block, Page, PageCommand } from "./console-blocks.js";
import { fences, readPage } from "./console-blocks.js";
import { servingPort, startServing } from "./decision-server.js";
import { generatedSections } from "./generated-sections.js";
import { copySamples, SampleServer, usualPort } from "./sample-server.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

/** `npm run docs:update` writes what is seen into the pages instead of comparing the two. */
const isUpdate = process.env["AGENT33_PAGES"] === "update";

const docs = readdirSync(join(root, "docs")).map((file) => `docs/${file}`);
const pages = ["README.md", "CONTRIBUTING.md", "decisions/README.md", ...docs];
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasTerminal)(`what the pages show is what is seen${noTerminal}`, () => {
  const withCommands = pages.map(readPage).filter(({ blocks }) => blocks.length > 0);
  const needsCurl = ({ text }: Page): boolean => /^\$.*curl /m.test(text);

  it.each(withCommands.filter((page) => hasCurl || !needsCurl(page)))("$page", async (page) => {
    const seen = await typeAll(page);
    if (isUpdate) {
      updatePage(page, seen);
      return;
    }
    for (const block of page.blocks) {
      for (const [index, command] of block.commands.entries()) {
        const output = seen.get(block)?.[index] ?? [];
        if (!matches(command.shown, output)) expect(output, command.line).toEqual(command.shown);
      }
    }
  });
});

interface Workplace {
  readonly cwd: string;
  readonly env: { readonly PATH: string; readonly NO_COLOR: string; readonly AGENT33_HOME: string };
  /** Puts the ports that are free here in place of those that the page names. */
  readonly here: (text: string) => string;
}

/** Types all blocks of a page, in order, in one directory; gives the output of each command. */
async function typeAll(page: Page): Promise<ReadonlyMap<Block, readonly (readonly string[])[]>> {
  const needsBureau = page.blocks.some(({ beside }) => beside === "sample-server");
  const bureau = needsBureau ? await SampleServer.start() : undefined;
  const place = workplace(page, bureau, bureau?.port ?? (await freePort()));
  const seen = new Map<Block, readonly (readonly string[])[]>();
  try {
    let written = 0;
    for (const blocks of runs(page.blocks)) {
      const end = blocks.at(-1)?.end ?? 0;
      const files = page.files.filter(({ start }) => start >= written && start < end);
      written = end;
      const server = blocks[0]?.beside === "serve" ? await serving(files, place) : undefined;
      const steps = [...(server === undefined ? files : []), ...blocks].sort((a, b) => a.start - b.start);
      const script = steps.flatMap((step) => ("path" in step ? [saving(step)] : step.commands.map(typing)));
      const port = (text: string): string =>
        place.here(server === undefined ? text : text.replaceAll(`:${servingPort}`, `:${server.port}`));
      const { screen } = await typed(port(script.join("\n")), place).finally(() => server?.stop());
      const outputs = screen.split("@@@\n").map((each) => linesOf(backwards(each, place, server?.port)));
      for (const block of blocks) seen.set(block, outputs.splice(0, block.commands.length));
    }
  } finally {
    await bureau?.stop();
  }
  return seen;
}

/** The page names the usual ports; what is seen is compared as if they had been free. */
const backwards = (text: string, { here }: Workplace, port: number | undefined): string =>
  text
    .replaceAll(here(usualPort), usualPort)
    .replaceAll(port === undefined ? servingPort : String(port), servingPort);

const typing = ({ line }: PageCommand): string => `${line}\necho "@@@"`;
const saving = ({ path, text }: { path: string; text: string }): string =>
  `mkdir -p '${dirname(path)}'; cat > '${path}' <<'@@@FILE'\n${text}@@@FILE`;

function linesOf(output: string): readonly string[] {
  const text = withoutProgress(output.replace(/@@@$/, "")).trimEnd();
  return text === "" ? [] : text.split("\n");
}

/** What stays on a line that a command rewrites while it works. */
const withoutProgress = (output: string): string => output.replace(/^.*\r/gm, "").replaceAll("\u001b[K", "");

/** A server reads its definitions from files that are there before. */
async function serving(
  files: Page["files"],
  { cwd, env, here }: Workplace,
): Promise<Awaited<ReturnType<typeof startServing>>> {
  for (const { path, text } of files) writeFileSync(join(cwd, path), here(text));
  return startServing({ cwd, env });
}

/** Blocks next to each other that need the same server are typed in one terminal. */
function runs(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const all: Block[][] = [];
  for (const block of blocks) {
    const last = all.at(-1);
    if (last !== undefined && last[0]?.beside === block.beside) last.push(block);
    else all.push([block]);
  }
  return all;
}

function workplace({ hasSamples }: Page, server: SampleServer | undefined, port: number): Workplace {
  const cwd = temporaryDirectory();
  if (server !== undefined) copySamples(join(cwd, "decisions"), server);
  else if (hasSamples) cpSync(samples, join(cwd, "decisions"), { recursive: true });
  else mkdirSync(join(cwd, "decisions"));
  mkdirSync(join(cwd, "bin"));
  symlinkSync(bin, join(cwd, "bin/agent-33"));
  const PATH = `${join(cwd, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  const env = { PATH, NO_COLOR: "1", AGENT33_HOME: join(cwd, "home") };
  return { cwd, env, here: (text) => text.replaceAll(usualPort, String(port)) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = Object(server.address()) as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function matches(shown: readonly string[], output: readonly string[]): boolean {
  const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const lines = shown.map((line) =>
    line.trim() === "…" ? "(?:.*\n)*" : `${line.split("…").map(escaped).join(".*")}\n`,
  );
  return new RegExp(`^${lines.join("")}$`).test(output.map((line) => `${line}\n`).join(""));
}

/** Replaces the output of the commands whose output is another one now. */
function updatePage(page: Page, seen: ReadonlyMap<Block, readonly (readonly string[])[]>): void {
  let { text } = page;
  for (const block of [...page.blocks].reverse()) {
    const lines = block.commands.flatMap(({ line, shown }, index) => {
      const output = seen.get(block)?.[index] ?? [];
      return [`$ ${line}`, ...(matches(shown, output) ? shown : output.map((each) => steady(each, shown)))];
    });
    text = `${text.slice(0, block.start)}${lines.join("\n")}\n${text.slice(block.end)}`;
  }
  if (text !== page.text) writeFileSync(join(root, page.page), text);
}

/** A line of output as a page shows it: a former line that still matches, else with `…` for what always changes. */
function steady(line: string, shown: readonly string[]): string {
  const former = shown.find((each) => each.trim() !== "…" && each.includes("…") && matches([each], [line]));
  if (former !== undefined) return former;
  return line
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "…")
    .replace(/\b[0-9a-f]{64}\b/g, "…")
    .replace(/, number [\d,]+/g, ", number …")
    .replace(/\bed25519:[\w+/=]{20,}/g, "ed25519:…")
    .replace(/\b[\d.]+ (?=ms\b|KiB\b)/g, "… ")
    .replace(/\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?Z?/g, "…")
    .replace(/\/\S*\/agent-33-\w+/g, "…");
}

describe("the tables of the specifications", () => {
  const page = readPage("docs/specifications.md");
  const cells = [...page.text.matchAll(/^\|[^|]*\|((?:[^|]|\\\|)*)\|$/gm)].map(([, shownBy = ""]) => shownBy);
  const spans = cells.flatMap((cell) =>
    [...cell.matchAll(/`([^`]+)`(?: \(exit code (\d+)\))?/g)].map(([, text = "", code = "0"]) => ({
      text,
      code,
    })),
  );
  const commands = spans.filter(({ text }) => text.startsWith("agent-33 "));
  const calls = spans.flatMap(({ text }) => /^(\w+)\(\)$/.exec(text)?.[1] ?? []);

  it("have commands that run, one after the other, and end as they say", () => {
    const { cwd, env } = workplace(page, undefined, 0);
    const script = commands
      .map(({ text }) => `{ ${text}; } </dev/null >>output.txt 2>&1; echo $?`)
      .join("\n");
    const { stdout } = spawnSync("sh", ["-c", script], { cwd, env, encoding: "utf8" });
    const codes = stdout.trimEnd().split("\n");
    expect(commands.length).toBeGreaterThan(50);
    expect(commands.map(({ text }, index) => `${codes[index] ?? "not run"}: ${text}`)).toEqual(
      commands.map(({ text, code }) => `${code}: ${text}`),
    );
  });

  it("name functions that the library exports", () => {
    expect(calls.length).toBeGreaterThan(5);
    expect(calls.filter((name) => !Object.hasOwn(library, name))).toEqual([]);
  });
});

describe("the YAML of the pages", () => {
  const blocks = pages.flatMap((page) =>
    fences(readFileSync(join(root, page), "utf8"))
      .filter(({ info }) => info === "yaml")
      .map(({ content }, index) => ({ name: `${page} #${index + 1}`, content })),
  );

  it.each(blocks)("$name is valid", async ({ content }) => {
    const directory = temporaryDirectory();
    const file = join(directory, "page.yaml");
    writeFileSync(file, content);
    const io = fakeIo({ cwd: directory });
    const code = await main(["decision", "validate", file, "--format", "plain"], io);
    expect(io.written.out.split("\n").filter((line) => /\berror\b/.test(line))).toEqual([]);
    expect(code).toBe(0);
  });
});

describe("what a page takes from the code", () => {
  it.each(Object.entries(generatedSections))("%s", async (name, { page, lines }) => {
    const rows = await lines();
    const file = join(root, page);
    const text = readFileSync(file, "utf8");
    const between = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);
    const fresh = text.replace(between, (_, start: string, end: string) => `${start}\n${rows}\n${end}`);
    expect(text).toMatch(between);
    if (isUpdate) writeFileSync(file, fresh);
    else expect(withoutPadding(text)).toBe(withoutPadding(fresh));
  });
});

/** prettier pads the cells of tables. */
const withoutPadding = (text: string): string => text.replace(/ {2,}/g, " ").replace(/-{3,}/g, "---");

describe("the pages", () => {
  it("link to files and headings that exist", () => {
    for (const page of [...pages, "CHANGELOG.md"]) {
      const text = readFileSync(join(root, page), "utf8");
      for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = "", anchor] = target.split("#");
        const file = path === "" ? join(root, page) : join(root, dirname(page), path);
        expect(existsSync(file), `${page}: ${target}`).toBe(true);
        if (anchor !== undefined) expect(anchors(file), `${page}: ${target}`).toContain(anchor);
      }
    }
  });

  it("name source files that exist", () => {
    for (const page of ["docs/architecture.md", "CONTRIBUTING.md"]) {
      const text = readFileSync(join(root, page), "utf8");
      const named = [...text.matchAll(/`((?:src|test|bench|bin|decisions|docs)\/[\w./-]*)`/g)];
      expect(named.length, page).toBeGreaterThan(5);
      for (const [, path = ""] of named) expect(existsSync(join(root, path)), `${page}: ${path}`).toBe(true);
    }
  });

  it("name every file that must handle a new kind of node or a new help topic", () => {
    const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => ({ file: `src/${file}`, text: readFileSync(join(root, "src", file), "utf8") }));
    const handled = sources.filter(({ text }) => text.includes('case "membership":')).map(({ file }) => file);
    expect(handled.length).toBeGreaterThan(5);
    for (const page of ["docs/architecture.md", "CONTRIBUTING.md"]) {
      const text = readFileSync(join(root, page), "utf8");
      for (const file of [...handled, "src/cli/topics/topics.ts", "src/cli/program.ts"])
        expect(text, page).toContain(`\`${file.replace("src/expression/", "")}\``);
    }
  });

  it("list every setting, with its environment variable", () => {
    const text = readFileSync(join(root, "docs/configuration.md"), "utf8");
    const withoutVariable = ["trusted_keys"];
    for (const key of settingKeys) {
      expect(text).toContain(`| \`${key}\` `);
      if (!withoutVariable.includes(key))
        expect(text).toContain(`| \`AGENT33_${key.toUpperCase().replace(".", "_")}\` `);
    }
  });

  it("show every sample", () => {
    const text = readFileSync(join(samples, "README.md"), "utf8");
    const files = readdirSync(samples).filter((file) => /(?<!\.test)\.yaml$/.test(file));
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) expect(text).toContain(`\`${file}\``);
  });

  it("begin with the commands that create a project and a definition", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const [, firstSteps = ""] = /^## A first decision\n([\s\S]*?)^## /m.exec(readme) ?? [];
    for (const command of ["agent-33 init", "agent-33 decision new TYPE ID"])
      expect(firstSteps).toContain(`\`${command}\``);
  });

  it("keep the README short", () => {
    expect(readFileSync(join(root, "README.md"), "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(
      250,
    );
  });
});

/** The anchors that GitHub gives to the headings of a page. */
function anchors(file: string): readonly string[] {
  const text = readFileSync(file, "utf8").replace(/^```[\s\S]*?^```$/gm, "");
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}
