import fc from "fast-check";
import type { Json, JsonObject } from "../../src/model/json.js";
import { Random } from "../hostile/fuzz/random.js";
import { definitions } from "./arbitraries.js";

interface WrittenFile {
  readonly text: string;
  /** The number of comments. */
  readonly comments: number;
}

/** Writes documents as people do: in any order and style, with comments in every place where YAML allows them. */
export function writeFile(documents: readonly JsonObject[], seed: number): WrittenFile {
  const writer = new Writer(new Random(seed));
  const text = documents.map((each) => writer.document(each)).join("---\n");
  return { text, comments: writer.comments };
}

const texts = fc.constantFrom(
  "a",
  "two words",
  "some more words on a line",
  "it's",
  'say "x"',
  "{{ a.b }}",
  "# no comment",
  "a: b",
  "",
  "- x",
  "é\u{1f600}",
  "line\nline\n",
  "last lines\n\n\n",
  "  indented\nline",
  "a\n\nb",
  "tab\there",
  "true",
  "12",
);

const scalars: fc.Arbitrary<Json> = fc.oneof(
  texts,
  fc.integer({ min: -99, max: 99 }),
  fc.boolean(),
  fc.constant(null),
);

const { value: anyValues } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("id", "b-c", "two words", "x", "type", "reason"), tie("value"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));

const tests = fc.array(
  fc.record({ name: texts, decision: texts, input: anyValues, expect: anyValues }, { requiredKeys: [] }),
  { maxLength: 3 },
);

/** The documents of a definition file; most are not valid definitions, but all have keys that are sorted. */
export const fileDocuments: fc.Arbitrary<readonly JsonObject[]> = fc.array(
  fc
    .record(
      {
        decision: fc.oneof(
          definitions.map((each) => each as unknown as Json),
          anyValues,
        ),
        tests: tests.map((each) => each as Json),
        guardrails: anyValues,
        extra: anyValues,
      },
      { requiredKeys: [] },
    )
    .filter((value) => Object.keys(value).length > 0),
  { minLength: 1, maxLength: 2 },
);

class Writer {
  comments = 0;
  readonly #random: Random;
  /** The anchored values of the current document so far, by their JSON. */
  #anchors = new Map<string, string>();
  /** After a block text, a comment in a column right of this would be part of the text. */
  #maxColumn = Infinity;

  constructor(random: Random) {
    this.#random = random;
  }

