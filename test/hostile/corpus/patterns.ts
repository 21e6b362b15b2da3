import type { Fate, HostileClass, HostileExpression } from "./expressions.js";
import { quoted } from "./expressions.js";

/** A regular expression that some engine needs for ever for, with a text that makes it so. */
interface RegexBomb {
  readonly pattern: string;
  readonly text: string;
  /**
   * Whether it is found; undefined where it is not a pattern of our language. `either` where text and pattern
   * are so large together that an answer and a refusal to look are both right, as long as they come in time.
   */
  readonly found?: boolean | "either";
}

const length = 100_000;
const many = (unit: string): string => unit.repeat(Math.ceil(length / unit.length));
const as = many("a");

/** Letters a and b without a period, so that no short cut applies. */
const mixed = ((): string => {
  let state = 12_345;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state & 0x10000 ? "a" : "b";
  }).join("");
})();

const bombs: readonly RegexBomb[] = [
  // Nested and overlapping repetition: exponential for an engine that backtracks.
  { pattern: "(a+)+$", text: `${as}!`, found: false },
  { pattern: "^(a+)+$", text: `${as}!`, found: false },
  { pattern: "(a*)*$", text: `${as}!`, found: true },
  { pattern: "^(a*)*$", text: `${as}!`, found: false },
  { pattern: "^(a|a)*$", text: `${as}!`, found: false },
  { pattern: "^(a|aa)+$", text: `${as}!`, found: false },
  { pattern: "^(a?a?)*$", text: `${as}!`, found: false },
  { pattern: "^([a-zA-Z]+)*$", text: `${as}!`, found: false },
  { pattern: "^(([a-z])+.)+[A-Z]([a-z])+$", text: as, found: false },
  { pattern: "^((a+)+)+$", text: `${as}!`, found: false },
  { pattern: "^(((((a*)*)*)*)*)*$", text: `${as}!`, found: false },
  { pattern: "(x+x+)+y", text: many("x"), found: false },
  { pattern: "^(.*)*[yz]$", text: as, found: false },
  { pattern: "^(.|a)*?[yz]$", text: as, found: false },
  { pattern: "^(\\w+\\s?)*$", text: `${many("ab ")}!`, found: false },
  { pattern: "^(\\d+|[0-9]*)+$", text: `${many("1")}x`, found: false },
  { pattern: "^(a+|b+|ab)*$", text: `${mixed}c`, found: false },
  // Polynomial: many ways to split one text.
  { pattern: "a*a*a*a*a*a*a*a*[bc]", text: `${as}!`, found: false },
  { pattern: ".*.*.*.*.*[=#]", text: as, found: false },
  { pattern: "^.*a.*a.*a.*a.*[yz]$", text: as, found: false },
  { pattern: "\\s+$", text: `${many(" ")}x`, found: false },
  { pattern: "^\\s*|\\s*$", text: `${many(" ")}x`, found: true },
  { pattern: "<!--.*?-->|<[a-z]+[^>]*>", text: many("<!--<a "), found: false },
  { pattern: "^([a-z0-9]+[._-]?)+@([a-z0-9]+[.-]?)+\\.[a-z]{2,}$", text: `${as}@`, found: false },
  { pattern: "^(([a-z]+)://)?(([a-z0-9]+\\.?)+)(:[0-9]+)?/?$", text: `${as}!`, found: false },
  { pattern: '^"(?:[^"\\\\]|\\\\.)*"$', text: `"${many("\\\\")}`, found: false },
  { pattern: "(?:\\b|a|b)*?[yz]$", text: mixed, found: false },
  // Counted repetition: as many states as it counts, each of them alive at every character.
  { pattern: "[ab]{1000}$", text: mixed, found: "either" },
  { pattern: "[ab]{1000}[yz]", text: mixed, found: "either" },
  { pattern: "(?i)[AB]{1000}$", text: mixed, found: "either" },
  { pattern: "(?:.?){900}[yz]", text: mixed, found: "either" },
  { pattern: "(?:(?:a?b?){30}){30}[yz]$", text: mixed, found: "either" },
  { pattern: "(?:a|b|ab){0,300}[yz]$", text: mixed, found: "either" },
  { pattern: "[ab]*a[ab]{20}[yz]", text: mixed, found: false },
  { pattern: "[ab]*a[ab]{900}[yz]", text: mixed, found: "either" },
  { pattern: "(.*a.{100}){3}[yz]$", text: mixed, found: "either" },
  { pattern: "\\pL{1000}$", text: mixed, found: "either" },
  { pattern: "(?i)\\pL{500}\\PN{500}$", text: mixed, found: "either" },
  { pattern: "[^\\x00-\\x{10ffff}]*[yz]", text: mixed, found: false },
  { pattern: `${"(".repeat(300)}a${")*".repeat(300)}[yz]$`, text: mixed, found: "either" },
  {
    pattern: `(?:${Array.from({ length: 150 }, (_, index) => `a{${index % 9}}`).join("|")})[yz]`,
    text: mixed,
    found: "either",
  },
  // Refused for what they ask of an engine, however short the text.
  { pattern: "(a{1000}){1000}", text: "a" },
  { pattern: "((a{100}){100}){100}", text: "a" },
  { pattern: "a{1001}", text: "a" },
  { pattern: "a{2147483648}", text: "a" },
  { pattern: "(a)\\1", text: as },
  { pattern: "(?=a)b", text: as },
  { pattern: "(?<!a)b", text: as },
  { pattern: "(?>a+)b", text: as },
  { pattern: "a++b", text: as },
  { pattern: "(?R)", text: as },
  { pattern: "(", text: as },
  { pattern: "[z-a]", text: as },
  { pattern: "\\", text: as },
  { pattern: "*", text: as },
  { pattern: "(".repeat(1_024), text: as },
  { pattern: `${"(".repeat(600)}${")".repeat(600)}`, text: as },
  { pattern: "a".repeat(1_025), text: as },
  { pattern: "a|".repeat(2_000), text: as },
];

function literal({ pattern, text, found }: RegexBomb): HostileExpression {
  return {
    name: `x ~= ${shown(pattern)}`,
    text: `x ~= ${quoted(pattern)}`,
    context: { x: text },
    fate: fateOf(found, "refused"),
  };
}

function fromContext({ pattern, text, found }: RegexBomb): HostileExpression {
  const fate = fateOf(found, "errored");
  return {
    name: `matches(x, y) with ${shown(pattern)}`,
    text: "matches(x, y)",
    context: { x: text, y: pattern },
    fate,
  };
}

function fateOf(found: RegexBomb["found"], otherwise: Fate): Fate {
  if (found === undefined) return otherwise;
  return found === "either" ? "answered or errored" : { answer: found };
}

function shown(pattern: string): string {
  return pattern.length > 50 ? `${pattern.slice(0, 49)}…` : pattern;
}

export const patternClasses: readonly HostileClass[] = [
  { title: "with a regex bomb in it", expressions: bombs.map(literal) },
  { title: "with a regex bomb out of the context", expressions: bombs.map(fromContext) },
];
