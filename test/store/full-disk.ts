import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Ran } from "../acceptance/command.js";
import { bin, cleanEnvironment, samples } from "../acceptance/command.js";
import { chainProblems } from "./entries.js";
import { linesOf, storeDirectory } from "./jsonl-log.js";

/** A store with limited space, until it is extended. */
export interface Tight {
  readonly directory: string;
  /** Runs the command with limited space. */
  run(args: readonly string[]): Ran;
  /** Removes the limit for all later runs. */
  makeRoom(): void;
  remove(): void;
}

function start(program: string, args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(program, args, {
    env: cleanEnvironment(),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  return { exitCode: status ?? undefined, stdout, stderr };
}

/** Limits the size of each file, in blocks of 1024 bytes. */
export function withFileSizeLimit(blocks: number): Tight {
  const directory = join(storeDirectory(), "store");
  let limit = `ulimit -f ${blocks};`;
  return {
    directory,
    run: (args) => start("bash", ["-c", `${limit} exec "$0" "$@"`, process.execPath, bin, ...args]),
    makeRoom: () => {
      limit = "";
    },
    remove: () => undefined,
  };
}

/** Returns the reason why no file system can be mounted here; undefined if it can. */
export function whyNoMount(): string | undefined {
  const folder = storeDirectory();
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], {
    encoding: "utf8",
  });
  if (status !== 0) return (stderr || "there is no `mount`").trim().split("\n")[0];
  spawnSync("umount", [folder]);
  return undefined;
}

/** Mounts a file system with this many bytes. */
export function onSmallDisk(bytes: number): Tight {
  const disk = storeDirectory();
  const mount = (options: string): void => {
    expect(spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk]).status).toBe(0);
  };
  mount(`size=${bytes}`);
  return {
    directory: join(disk, "store"),
    run: (args) => start(process.execPath, [bin, ...args]),
    makeRoom: () => mount("remount,size=64m"),
    remove: () => void spawnSync("umount", [disk]),
  };
}

export interface Filled {
  readonly acknowledged: number;
  readonly refused: number;
}

const gate = "decision-quality-gate";
const variant = "decision-ab-prompt-variant";

/**
 * Decides one by one until the space is used up, a few times more, then without the limit. Every answer must be in
 * the log.
 */
export function fillOneByOne(tight: Tight, most: number): Filled {
  const ids: string[] = [];
  let refused = 0;
  const decide = (at: number): Ran => {
    const filler = "x".repeat((at * 997) % 5000);
    const context = JSON.stringify({ request: { id: `r-${at}` }, artifact: { quality_score: 1 }, filler });
    return tight.run([
      "decision",
      "evaluate",
      at % 2 === 0 ? variant : gate,
      "--input",
      context,
      ...flags(tight),
    ]);
  };
  for (let at = 0; at < most && refused < 4; at++) {
    const ran = decide(at);
    if (ran.exitCode === 0) ids.push(idOf(ran.stdout));
    else {
      expectRefused(ran);
      refused++;
    }
    expectKept(tight, ids);
  }
  tight.makeRoom();
  for (let at = 0; at < 3; at++) ids.push(idOf(expectDone(decide(at)).stdout));
  expectKept(tight, ids);
  expectVerified(tight);
  return { acknowledged: ids.length, refused };
}

/** Decides a batch that does not fit into the space. */
export function fillByBatch(tight: Tight, lines: number): Filled {
  const inputs = join(storeDirectory(), "inputs.jsonl");
  const contexts = Array.from({ length: lines }, (_, at) => JSON.stringify({ request: { id: `r-${at}` } }));
  writeFileSync(inputs, contexts.join("\n"));
  const decide = (): Ran => tight.run(["decision", "evaluate", variant, "--inputs", inputs, ...flags(tight)]);
  const ran = decide();
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain("store_failed");
  const answered = ran.stdout === "" ? [] : ran.stdout.trimEnd().split("\n").map(idOf);
  expect(answered.length).toBeLessThan(lines);
  expectKept(tight, answered);
  tight.makeRoom();
  expectVerified(tight);
  const again = expectDone(decide()).stdout.trimEnd().split("\n").map(idOf);
  expect(again).toHaveLength(lines);
  expectKept(tight, [...answered, ...again]);
  expectVerified(tight);
  return { acknowledged: answered.length, refused: lines - answered.length };
}

const flags = ({ directory }: Tight): readonly string[] => [
  "--store",
  directory,
  "--decisions",
  samples,
  "--format",
  "jsonl",
];

const idOf = (line: string): string => (JSON.parse(line) as { record_id: string }).record_id;

function expectDone(ran: Ran): Ran {
  expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 0, stderr: "" });
  return ran;
}

function expectRefused({ exitCode, stdout, stderr }: Ran): void {
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain("store_failed");
}

/** Checks that every answer is in the log and that the log is one chain. */
function expectKept({ directory }: Tight, ids: readonly string[]): void {
  const lines = existsSync(directory) ? linesOf(directory) : [];
  expect(chainProblems(lines)).toEqual([]);
  const kept = new Set(lines.map(idOf));
  expect(ids.filter((id) => !kept.has(id))).toEqual([]);
}

function expectVerified(tight: Tight): void {
  const { directory } = tight;
  if (!existsSync(directory)) mkdirSync(directory);
  const { exitCode, stdout } = tight.run([
    "decision",
    "verify",
    "--allow-empty",
    "--store",
    directory,
    "--format",
    "json",
  ]);
  expect({ exitCode, ...(JSON.parse(stdout) as object) }).toMatchObject({ exitCode: 0, ok: true });
}
