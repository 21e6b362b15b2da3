import type { JsonObject } from "../../../src/model/json.js";

/** What becomes of an expression: it does not compile, it runs into an error, or it has this answer. */
export type Fate = "refused" | "errored" | "answered or errored" | { readonly answer: unknown };

export interface HostileExpression {
  readonly name: string;
  readonly text: string;
  readonly context?: JsonObject;
  readonly fate: Fate;
}

export interface HostileClass {
  readonly title: string;
  readonly expressions: readonly HostileExpression[];
}

const yes: Fate = { answer: true };
const no: Fate = { answer: false };
const nothing: Fate = { answer: null };

/** The texts name themselves. */
function each(fate: Fate, texts: readonly string[], context: JsonObject = {}): readonly HostileExpression[] {
  return texts.map((text) => ({ name: shown(text), text, context, fate }));
}

function shown(text: string): string {
  const written = JSON.stringify(text);
  return written.length > 60 ? `${written.slice(0, 59)}…` : written;
}

/** A text literal with this content. */
export function quoted(content: string): string {
  return `'${content.replace(/[\\']/g, "\\$&")}'`;
}

const owner: JsonObject = { x: { a: 1, y: {} }, list: [1, 2], text: "abc", key: "__proto__" };

const prototypes: HostileClass = {
  title: "that reaches for a prototype",
  expressions: [
    ...each(
      "refused",
      [
        "constructor",
        "__proto__",
        "prototype",
        "x.constructor",
        "x.__proto__",
        "x.prototype",
        "x.__proto__.polluted == 1",
        "x.y.constructor.constructor",
        "constructor.constructor",
        "list.constructor",
        "text.constructor.prototype",
        "list.0.__proto__",
        "input.__proto__",
        "context.__proto__",
        "facts.constructor",
        "system.prototype",
        "exists(constructor)",
        "exists(x.__proto__)",
        "empty(x.constructor)",
        "get(x.__proto__, 'a')",
        "get(x, 'constructor')",
        'get(x, "__proto__")',
        "get(x, 'prototype', 1)",
        "x['constructor']",
        'x["__proto__"]',
        "x.['constructor']",
        "x?.constructor",
        "x::constructor",
        "x->constructor",
        "'constructor' of x",
        "constructor of x",
        "\\u0063onstructor",
        "ｃonstructor",
        "x.сonstructor",
        "this.constructor",
        "constructor('return 1')",
        "constructor()",
        "__proto__()",
        "toString()",
        "valueOf()",
        "hasOwnProperty('x')",
        "x.toString()",
        "x.constructor('return process')()",
        "(x).constructor",
        "[].constructor",
        "''.constructor",
        "1.constructor",
        "1..constructor",
        "abs.constructor('x')",
      ],
      owner,
    ),
    ...each(
      "errored",
      [
        "get(x, key)",
        "get(x, '__pro' + 'to__')",
        "get(x, lower('CONSTRUCTOR'))",
        "get(x, trim(' prototype '))",
        "get(x, ['__proto__'])",
        "get(x, null)",
        "get(x, true)",
        "toString",
        "hasOwnProperty == 1",
        "x.toString",
        "x.valueOf.call",
        "x.__defineGetter__",
        "x.__lookupGetter__",
        "list.length",
        "list.push",
        "text.length",
        "text.0",
        "this",
        "globalThis",
        "process.exit",
        "undefined",
        "NaN",
        "Infinity",
        "arguments",
        "std",
        "fns",
        "data",
        "ops",
      ],
      owner,
    ),
    ...each(
      no,
      [
        "exists(toString)",
        "exists(hasOwnProperty)",
        "exists(x.toString)",
        "exists(x.__defineSetter__)",
        "exists(list.length)",
        "exists(text.length)",
        "exists(list.map)",
        "exists(globalThis)",
        "exists(process.env)",
        "exists(get(x, 'toString'))",
      ],
      owner,
    ),
    ...each(
      nothing,
      ["get(list, 'length')", "get(text, 'length')", "get(x, 'a.constructor')", "get(list, 'constructor ')"],
      owner,
    ),
  ],
};

const calls: HostileClass = {
  title: "that calls what it should not",
  expressions: each("refused", [
    "require('fs')",
    "import('fs')",
    "eval('1')",
    "Function('return 1')()",
    "new Function('return 1')",
    "process.exit(1)",
    "setTimeout('1', 1)",
    "random()",
    "myrand()",
    "now()",
    "Date()",
    "call(abs, 1)",
    "(() => 1)()",
    "function () { return 1 }",
    "x = 1",
    "x := 1",
    "x += 1",
    "a; b",
    "a, b",
    "{}",
    "{ a: 1 }",
    "`${a}`",
    "a ? b : c",
    "a ?? b",
    "await a",
    "/a+/",
    "// comment",
    "/* comment */ 1",
    "# comment",
    "<!-- a -->",
    "@a",
    "$a",
    "#{a}",
    "\\",
  ]),
};

