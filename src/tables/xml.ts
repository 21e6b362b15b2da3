import { Parser } from "saxen";
import type { Place } from "./table.js";

/** XML that is malformed, or that could be an attack. */
export class InvalidXml extends Error {
  readonly place: Place;
  readonly hint: string | undefined;

  constructor(message: string, place: Place, hint?: string) {
    super(message);
    this.place = place;
    this.hint = hint;
  }
}

export interface XmlVisitor {
  /** The name has the prefix of its namespace; `ordinal` counts the elements of the document. */
  open(name: string, attributes: Readonly<Record<string, string>>, ordinal: number): void;
  text(text: string): void;
  close(name: string): void;
}

const maxDepth = 64;
const maxElements = 500_000;
const maxAttributes = 100;

/** Reads a document. `prefixes` has the prefix of each namespace. Throws `InvalidXml`. */
export function readXml(text: string, prefixes: Readonly<Record<string, string>>, visitor: XmlVisitor): void {
  assertCharacters(text);
  let depth = 0;
  let elements = 0;
  const fail = (message: string, context: Context, hint?: string): never => {
    throw new InvalidXml(message, placeOf(context), hint);
  };
  const parser = new Parser();
  parser
    .ns(prefixes)
    .on("openTag", (name, attributesOf, _decode, _isSelfClosing, context) => {
      if (depth === 0 && elements > 0) fail("the document has two root elements", context);
      if (++depth > maxDepth) fail(`the document is nested deeper than ${maxDepth} levels`, context);
      if (++elements > maxElements) fail(`the document has more than ${maxElements} elements`, context);
      const attributes = Object.entries(attributesOf());
      if (attributes.length > maxAttributes)
        fail(`an element has more than ${maxAttributes} attributes`, context);
      const decoded = attributes.map(([key, raw]): readonly [string, string] => [
        key,
        decode(raw, (message, hint) => fail(message, context, hint)),
      ]);
      visitor.open(name, Object.fromEntries(decoded), elements);
    })
    .on("closeTag", (name) => {
      depth--;
      visitor.close(name);
    })
    .on("text", (raw, _decode, context) => {
      if (depth > 0) visitor.text(decode(raw, (message, hint) => fail(message, context, hint)));
    })
    .on("cdata", (raw) => visitor.text(raw))
    .on("attention", (_text, _decode, context) =>
      fail(
        "the document has a DOCTYPE or an entity declaration",
        context,
        "remove it: entities are not read",
      ),
    )
    .on("question", (instruction, context) => {
      const encoding = /^<\?xml\s[^>]*encoding\s*=\s*["']([^"']*)["']/.exec(instruction)?.[1] ?? "utf-8";
      if (!/^(?:utf-?8|us-ascii|ascii)$/i.test(encoding))
        fail(`the document declares the encoding \`${encoding}\``, context, "save it as UTF-8");
    })
    .on("error", (error, context) => fail(`the XML is malformed: ${error.message}`, context))
    .on("warn", (error, context) => {
      // Every document has the prefix `xml`; its attributes, such as `xml:space`, are not read.
      if (error.message !== "missing namespace for prefix <xml>")
        fail(`the XML is malformed: ${error.message}`, context);
    })
    .parse(text);
  if (elements === 0) throw new InvalidXml("the document has no element", start);
  if (depth > 0)
    throw new InvalidXml("the XML is malformed: an element is not closed", placeAt(text, text.length));
}

/** Returns where elements start, by their ordinals: much slower for each than `readXml` as a whole. */
export function placesOf(
  text: string,
  prefixes: Readonly<Record<string, string>>,
  ordinals: ReadonlySet<number>,
): ReadonlyMap<number, Place> {
  const places = new Map<number, Place>();
  let elements = 0;
  new Parser()
    .ns(prefixes)
    .on("openTag", (_name, _attributes, _decode, _isSelfClosing, context) => {
      if (ordinals.has(++elements)) places.set(elements, placeOf(context));
    })
    .parse(text);
  return places;
}

type Context = () => { readonly line: number; readonly column: number };

const start: Place = { line: 1, column: 1 };

function placeOf(context: Context): Place {
  const { line, column } = context();
  return { line: line + 1, column: column + 1 };
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

// eslint-disable-next-line no-control-regex -- XML forbids these
const forbiddenCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;

function assertCharacters(text: string): void {
  const offset = text.search(forbiddenCharacter);
  if (offset === -1) return;
  const code = text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, "0");
  throw new InvalidXml(`the document contains the forbidden character U+${code}`, placeAt(text, offset));
}

const entities: Readonly<Partial<Record<string, string>>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function decode(raw: string, fail: (message: string, hint?: string) => never): string {
  if (!raw.includes("&")) return raw;
  return raw.replace(
    /&(?:#x([0-9a-fA-F]+);|#(\d+);|(\w+);)?/g,
    (written, hex?: string, decimal?: string, name?: string) => {
      const code =
        hex === undefined ? (decimal === undefined ? undefined : Number(decimal)) : Number.parseInt(hex, 16);
      const character =
        code === undefined ? entities[name ?? ""] : code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
      if (
        character !== undefined &&
        !forbiddenCharacter.test(character) &&
        !/^[\ud800-\udfff]$/.test(character)
      )
        return character;
      return fail(`\`${written}\` is not a character or a known entity`, "write `&amp;` for an ampersand");
    },
  );
}
