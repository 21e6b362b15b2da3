import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { bin, root, samples, temporaryDirectory } from "./command.js";
import type { Block } from "./console-blocks.js";
import { consoleBlocks } from "./console-blocks.js";
import { copySamples, SampleServer, usualPort } from "./sample-server.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

function asPattern(line: string): RegExp {
  const parts = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}

function workplace(server: SampleServer | undefined): { readonly cwd: string; readonly path: string } {
  const cwd = temporaryDirectory();
  if (server === undefined) cpSync(samples, join(cwd, "decisions"), { recursive: true });
  else copySamples(join(cwd, "decisions"), server);
  mkdirSync(join(cwd, "bin"));
  symlinkSync(bin, join(cwd, "bin/agent-33"));
  return { cwd, path: `${join(cwd, "bin")}${delimiter}${process.env["PATH"] ?? ""}` };
}

describe.skipIf(!hasTerminal)(`what the pages show is what is seen${noTerminal}`, () => {
  const blocks = ["README.md", "decisions/README.md"].flatMap(consoleBlocks);

  it.each(blocks)("$name", async ({ commands, needsServer }) => {
    const server = needsServer ? await SampleServer.start() : undefined;
    try {
      await expectSeen(commands, server);
    } finally {
      await server?.stop();
    }
  });
});

/** The server is on a free port, and the page is read as if it said so. */
async function expectSeen(commands: Block["commands"], server: SampleServer | undefined): Promise<void> {
  const { cwd, path } = workplace(server);
  const here = (text: string): string =>
    server === undefined ? text : text.replaceAll(usualPort, String(server.port));
  const script = commands.map(({ line }) => `${here(line)}\necho "@@@"`).join("\n");
  const { screen } = await typed(script, {
    cwd,
    env: { PATH: path, NO_COLOR: "1", AGENT33_HOME: join(cwd, "home") },
  });
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