/** Each must come back as nothing but the text that it is. */
const payloads: readonly string[] = [
  '"); globalThis.hacked = 1; ("',
  "'); globalThis.hacked = 1; ('",
  "`); globalThis.hacked = 1; (`",
  '"+(globalThis.hacked=1)+"',
  "'+(globalThis.hacked=1)+'",
  "${globalThis.hacked=1}",
  "{{ globalThis.hacked }}",
  "*/ globalThis.hacked = 1 /*",
  "// globalThis.hacked",
  "\n globalThis.hacked = 1 \n",
  "\r\n globalThis.hacked = 1",
  "\u2028 globalThis.hacked = 1 \u2029",
  "\\",
  "\\\\",
  "\\'",
  '\\"',
  "\\\\'); globalThis.hacked = 1; //",
  "\\u0027); globalThis.hacked = 1; //",
  "\\x27); globalThis.hacked = 1; //",
  "\\n",
  "\\0",
  "\u0000",
  "</script><script>globalThis.hacked=1</script>",
  "]]>",
  '"""',
  "'''",
  "```",
  "__proto__",
  "constructor",
  "p0",
  "c0",
  "f0()",
  "}}",
  "}) + globalThis.hacked",
  "$&$1$`$'$$",
  "\u202e)1 == 1(",
  "\ud800",
  "𝒳",
  "%s%n%x",
];

const injections: HostileClass = {
  title: "that breaks out of a quoted text",
  expressions: [
    ...payloads.map((payload) => ({
      name: `${shown(payload)} in single quotes`,
      text: `x == ${quoted(payload)}`,
      context: { x: payload },
      fate: yes,
    })),
    ...payloads.map((payload) => ({
      name: `${shown(payload)} in double quotes`,
      text: `x == "${payload.replace(/[\\"]/g, "\\$&")}"`,
      context: { x: payload },
      fate: yes,
    })),
    {
      name: "names that the compiled program uses itself",
      text: "p0 == 1 and c0 == 2 and f0 == 3 and p1 == 4 and data == 5 and std == 6",
      context: { p0: 1, c0: 2, f0: 3, p1: 4, data: 5, std: 6 },
      fate: yes,
    },
    {
      name: "names that JavaScript keeps for itself",
      text: "var == 1 and function == 2 and return == 3 and this == 4 and class == 5 and of == 6",
      context: { var: 1, function: 2, return: 3, this: 4, class: 5, of: 6 },
      fate: yes,
    },
  ],
};

const unclosed: HostileClass = {
  title: "that is never closed",
  expressions: each("refused", [
    "'",
    '"',
    "'abc",
    '"abc',
    "'abc\\",
    "'abc\\'",
    '"abc\\"',
    "\"abc'",
    "x == '",
    "'a' 'b",
    "'a' == 'b' and 'c",
    "(",
    "((1)",
    "[1, 2",
    "abs(",
    "abs(1",
    "abs(1,",
    "if a then b",
    "if a",
    "if",
    "not",
    "a and",
    "a ==",
    "a in",
    "a not",
    "a not in",
    "-",
    "1 ^",
    `'${"\\".repeat(4001)}'`,
    `'${"a".repeat(4000)}`,
  ]),
};

const characters: HostileClass = {
  title: "with characters that nobody sees",
  expressions: [
    ...each("refused", [
      "\u0000",
      "a\u0000b",
      "a == 1\u0000",
      "\u0001",
      "\u0007 == 1",
      "\u001b[2J",
      "a \u001b]0;title\u0007 == 1",
      "\u007f",
      "\u0085",
      "\u009b31m",
      "a\u00ad",
      "a\u200b == 1",
      "a\u200d",
      "a \u202e 1 == ",
      "\u2066a\u2069",
      "\u061c",
      "\ud800",
      "\udc00a",
      "\uffff",
      "\u{e0001}",
      "\u{1f600}",
      "а == 1",
      "a ＝＝ 1",
      "a == ‘b’",
      "a — b",
      "1 '\u001b[2J'",
      "1 '\u202e'",
      "a == 1 'b\nc'",
      "x ~= '(\u001b[2J'",
      "\u001b(1)",
    ]),
    ...each(yes, ["a\u2028==\u20291", "\ufeffa == 1", "a\u00a0==\u30001", "\t\v\f\r\na == 1"], { a: 1 }),
  ],
};

