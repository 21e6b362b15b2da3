import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { bin, root, samples, temporaryDirectory } from "./command.js";
import type { Block } from "./console-blocks.js";
import { consoleBlocks } from "./console-blocks.js";
import { servingPort, startServing } from "./decision-server.js";
import { copySamples, SampleServer, usualPort } from "./sample-server.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

function asPattern(line: string): RegExp {
  const parts = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}

interface Workplace {
  readonly cwd: string;
  readonly env: { readonly PATH: string; readonly NO_COLOR: string; readonly AGENT33_HOME: string };
}

function workplace(server: SampleServer | undefined): Workplace {
  const cwd = temporaryDirectory();
  if (server === undefined) cpSync(samples, join(cwd, "decisions"), { recursive: true });
  else copySamples(join(cwd, "decisions"), server);
  mkdirSync(join(cwd, "bin"));
  symlinkSync(bin, join(cwd, "bin/agent-33"));
  const PATH = `${join(cwd, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  return { cwd, env: { PATH, NO_COLOR: "1", AGENT33_HOME: join(cwd, "home") } };
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasTerminal)(`what the pages show is what is seen${noTerminal}`, () => {
  const blocks = ["README.md", "decisions/README.md"].flatMap(consoleBlocks);
  const needsCurl = ({ beside }: Block): boolean => beside === "serve";

  it.each(blocks.filter((block) => !needsCurl(block)))("$name", async ({ commands, beside }) => {
    const server = beside === undefined ? undefined : await SampleServer.start();
    try {
      await expectSeen(commands, workplace(server), { from: usualPort, to: server?.port });
    } finally {
      await server?.stop();
    }
  });

  const noCurl = hasCurl ? "" : " (skipped: there is no `curl` command to ask with)";
  it.skipIf(!hasCurl).each(blocks.filter(needsCurl))(`$name${noCurl}`, async ({ commands }) => {
    const place = workplace(undefined);
    const server = await startServing(place);
    try {
      await expectSeen(commands, place, { from: `:${servingPort}/`, to: `:${server.port}/` });
    } finally {
      await server.stop();
    }
  });
});

/** Servers are on a free port, and the page is read as if it said so. */
async function expectSeen(
  commands: Block["commands"],
  { cwd, env }: Workplace,
  port: { readonly from: string; readonly to: string | number | undefined },
): Promise<void> {
  const here = (text: string): string => text.replaceAll(port.from, String(port.to ?? port.from));
  const script = commands.map(({ line }) => `${here(line)}\necho "@@@"`).join("\n");
  const { screen } = await typed(script, { cwd, env });
  const seen = screen.split("@@@\n");
  for (const [index, { line, shown }] of commands.entries()) {
    const text = (seen[index] ?? "").replace(/@@@$/, "").trimEnd();
    const lines = text === "" ? [] : text.split("\n");
    expect(lines.length, `lines of: ${line}\n${lines.join("\n")}`).toBe(shown.length);
    for (const [at, expected] of shown.entries()) expect(lines[at]).toMatch(asPattern(here(expected)));
  }
}

describe("the pages", () => {
  it("name only files that are there", () => {
    const text = readFileSync(join(root, "README.md"), "utf8");
    const [, rest = ""] = text.split("## Finding your way");
    const rooms = [...rest.matchAll(/\| `([a-z]+)\/` +\|/g)].map((found) => found[1] ?? "");
    expect(rooms.length).toBeGreaterThan(5);
    for (const room of rooms) expect(() => readFileSync(join(root, "src", room))).toThrow("EISDIR");
  });

  it("show every sample", () => {
    const text = readFileSync(join(samples, "README.md"), "utf8");
    const files = readdirSync(samples).filter((file) => file.endsWith(".yaml"));
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) expect(text).toContain(`\`${file}\``);
  });
});
