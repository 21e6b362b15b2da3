import { Random } from "./random.js";
import { expressionTokens, yamlTokens } from "./tokens.js";

/** What is fed in, and to which door. */
export type FuzzInput =
  | { readonly door: "expression"; readonly kind: string; readonly text: string }
  | { readonly door: "definitions"; readonly kind: string; readonly bytes: Uint8Array };

export type Samples = readonly [Uint8Array, ...Uint8Array[]];

/** The input of a case: it depends on nothing but the seed and the number of the case. */
export function inputAt(seed: number, index: number, samples: Samples): FuzzInput {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  switch (index % 8) {
    case 0:
      return { door: "expression", kind: "random bytes", text: latin(randomBytes(random, 200)) };
    case 1:
    case 2:
      return { door: "expression", kind: "random tokens", text: tokens(random, expressionTokens, 60) };
    case 3:
      return { door: "definitions", kind: "random bytes", bytes: randomBytes(random, 400) };
    case 4:
      return {
        door: "definitions",
        kind: "random tokens",
        bytes: Buffer.from(tokens(random, yamlTokens, 60)),
      };
    default:
      return { door: "definitions", kind: "a mutated sample", bytes: mutated(random, samples) };
  }
}

const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

/** Every other one is within ASCII, as most bytes beyond it are refused at once. */
function randomBytes(random: Random, most: number): Uint8Array {
  const values = random.below(2) === 0 ? 256 : 128;
  return Uint8Array.from({ length: random.below(most) }, () => random.below(values));
}

function tokens(random: Random, from: readonly [string, ...string[]], most: number): string {
  const separators: readonly [string, ...string[]] = ["", " ", " "];
  return Array.from(
    { length: 1 + random.below(most) },
    () => random.pick(from) + random.pick(separators),
  ).join("");
}

function mutated(random: Random, samples: Samples): Uint8Array {
  let bytes: Uint8Array = Buffer.from(random.pick(samples));
  for (let left = 1 + random.below(4); left > 0; left--) {
    bytes = random.pick(mutations)(bytes, random, samples).subarray(0, largest);
  }
  return bytes;
}

type Mutation = (bytes: Uint8Array, random: Random, samples: Samples) => Uint8Array;

const largest = 128 * 1024;

const mutations: readonly [Mutation, ...Mutation[]] = [
  flipBits,
  truncate,
  remove,
  splice,
  duplicate,
  insert(yamlTokens),
  insert(expressionTokens),
  reindent,
];

function flipBits(bytes: Uint8Array, random: Random): Uint8Array {
  const flipped = Uint8Array.from(bytes);
  for (let left = 1 + random.below(8); left > 0; left--) {
    const at = random.below(flipped.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
  }
  return flipped;
}

function truncate(bytes: Uint8Array, random: Random): Uint8Array {
  return bytes.subarray(0, random.below(bytes.length + 1));
}

function remove(bytes: Uint8Array, random: Random): Uint8Array {
  const [from, to] = stretch(bytes, random);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
}

function splice(bytes: Uint8Array, random: Random, samples: Samples): Uint8Array {
  const other = random.pick(samples);
  const [from, to] = stretch(other, random);
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), other.subarray(from, to), bytes.subarray(at)]);
}

/** Up to 1,000 times, so that what does not scale takes long enough to be seen. */
function duplicate(bytes: Uint8Array, random: Random): Uint8Array {
  const [from, to] = stretch(bytes, random);
  const times = random.pick([2, 2, 3, 10, 100, 1_000]);
  const repeated = Array.from({ length: times }, () => bytes.subarray(from, to));
  return Buffer.concat([bytes.subarray(0, from), ...repeated, bytes.subarray(to)]);
}

function insert(from: readonly [string, ...string[]]): Mutation {
  return (bytes, random) => {
    const at = random.below(bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(from)), bytes.subarray(at)]);
  };
}

function reindent(bytes: Uint8Array, random: Random): Uint8Array {
  const lines = Buffer.from(bytes).toString("latin1").split("\n");
  const at = random.below(lines.length);
  lines[at] = " ".repeat(random.below(8)) + (lines[at] ?? "").trimStart();
  return Buffer.from(lines.join("\n"), "latin1");
}

/** Where it begins and ends; half of the time it is a line or more. */
function stretch(bytes: Uint8Array, random: Random): readonly [number, number] {
  const from = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, from + random.below(80));
  if (random.below(2) === 0) return [from, to];
  const newline = "\n".charCodeAt(0);
  const end = bytes.indexOf(newline, to);
  return [bytes.lastIndexOf(newline, from) + 1, end === -1 ? bytes.length : end + 1];
}