  document(value: JsonObject): string {
    this.#anchors = new Map();
    this.#maxColumn = Infinity;
    const before = this.#lines(0);
    if (this.#oneIn(8)) return `${before}${this.#flow(value, 1)}${this.#lineEnd()}${this.#lines(0)}`;
    return before + this.#block(value, 0) + this.#lines(this.#random.below(5));
  }

  #block(value: JsonObject | readonly Json[], indent: number): string {
    if (isList(value)) return value.map((item) => this.#item(item, indent)).join("");
    return this.#shuffled(value)
      .map(([key, each]) => this.#pair(key, each, indent))
      .join("");
  }

  #pair(key: string, value: Json, indent: number): string {
    const before = this.#lines(indent) + spaces(indent);
    this.#maxColumn = Infinity;
    if (!this.#oneIn(12)) return `${before}${this.#key(key)}:${this.#value(value, indent)}`;
    const between = `${this.#lineEnd()}${this.#lines(indent)}${spaces(indent)}`;
    return `${before}? ${this.#key(key)}${between}:${this.#value(value, indent)}`;
  }

  #item(value: Json, indent: number): string {
    const before = `${this.#lines(indent)}${spaces(indent)}-`;
    this.#maxColumn = Infinity;
    if (!isMap(value) || sizeOf(value) === 0 || this.#oneIn(2)) return before + this.#value(value, indent);
    const block = this.#block(value, indent + 2);
    const [firstLine = ""] = block.split("\n");
    return firstLine.startsWith(spaces(indent + 2)) && !/^ *(#|$)/.test(firstLine)
      ? `${before} ${block.slice(indent + 2)}`
      : `${before}\n${block}`;
  }

  /** A value after `:` or `-`, to the end of its last line. */
  #value(value: Json, indent: number): string {
    const known = this.#anchors.get(JSON.stringify(value));
    if (known !== undefined && this.#oneIn(3)) return ` *${known}${this.#lineEnd()}`;
    const inner = indent + this.#random.pick([1, 2, 4]);
    let anchor = "";
    if (this.#oneIn(10)) {
      const name = `a${this.#random.below(100_000)}`;
      anchor = ` &${name}`;
      this.#anchors.set(JSON.stringify(value), name);
    }
    if (value === null && this.#oneIn(2)) return `${anchor}${this.#lineEnd()}`;
    if (isCollection(value) && sizeOf(value) > 0 && this.#oneIn(2)) {
      return `${anchor}${this.#lineEnd()}${this.#block(value, inner)}`;
    }
    const block =
      typeof value === "string" && this.#oneIn(2) ? this.#blockText(value, inner, inner - indent) : undefined;
    if (block !== undefined) {
      this.#maxColumn = indent;
      return `${anchor} ${block}`;
    }
    const gap = this.#oneIn(8) ? `${this.#lineEnd()}${this.#lines(inner)}${spaces(inner)}` : " ";
    return `${anchor}${gap}${this.#flow(value, inner)}${this.#lineEnd()}`;
  }

  #blockText(value: string, indent: number, digit: number): string | undefined {
    const body = value.replace(/\n+$/, "");
    const ends = value.length - body.length;
    if (body === "") return undefined;
    const chomping = ends === 0 ? "-" : ends > 1 || this.#oneIn(2) ? "+" : "";
    const isExplicit = /^\s/.test(body) || this.#oneIn(4);
    const lines = body.split("\n").map((line) => (line === "" ? "" : spaces(indent) + line));
    const header = `|${isExplicit ? digit : ""}${chomping}`;
    return `${header}${this.#lineEnd()}${lines.join("\n")}\n${"\n".repeat(Math.max(0, ends - 1))}`;
  }

  #flow(value: Json, indent: number): string {
    if (!isCollection(value)) return this.#scalar(value, indent);
    const [open = "", close = ""] = isList(value) ? "[]" : "{}";
    const parts = isList(value)
      ? value.map((item) => this.#flowGap(indent) + this.#flow(item, indent + 1))
      : this.#shuffled(value).map(
          ([key, each]) =>
            `${this.#flowGap(indent)}${this.#key(key)}: ${this.#flowGap(indent)}${this.#flow(each, indent + 1)}`,
        );
    const comma = parts.length > 0 && this.#oneIn(6) ? "," : "";
    const entries = parts.map((part) => part + this.#flowGap(indent)).join(",");
    return `${open}${entries}${comma}${this.#flowGap(indent)}${close}`;
  }

  /** White space within brackets. */
  #flowGap(indent: number): string {
    if (!this.#oneIn(8)) return this.#random.pick(["", " "]);
    return `${this.#lineEnd()}${this.#lines(indent + 1)}${spaces(indent + 1)}`;
  }

  #scalar(value: Json, indent: number): string {
    if (typeof value !== "string") return JSON.stringify(value);
    const continued = `\n${spaces(indent + 1)}`;
    switch (this.#random.below(4)) {
      case 0:
        if (!/^[a-z]+( [a-z]+)*$/.test(value) || value === "true") break;
        return this.#oneIn(3) ? value.replace(" ", continued) : value;
      case 1:
        if (/[\n\t]/.test(value)) break;
        return `'${value.replaceAll("'", "''")}'`;
      case 2:
        return JSON.stringify(value).replace(/(?<=[a-z]) (?=[a-z])/, continued);
    }
    return JSON.stringify(value);
  }

  #key(key: string): string {
    const isPlain = /^[a-z][a-z_ -]*$/.test(key) && !["true", "false", "null", "n", "y"].includes(key);
    return !isPlain || this.#oneIn(5) ? JSON.stringify(key) : key;
  }

  #lineEnd(): string {
    return `${this.#oneIn(4) ? " " : ""}${this.#oneIn(5) ? ` ${this.#comment()}` : ""}\n`;
  }

  /** Blank lines, and lines with a comment. */
  #lines(indent: number): string {
    if (!this.#oneIn(4)) return "";
    return Array.from({ length: this.#random.below(4) }, () => {
      const column = this.#random.pick([undefined, indent, indent, this.#random.below(7)]);
      return column === undefined ? "\n" : `${spaces(Math.min(column, this.#maxColumn))}${this.#comment()}\n`;
    }).join("");
  }

  #comment(): string {
    return `# comment ${++this.comments}${this.#oneIn(4) ? " with `{[: - text" : ""}`;
  }

  #shuffled(value: JsonObject): readonly (readonly [string, Json])[] {
    const entries = Object.entries(value);
    return entries
      .map((entry) => ({ entry, at: this.#random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ entry }) => entry);
  }

  #oneIn(count: number): boolean {
    return this.#random.below(count) === 0;
  }
}

const spaces = (count: number): string => " ".repeat(count);
const isCollection = (value: Json): value is JsonObject | readonly Json[] =>
  typeof value === "object" && value !== null;
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isMap = (value: Json): value is JsonObject => isCollection(value) && !isList(value);
const sizeOf = (value: object): number => Object.keys(value).length;
