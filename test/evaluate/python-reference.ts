import { spawnSync } from "node:child_process";
import { roll } from "../../src/evaluate/weighted.js";

/** Reads `[text, total]` line by line and prints the roll of spec 1's reference for each. */
const reference = `
import hashlib, json, random, sys
answers = []
for line in sys.stdin:
    text, total = json.loads(line)
    seed = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    answers.append(repr(random.Random(seed).uniform(0, total)))
sys.stdout.write("\\n".join(answers))
`;

const totals = [100, 1, 3, 0.3, 7.25, 1e-9, 123456789.125, 5e-324, 1e300];
const alphabet = ["a", "Z", "0", "-", " ", '"', "\\", "\n", "\u0000", "ö", "€", "\u2028", "💡", "\u{10ffff}"];

interface Sample {
  readonly text: string;
  readonly total: number;
}

export interface Difference extends Sample {
  readonly ours: number;
  readonly theirs: number;
}

export function hasPython(): boolean {
  return spawnSync("python3", ["--version"]).status === 0;
}

/** Compares that many rolls with CPython's, bit for bit, and returns those that differ. */
export function compareWithPython(count: number): readonly Difference[] {
  const batch = 100_000;
  const differences: Difference[] = [];
  for (let from = 0; from < count; from += batch) {
    differences.push(...compareBatch(samples(from, Math.min(count, from + batch))));
  }
  return differences;
}

function compareBatch(given: readonly Sample[]): readonly Difference[] {
  const theirs = askPython(given);
  if (theirs.length !== given.length) throw new Error(`python3 gave ${theirs.length} answers`);
  const compared = given.map(({ text, total }, index) => ({
    text,
    total,
    ours: roll(text, total),
    theirs: theirs[index] ?? Number.NaN,
  }));
  return compared.filter(({ ours, theirs: their }) => !Object.is(ours, their));
}

function askPython(given: readonly Sample[]): readonly number[] {
  const input = given.map(({ text, total }) => JSON.stringify([text, total])).join("\n");
  const { status, stdout, stderr } = spawnSync("python3", ["-c", reference], {
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`python3 failed: ${stderr}`);
  return stdout.split("\n").map(Number);
}

function samples(from: number, to: number): readonly Sample[] {
  return Array.from({ length: to - from }, (_, offset) => {
    const index = from + offset;
    return { text: textOf(index), total: totals[index % totals.length] ?? 1 };
  });
}

/** Typical ids, documents in canonical JSON, and texts with special characters; the same in every run. */
function textOf(index: number): string {
  switch (index % 4) {
    case 0:
      return `user-${index}`;
    case 1:
      return `{"id":${index},"tags":["a","ö"]}`;
    case 2:
      return String(index / 7);
    default:
      return awkward(index);
  }
}

function awkward(seed: number): string {
  let state = seed;
  let text = "";
  for (let length = seed % 40; length > 0; length--) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += alphabet[(state >>> 16) % alphabet.length] ?? "";
  }
  return text;
}
