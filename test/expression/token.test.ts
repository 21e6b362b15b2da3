import { describe, expect, it } from "vitest";
import { tokenize } from "../../src/expression/tokens.js";
import { refusalOf } from "./answers.js";

const kindsAndValues = (text: string): readonly string[] =>
  tokenize(text).map((token) => `${token.kind} ${token.value}`);

describe("tokenize", () => {
  it("says where each token stands and how long it is", () => {
    expect(tokenize("a >= 'x'")).toEqual([
      { kind: "path", value: "a", at: 0, length: 1 },
      { kind: "symbol", value: ">=", at: 2, length: 2 },
      { kind: "text", value: "x", at: 5, length: 3 },
      { kind: "end", value: "", at: 8, length: 0 },
    ]);
  });

  it.each([
    ["&&", "word and"],
    ["and", "word and"],
    ["||", "word or"],
    ["or", "word or"],
    ["%", "word mod"],
    ["mod", "word mod"],
    ["===", "symbol =="],
    ["!==", "symbol !="],
    ["!", "symbol !"],
    ["not", "word not"],
  ])("reads %s as %s", (written, read) => {
    expect(kindsAndValues(written)).toEqual([read, "end "]);
  });

  it.each([
    ["not(x)", ["word not", "symbol (", "path x", "symbol )", "end "]],
    ["x and(y)", ["path x", "word and", "symbol (", "path y", "symbol )", "end "]],
    ["a&&b", ["path a", "word and", "path b", "end "]],
    ["a<=-1", ["path a", "symbol <=", "symbol -", "number 1", "end "]],
    ["order", ["path order", "end "]],
    ["android", ["path android", "end "]],
    ["in_stock", ["path in_stock", "end "]],
    ["a.and.or", ["path a.and.or", "end "]],
    ["not.a", ["path not.a", "end "]],
    ["a.items.0.name", ["path a.items.0.name", "end "]],
    ["_a1.b_2", ["path _a1.b_2", "end "]],
    ["a\n\t b", ["path a", "path b", "end "]],
    ["", ["end "]],
    [" \n ", ["end "]],
  ])("splits %j into its tokens", (text, tokens) => {
    expect(kindsAndValues(text)).toEqual(tokens);
  });
});

describe("a text", () => {
  it.each([
    [`'it''s'`, ["it", "s"]],
    [`'a"b'`, ['a"b']],
    [`"a'b"`, ["a'b"]],
    [String.raw`'a\'b'`, ["a'b"]],
    [String.raw`"a\"b"`, ['a"b']],
    [String.raw`'a\\b'`, [String.raw`a\b`]],
    [String.raw`'a\\'`, ["a\\"]],
    [String.raw`'^\d+\.$'`, [String.raw`^\d+\.$`]],
    [String.raw`'a\nb'`, [String.raw`a\nb`]],
    [`'two\nlines'`, ["two\nlines"]],
    [`''`, [""]],
    [`'{}[]()=?'`, ["{}[]()=?"]],
    [`'💡 ö'`, ["💡 ö"]],
  ])("written %s is read as %j", (written, read) => {
    const texts = tokenize(written).filter((token) => token.kind === "text");
    expect(texts.map((token) => token.value)).toEqual(read);
  });

  it.each([
    ["a == 'never", 5],
    ['a == "never', 5],
    [`'one' == "two'`, 9],
    [String.raw`'a\'`, 0],
    ["'", 0],
  ])("that is never closed, as in %s, is rejected where it begins", (text, at) => {
    expect(refusalOf(text, tokenize)).toMatchObject({ message: "the text has no closing quote", at });
  });
});

describe("a number", () => {
  it.each([
    ["0", 0],
    ["007", 7],
    ["1.5", 1.5],
    [".5", 0.5],
    ["5.", 5],
    ["1e21", 1e21],
    ["1E+3", 1000],
    ["25e-1", 2.5],
    [".5e1", 5],
    ["1.7976931348623157e308", Number.MAX_VALUE],
    ["1e-400", 0],
  ])("written %s is read as %d", (written, value) => {
    const [token] = tokenize(written);
    expect([token?.kind, Number(token?.value)]).toEqual(["number", value]);
  });

  it.each([
    ["a > 1.2.3", 4, "`1.2.` is not a number"],
    ["1..2", 0, "`1..` is not a number"],
    ["0x10", 0, "`0x` is not a number"],
    ["1e", 0, "`1e` is not a number"],
    ["12px", 0, "`12p` is not a number"],
    ["1_000", 0, "`1_` is not a number"],
    ["1e400", 0, "`1e400` is too large a number"],
  ])("%s is rejected", (text, at, message) => {
    expect(refusalOf(text, tokenize)).toMatchObject({ at, message });
  });
});

describe("a character that means nothing", () => {
  it.each([
    ["a = 1", 2, "`=` is not an operator", "compare with `==`"],
    ["a ? b : c", 2, "`? :` is not supported", "write `if … then … else …`"],
    ["a ? .5 : b", 2, "`? :` is not supported", "write `if … then … else …`"],
    [
      "a ?? 0 > 1",
      2,
      "`??` is not supported",
      "write `get(context, 'a', 0)` with a default value, or test it with `exists(a)`",
    ],
    [
      "order.tier?? 'free'",
      10,
      "`??` is not supported",
      "write `get(order, 'tier', 'free')` with a default value, or test it with `exists(order.tier)`",
    ],
    [
      "(a) ??",
      4,
      "`??` is not supported",
      "write `get(…, 'key', 0)` with a default value, or `if exists(…) then … else …`",
    ],
    [
      "a?.b > 1",
      1,
      "`?.` is not supported",
      "write `get(a, 'b', 0)` with a default value, or test it with `exists(a.b)`",
    ],
    [
      "a?.[0] > 1",
      1,
      "`?.` is not supported",
      "write `get(…, 'key', 0)` with a default value, or `if exists(…) then … else …`",
    ],
    ["a & b", 2, "unexpected `&`", "write `and`"],
    ["a | b", 2, "unexpected `|`", "write `or`"],
    ["$.order.total > 1", 0, "unexpected `$`", "write `order.total`"],
    ["a == $b", 5, "unexpected `$`", "write `b`"],
    ["$ > 1", 0, "unexpected `$`", undefined],
    ["context['a'].b == 1", 12, "unexpected `.`", "write `context.a.b`"],
    ["a; b", 1, "unexpected `;`", undefined],
    ["{a}", 0, "unexpected `{`", "write {{ … }} around an expression in text"],
    ["größe", 2, "unexpected `ö`", undefined],
    ["a == 💡", 5, "unexpected `💡`", undefined],
    ["a\u0000", 1, "unexpected `U+0000`", undefined],
    ["a\ud800", 1, "unexpected `U+D800`", undefined],
    ["a\u200b", 1, "unexpected `U+200B`", undefined],
    ["a.-1", 1, "unexpected `.`", undefined],
    ["`a`", 0, "unexpected ```", undefined],
  ])("is rejected where it stands in %j", (text, at, message, hint) => {
    expect(refusalOf(text, tokenize)).toEqual({ expression: text, at, message, hint });
  });
});