const numbers: HostileClass = {
  title: "with numbers that are none",
  expressions: [
    ...each({ answer: 1e308 }, ["round(1e308, 15)", "abs(-1e308)", "max(1e308, -1e308)"]),
    ...each("refused", [
      "1e309",
      "-1e309",
      "9".repeat(400),
      "9".repeat(4096),
      "1e999999999999",
      "0x10",
      "0b1",
      "0o7",
      "1_000",
      "1n",
      "1e",
      "1e+",
      "1.2.3",
      "1..2",
      "..5",
      "1a",
      "a.1b c",
      "٣ == 3",
    ]),
    ...each("errored", [
      "1e308 * 10",
      "1e308 + 1e308",
      "-1e308 - 1e308",
      "1 / 0",
      "0 / 0",
      "-1 / 0",
      "1 % 0",
      "9 ^ 9 ^ 9",
      "(0 - 8) ^ 0.5",
      "0 ^ -1",
      "round(1, 16)",
      "round(1, 0.5)",
      "round(1, 0 - 1)",
      "round(1, 1e300)",
      "1 + '1'",
      "-'1'",
      "max([])",
      "min([1, '2'])",
    ]),
    ...each(yes, [
      "1e-400 == 0",
      "-0 == 0",
      "5. == .5e1",
      "0.1 + 0.2 != 0.3",
      "9007199254740992 + 1 == 9007199254740992",
      `${"0".repeat(4000)}1 == 1`,
      `1.${"0".repeat(4000)} == 1`,
    ]),
    ...each(nothing, ["get([1], 0 - 1)", "get([1], 0.5)", "get([1], 1e300)", "get([1], 4294967295)"]),
  ],
};

function wrapped(before: string, inner: string, after: string, depth: number): string {
  return before.repeat(depth) + inner + after.repeat(depth);
}

const nesting: HostileClass = {
  title: "that is nested",
  expressions: [
    ...[65, 300, 2_000].flatMap((depth): readonly HostileExpression[] => [
      { name: `${depth} round brackets`, text: wrapped("(", "1", ")", depth), fate: "refused" },
      { name: `${depth} round brackets never closed`, text: "(".repeat(depth), fate: "refused" },
      { name: `${depth} square brackets`, text: wrapped("[", "", "]", depth), fate: "refused" },
      { name: `${depth} square brackets never closed`, text: "[".repeat(depth), fate: "refused" },
      { name: `${depth} lists in lists`, text: wrapped("(", "1,1", ")", depth), fate: "refused" },
      { name: `${depth} exclamation marks`, text: `${"!".repeat(depth)}true`, fate: "refused" },
      { name: `${depth} minus signs`, text: `${"-".repeat(depth)}1`, fate: "refused" },
      { name: `${depth} minus signs before a path`, text: `${"-".repeat(depth)}x`, fate: "refused" },
      { name: `${depth} powers`, text: `1${"^1".repeat(depth)}`, fate: "refused" },
      { name: `${depth} powers and signs`, text: `1${"^-1".repeat(depth)}`, fate: "refused" },
    ]),
    { name: "900 times not", text: `${"not ".repeat(900)}true`, fate: "refused" },
    { name: "800 calls", text: wrapped("abs(", "1", ")", 800), fate: "refused" },
    { name: "150 choices in then", text: wrapped("if true then ", "1", " else 2", 150), fate: "refused" },
    { name: "150 choices in else", text: `${"if a then 1 else ".repeat(150)}1`, fate: "refused" },
    {
      name: "150 choices in if",
      text: wrapped("if ", "true", " then true else false", 150),
      fate: "refused",
    },
    { name: "calls, lists and signs", text: wrapped("abs([-(", "1", ")])", 300), fate: "refused" },
    { name: "4 KiB of one bracket", text: "(".repeat(4_096), fate: "refused" },
    { name: "a million of one bracket", text: "(".repeat(1_000_000), fate: "refused" },
    { name: "60 round brackets", text: wrapped("(", "1", ")", 60), fate: { answer: 1 } },
    { name: "62 times not", text: `${"not ".repeat(62)}true`, fate: yes },
    { name: "62 exclamation marks", text: `${"!".repeat(62)}true`, fate: yes },
    {
      name: "62 minus signs before a path",
      text: `${"-".repeat(62)}x`,
      context: { x: 1 },
      fate: { answer: 1 },
    },
    { name: "60 powers", text: `1${"^1".repeat(60)}`, fate: { answer: 1 } },
    { name: "60 calls", text: wrapped("abs(", "1", ")", 60), fate: { answer: 1 } },
    {
      name: "60 choices in else",
      text: `${"if a then 1 else ".repeat(60)}2`,
      context: { a: false },
      fate: { answer: 2 },
    },
    { name: "60 choices in if", text: wrapped("if ", "true", " then true else false", 60), fate: yes },
    { name: "60 comparisons in one another", text: wrapped("(", "true", " == true == true)", 60), fate: yes },
    { name: "60 sums in one another", text: wrapped("(", "1", "+1+1+1)", 60), fate: { answer: 181 } },
  ],
};

