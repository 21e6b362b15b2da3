import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commandNames } from "../src/cli/program.js";

const source = fileURLToPath(new URL("../src", import.meta.url));

/** From the innermost to the outermost; a file may import its own room and those before it. */
const order = [
  ["model"],
  ["errors.ts", "errors.ts", "errors.ts", "text.ts", "text.ts", "version.ts", "clock.ts"],
  ["digest"],
  ["expression"],
  ["definition"],
  ["tables"],
  ["evaluate", "guard"],
  ["analysis"],
  ["record", "lineage", "replay"],
  ["decide"],
  ["testing"],
  ["enrichment", "store", "present"],
  ["compose.ts", "compose.ts", "enrichment-client.ts"],
  ["serve"],
  ["lsp"],
  ["cli", "index.ts"],
];

/** Each library has one way in. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  filtrex: ["expression/compile.ts"],
  re2js: ["expression/pattern.ts"],
  yaml: ["definition/yaml-source.ts", "present/format.ts"],
  chalk: ["present/format.ts"],
  "cli-table3": ["present/grid.ts"],
  diff: ["present/diff-view.ts"],
  "string-width": ["present/text-width.ts"],
  conf: ["cli/settings-file.ts"],
  "csv-parse": ["tables/csv.ts"],
  "dmn-moddle": ["tables/dmn-model.ts"],
  "lezer-feel": ["tables/feel.ts"],
  "read-excel-file": ["tables/xlsx.ts"],
  saxen: ["tables/xml.ts"],
  ajv: ["definition/context-schema.ts"],
  fastify: ["serve/http/http-server.ts"],
  "@fastify/rate-limit": ["serve/http/rate-limits.ts"],
  jose: ["serve/auth/signature.ts"],
  "@modelcontextprotocol/server": ["serve/mcp/sdk.ts"],
  "@modelcontextprotocol/node": ["serve/mcp/sdk.ts"],
  "vscode-languageserver": ["lsp/protocol-library.ts"],
  "vscode-languageserver-textdocument": ["lsp/protocol-library.ts"],
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
  /(?<!\.d)\.ts$/.test(file),
);

const imports: readonly Import[] = files.flatMap((file) => {
  const text = readFileSync(join(source, file), "utf8");
  const found = text.matchAll(/(import|export) (type )?[^;]*?from "([^"]+)"|import\("([^"]+)"\)/g);
  return [...found].map(([, , type, name = "", lazy = ""]) => ({
    from: file,
    to: name || lazy,
    typeOnly: type !== undefined,
  }));
});

const roomOf = (file: string): number => order.findIndex((rooms) => rooms.includes(file.split("/")[0] ?? ""));

describe("the house", () => {
  it("has no file outside its rooms", () => {
    expect(files.filter((file) => roomOf(file) === -1)).toEqual([]);
    expect(files.length).toBeGreaterThan(60);
  });

  it("lets imports point inwards only", () => {
    const outwards = imports.filter(({ from, to }) => {
      if (!to.startsWith(".")) return false;
      const target = relative(source, resolve(dirname(join(source, from)), to)).replace(/\.js$/, ".ts");
      return roomOf(target) > roomOf(from);
    });
    expect(outwards).toEqual([]);
  });

  it("keeps the model free of everything else", () => {
    const foreign = imports.filter(({ from, to }) => from.startsWith("model/") && !to.startsWith("./"));
    expect(foreign).toEqual([]);
  });

  it.each(Object.entries(libraries))("lets %s in through one door", (library, doors) => {
    const users = imports.filter(
      ({ to, typeOnly }) => !typeOnly && (to === library || to.startsWith(`${library}/`)),
    );
    expect([...new Set(users.map(({ from }) => from))].sort()).toEqual([...doors].sort());
  });

  it("opens the files of a store as regular files: a pipe in their place would never open", () => {
    const calls = files
      .filter((file) => file.startsWith("store/drivers/jsonl/"))
      .flatMap((file) =>
        [
          ...readFileSync(join(source, file), "utf8").matchAll(/^.*\b(?:open|readFile|writeFile)Sync\(.*$/gm),
        ].map(([line]) => `${file}: ${line.trim()}`),
      );
    expect(calls).toEqual([
      'store/drivers/jsonl/files.ts: const fd = files.openSync(path, "r");',
      'store/drivers/jsonl/lock.ts: writeFileSync(`${temporary}/0.free`, "", { mode: 0o600 });',
      'store/drivers/jsonl/lock.ts: const stat = readIfPossible(() => readFileSync(`/proc/${pid}/stat`, "latin1"));',
      'store/drivers/jsonl/lock.ts: const boot = readIfPossible(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")) ?? "";',
    ]);
  });

  it("keeps commander within the command line", () => {
    const commander = imports.filter(({ to }) => to === "commander").map(({ from }) => from.split("/")[0]);
    expect(new Set(commander)).toEqual(new Set(["cli"]));
  });

  it("has a file for each command of `decision`, which becomes a bundle of its own", () => {
    const names = files
      .flatMap((file) => /^cli\/commands\/(.+)\.ts$/.exec(file)?.[1] ?? [])
      .filter((name) => !["completion", "help", "init", "lsp"].includes(name));
    expect(names.sort()).toEqual([...commandNames].sort());
  });

  it("touches the disk and the network only in the outer rooms", () => {
    const touching = imports.filter(({ to }) =>
      /^node:(?:fs|child_process|net|dns|http|https)(?:\/|$)/.test(to),
    );
    const rooms = new Set(touching.map(({ from }) => from.split("/")[0] ?? ""));
    expect([...rooms].sort()).toEqual(["cli", "enrichment", "lsp", "serve", "store"]);
  });

  it("loads what the network needs with the first request", () => {
    const loaded = imports.filter(({ from, typeOnly }) => from === "enrichment/exchange.ts" && !typeOnly);
    expect(loaded.map(({ to }) => to)).toEqual(["./http-exchange.js"]);
    expect(readFileSync(join(source, "enrichment/exchange.ts"), "utf8")).toContain(
      'import("./http-exchange.js")',
    );
  });
});
