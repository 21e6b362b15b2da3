import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Ran } from "../acceptance/command.js";
import { run, temporaryDirectory } from "../acceptance/command.js";
import { runInProcess } from "../cli/in-process.js";
import { isThorough } from "../thoroughness.js";
import type { MalformedFile } from "./malformed.js";
import { malformedFiles, validFiles } from "./malformed.js";

const folder = temporaryDirectory();
const secret = "the-content-of-another-file";
const secretFile = join(folder, "secret.txt");
writeFileSync(secretFile, secret);

let requests = 0;
const server = createServer((_, response) => {
  requests++;
  response.end(secret);
});
/** The files by name, once the address of the server is known. */
let files: ReadonlyMap<string, MalformedFile>;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const all = malformedFiles({ url: `http://127.0.0.1:${port}`, file: secretFile });
  files = new Map(all.map((file) => [file.name, file]));
});
afterAll(() => server.close());

/** Their names, whatever the address is. */
const listed = malformedFiles({ url: "http://127.0.0.1:65535", file: secretFile });

function fileOf(name: string): MalformedFile {
  const file = files.get(name);
  if (file === undefined) throw new Error(`no file ${name}`);
  return file;
}

type Run = (words: readonly string[], options: { readonly cwd: string }) => Promise<Ran>;

/** Imports a file into `out.yaml` of a folder of its own. */
async function importFile(
  { name, bytes, needsDefault }: MalformedFile,
  runCommand: Run,
): Promise<Ran & { readonly isWritten: boolean }> {
  const cwd = join(folder, "import");
  mkdirSync(cwd);
  try {
    writeFileSync(join(cwd, name), bytes());
    const flags = ["--out", "out.yaml", ...(needsDefault ? ["--default", "z"] : [])];
    const ran = await runCommand(["decision", "table", "import", name, ...flags], { cwd });
    return { ...ran, isWritten: existsSync(join(cwd, "out.yaml")) };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** Checks that a file was refused as a whole, with its place and in few words. */
function expectRefused(
  { name, says = "" }: MalformedFile,
  ran: Awaited<ReturnType<typeof importFile>>,
): void {
  const { exitCode, stdout, stderr, isWritten } = ran;
  expect({ exitCode, stdout, isWritten }).toEqual({
    exitCode: exitCode === 2 ? 2 : 3,
    stdout: "",
    isWritten: false,
  });
  expect(stderr).toMatch(/^error: /);
  expect(stderr).toContain(says);
  const places = stderr.split("\n").filter((line) => line.startsWith(`  ${name}:`));
  if (exitCode === 3) expect(places[0]).toMatch(/:\d+:\d+ {2}error {2}\S/);
  expect(places.length).toBeLessThanOrEqual(101);
  expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(1200);
  expect(stderr).not.toContain(secret);
  expect(requests).toBe(0);
}

describe("an import", () => {
  it.each(validFiles.filter(({ isLarge }) => isThorough || !isLarge))("accepts $name", async (file) => {
    expect(await importFile(file, runInProcess)).toMatchObject({ exitCode: 0, isWritten: true });
  });

  it.each(listed.filter(({ isLarge }) => isThorough || !isLarge))("refuses $name", async ({ name }) => {
    const startedAt = process.cpuUsage();
    expectRefused(fileOf(name), await importFile(fileOf(name), runInProcess));
    expect(process.cpuUsage(startedAt).user / 1e6).toBeLessThan(10);
  });

  const attacks = [
    "a billion laughs.dmn",
    "500,000 levels.dmn",
    "800,000 wrong cells.csv",
    "parts of 45 megabytes.xlsx",
  ];
  const runLimited: Run = (words, options) =>
    run(words, { ...options, env: { NODE_OPTIONS: "--max-old-space-size=192" } });

  it.each(listed.filter(({ name, isLarge }) => attacks.includes(name) || (isThorough && isLarge)))(
    "refuses $name in 192 megabytes",
    async ({ name }) => expectRefused(fileOf(name), await importFile(fileOf(name), runLimited)),
  );
});