const chain = (operand: string, operator: string, count: number): string =>
  Array.from({ length: count }, () => operand).join(operator);

const chains: HostileClass = {
  title: "that goes on and on",
  expressions: [
    { name: "or", text: chain("a", " or ", 800), context: { a: false }, fate: no },
    { name: "and", text: chain("a", " and ", 680), context: { a: true }, fate: yes },
    { name: "||", text: chain("a", "||", 1_360), context: { a: false }, fate: no },
    { name: "==", text: chain("1", "==", 1_365), fate: yes },
    { name: "!=", text: chain("a", "!=", 1_365), context: { a: 1 }, fate: no },
    { name: "<", text: Array.from({ length: 1_000 }, (_, index) => index).join("<"), fate: yes },
    { name: "250 times +", text: chain("1", "+", 250), fate: { answer: 250 } },
    { name: "2,000 times +", text: chain("1", "+", 2_000), fate: "refused" },
    { name: "2,000 times -", text: chain("1", "-", 2_000), fate: "refused" },
    { name: "2,000 times *", text: chain("1", "*", 2_000), fate: "refused" },
    { name: "a list of 2,000", text: `1 in [${chain("2", ",", 2_000)}]`, fate: no },
    { name: "a call with 2,000 arguments", text: `max(${chain("1", ",", 2_000)})`, fate: { answer: 1 } },
    {
      name: "a path of 2,000 steps",
      text: `exists(${chain("a", ".", 2_000)})`,
      context: { a: { a: 1 } },
      fate: no,
    },
    { name: "in after in", text: chain("a", " in ", 500), context: { a: [] }, fate: "refused" },
    { name: "~= after ~=", text: chain("a", " ~= ", 500), context: { a: "a" }, fate: "refused" },
    { name: "commas only", text: ",".repeat(4_000), fate: "refused" },
    { name: "dots only", text: ".".repeat(4_000), fate: "refused" },
    { name: "blanks only", text: " ".repeat(4_000), fate: "refused" },
    { name: "nothing at all", text: "", fate: "refused" },
    { name: "4,096 bytes", text: `x != '${"a".repeat(4_089)}'`, context: { x: "" }, fate: yes },
    { name: "4,097 bytes", text: `x != '${"a".repeat(4_090)}'`, fate: "refused" },
    { name: "4,096 characters of 3 bytes", text: `x != '${"€".repeat(4_089)}'`, fate: "refused" },
    { name: "a line break and then too much", text: `\n${"a".repeat(5_000)}`, fate: "refused" },
    { name: "a line break and then too many operators", text: `\n${chain("1", "+", 400)}`, fate: "refused" },
    { name: "1 MB of text", text: `'${"a".repeat(1_000_000)}'`, fate: "refused" },
    { name: "20 MB of operators", text: chain("1", "+", 10_000_000), fate: "refused" },
  ],
};

const long = Array.from({ length: 30_000 }, (_, index) => index);
const growth = chain("x", "+", 250);

/** Harmless to look at; the cost is in what the context brings along. */
const amplifiers: HostileClass = {
  title: "that makes much of a large context",
  expressions: [
    {
      name: "any_of with two long lists",
      text: "any_of(a, b)",
      context: { a: long, b: long.map((item) => -1 - item) },
      fate: no,
    },
    {
      name: "all_of with two long lists",
      text: "all_of(a, b)",
      context: { a: long, b: long.toReversed() },
      fate: yes,
    },
    {
      name: "none_of with two long lists",
      text: "none_of(a, b)",
      context: { a: long, b: long.map(String) },
      fate: yes,
    },
    { name: "in with a long list", text: "x in a", context: { x: "no", a: long }, fate: no },
    {
      name: "length of a long text",
      text: "length(x)",
      context: { x: "é".repeat(3_000_000) },
      fate: { answer: 3_000_000 },
    },
    { name: "equality of long lists", text: "a == b", context: { a: long, b: [...long, 1] }, fate: no },
    { name: "max of a long list", text: "max(a)", context: { a: long }, fate: { answer: 29_999 } },
    {
      name: "a text added to itself 250 times",
      text: `lower(${growth}) == upper(${growth})`,
      context: { x: "ā".repeat(1_000_000) },
      fate: "errored",
    },
  ],
};

export const expressionClasses: readonly HostileClass[] = [
  prototypes,
  calls,
  injections,
  unclosed,
  characters,
  numbers,
  nesting,
  chains,
  amplifiers,
];
