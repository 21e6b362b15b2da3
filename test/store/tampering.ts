import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { expect } from "vitest";
import type { VerifyOptions } from "../../src/store/drivers/jsonl/verify-store.js";
import { chained, forgeCheckpoints, forgeLog } from "./forging.js";
import {
  expectSound,
  filled,
  headOf,
  isNoticed,
  linesOf,
  logFile,
  readLog,
  segmentFile,
  segmentFiles,
  storeDirectory,
  writeLog,
} from "./jsonl-log.js";

/** The number of manipulations, and those that were not detected. */
export interface Tampered {
  readonly tried: number;
  readonly unseen: readonly string[];
}

class Tampering {
  tried = 0;
  readonly unseen: string[] = [];
  readonly #directory: string;

  constructor(directory: string) {
    expectSound(directory);
    this.#directory = directory;
  }

  /** Records a manipulation that verification does not detect. */
  check(what: string, options?: VerifyOptions): void {
    this.tried++;
    if (!isNoticed(this.#directory, options)) this.unseen.push(what);
  }

  /** Checks that the log was restored. */
  end(): Tampered {
    expectSound(this.#directory);
    return { tried: this.tried, unseen: this.unseen };
  }
}

/** The bits to flip: all of every nth byte, or one that differs from byte to byte. */
export interface Bits {
  readonly every: number;
  readonly of: "all" | "one a byte";
}

/** Flips single bits of a file of the log. */
export function flipBits(directory: string, name: string, { every, of }: Bits): Tampered {
  const tampering = new Tampering(directory);
  const path = logFile(directory, name);
  const fd = openSync(path, "r+");
  for (const [at, byte] of readFileSync(path).entries()) {
    if (at % every !== 0) continue;
    for (const bit of of === "all" ? [0, 1, 2, 3, 4, 5, 6, 7] : [(at * 3) % 8]) {
      writeSync(fd, Buffer.of(byte ^ (1 << bit)), 0, 1, at);
      tampering.check(`bit ${bit} of byte ${at} of ${name}`);
    }
    writeSync(fd, Buffer.of(byte), 0, 1, at);
  }
  closeSync(fd);
  return tampering.end();
}

/** Cuts a file of the log at every nth byte, and just before, at and just after the end of each line. */
export function truncate(directory: string, name: string, step: number): Tampered {
  const tampering = new Tampering(directory);
  const path = logFile(directory, name);
  const whole = readFileSync(path);
  const lengths = new Set<number>();
  for (let length = 0; length < whole.length; length += step) lengths.add(length);
  for (let end = whole.indexOf("\n"); end !== -1; end = whole.indexOf("\n", end + 1))
    for (const length of [end, end + 1, end + 2]) if (length < whole.length) lengths.add(length);
  for (const length of [...lengths].sort((a, b) => b - a)) {
    truncateSync(path, length);
    tampering.check(`${name} cut at ${length}`);
  }
  writeFileSync(path, whole);
  return tampering.end();
}

/** A log of about 8 KB in one segment, with checkpoints. */
export const eightKilobytes = (): Promise<string> => filled(12, { checkpointEvery: 5 });

type Edit = readonly [what: string, lines: readonly string[]];

/** Reorders, repeats and removes lines. */
function* edits(lines: readonly string[]): Generator<Edit> {
  for (const at of lines.keys()) {
    const [before, rest] = [lines.slice(0, at), lines.slice(at + 1)];
    const line = lines[at] ?? "";
    yield [`line ${at} gone`, [...before, ...rest]];
    yield [`line ${at} twice`, [...before, line, line, ...rest]];
    yield [`line ${at} again at the end`, [...lines, line]];
    if (at > 0) yield [`line ${at} at the beginning`, [line, ...before, ...rest]];
    yield [`an empty line before ${at}`, [...before, "", line, ...rest]];
    yield [`a space behind line ${at}`, [...before, `${line} `, ...rest]];
    yield [`line ${at} with another end`, [...before, `${line}\r`, ...rest]];
    yield [`line ${at} empty`, [...before, "", ...rest]];
    yield [`all from line ${at} on gone`, before];
    yield [`all up to line ${at} gone`, rest];
    for (let other = at + 1; other < lines.length; other++)
      yield [
        `lines ${at} and ${other} swapped`,
        lines.toSpliced(at, 1, lines[other] ?? "").toSpliced(other, 1, line),
      ];
  }
}

/** Edits the lines of a segment like an editor. */
export function editLines(directory: string, name: string): Tampered {
  const tampering = new Tampering(directory);
  const text = readLog(directory, name).toString("utf8");
  for (const [what, lines] of edits(text.split("\n").slice(0, -1))) {
    writeLog(directory, name, lines.map((line) => `${line}\n`).join(""));
    tampering.check(`${name}: ${what}`);
  }
  writeLog(directory, name, text);
  return tampering.end();
}

/** Removes, swaps and repeats whole segments. */
export function moveSegments(directory: string): Tampered {
  const tampering = new Tampering(directory);
  const names = segmentFiles(directory);
  const contents = new Map(names.map((name) => [name, readLog(directory, name)]));
  const restore = (): void => {
    for (const name of segmentFiles(directory)) rmSync(logFile(directory, name));
    for (const [name, bytes] of contents) writeLog(directory, name, bytes);
  };
  for (const [at, name] of names.entries()) {
    const bytes = contents.get(name) ?? Buffer.alloc(0);
    const attempt = (what: string, act: () => void): void => {
      act();
      tampering.check(`${name} ${what}`);
      restore();
    };
    attempt("gone", () => rmSync(logFile(directory, name)));
    attempt("empty", () => writeLog(directory, name, ""));
    attempt("and all before it gone", () => {
      for (const each of names.slice(0, at + 1)) rmSync(logFile(directory, each));
    });
    attempt("and all behind it gone", () => {
      for (const each of names.slice(at)) rmSync(logFile(directory, each));
    });
    attempt("again behind the end", () => writeLog(directory, segmentFile(9999), bytes));
    for (const other of names.slice(at + 1))
      attempt(`and ${other} swapped`, () => {
        writeLog(directory, name, contents.get(other) ?? "");
        writeLog(directory, other, bytes);
      });
  }
  return tampering.end();
}

/**
 * Changes each record in turn and recomputes the chain, the head and the checkpoints, without signatures or with the
 * old ones. `options` is what the verifier knows: a key or an expectation.
 */
export async function forgeAnew(
  template: string,
  forging: "chain" | "checkpoints too" | "old signatures",
  options: VerifyOptions,
): Promise<Tampered> {
  expectSound(template, options);
  const lines = linesOf(template);
  const unseen: string[] = [];
  for (const at of lines.keys()) {
    const directory = storeDirectory();
    cpSync(template, directory, { recursive: true });
    const changed = lines.map((line, number) =>
      number === at ? line.replace('["Pass"]', '["Fail"]') : line,
    );
    forgeLog(directory, chained(changed));
    if (forging !== "chain") forgeCheckpoints(directory, { keepSignatures: forging === "old signatures" });
    expect(headOf(directory).size).toBe(lines.length);
    if (!isNoticed(directory, options)) unseen.push(`record ${at + 1}`);
    rmSync(directory, { recursive: true });
    await Promise.resolve();
  }
  return { tried: lines.length, unseen };
}
