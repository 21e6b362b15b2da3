import { gzipSync } from "node:zlib";
import { writeZip } from "../../src/tables/zip.js";
import type { DmnParts } from "./dmn-file.js";
import { dmn13, dmnFile } from "./dmn-file.js";
import type { XlsxCell } from "./xlsx-file.js";
import { deflated, sheetXml, xlsxParts, zipOf } from "./xlsx-file.js";

/** A file that is no valid table, for one reason. */
export interface MalformedFile {
  /** Its name says what is wrong, and what kind of file it is. */
  readonly name: string;
  readonly bytes: () => Buffer;
  /** Whether it takes long to make or to read. */
  readonly isLarge: boolean;
  /** A part of the error. */
  readonly says?: string;
  /** Whether it has no default, so that a flag must give one. */
  readonly needsDefault: boolean;
}

type Content = string | Buffer;
/** Large files are made when they are needed. */
type Entry = readonly [what: string, content: Content | (() => Content), says?: string];

const toBytes = (content: Content): Buffer => (typeof content === "string" ? Buffer.from(content) : content);

const filesOf = (extension: string, entries: readonly Entry[]): readonly MalformedFile[] =>
  entries.map(([what, content, says]) => ({
    name: `${what}.${extension}`,
    bytes: () => toBytes(typeof content === "function" ? content() : content),
    isLarge: typeof content === "function",
    needsDefault:
      extension !== "dmn" &&
      what !== "no default" &&
      (typeof content === "function" || !content.includes(",default")),
    ...(says !== undefined && { says }),
  }));

/** The same text in other encodings, and with bytes that are no text. */
function encodings(text: string): readonly Entry[] {
  const utf16 = Buffer.from(text, "utf16le");
  const utf32 = Buffer.from(
    Array.from(text).flatMap((each) => [each.codePointAt(0) ?? 0, 0, 0, 0].slice(0, 4)),
  );
  const half = Math.floor(text.length / 2);
  const withBytes = (...bytes: readonly number[]): Buffer =>
    Buffer.concat([Buffer.from(text.slice(0, half)), Buffer.from(bytes), Buffer.from(text.slice(half))]);
  return [
    ["UTF-16 with a byte order mark", Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])],
    ["UTF-16 of the other order", Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()])],
    ["UTF-16 without a byte order mark", utf16, "NUL"],
    ["UTF-32", utf32, "NUL"],
    ["Latin-1", withBytes(0xe9), "UTF-8"],
    ["a character cut off", Buffer.concat([Buffer.from(text), Buffer.from([0xe2, 0x82])]), "UTF-8"],
    ["an overlong character", withBytes(0xc0, 0xbc), "UTF-8"],
    ["half of a pair", withBytes(0xed, 0xa0, 0x80), "UTF-8"],
    ["NUL bytes", withBytes(0, 0, 0), "NUL"],
    ["bytes that are never text", withBytes(0xff, 0xfe, 0xfd), "UTF-8"],
  ];
}

/** What is no table of any kind. */
const foreign: readonly Entry[] = [
  ["nothing", ""],
  ["spaces", " \t \n \n"],
  ["a byte order mark alone", "\ufeff"],
  ["a gzip archive", gzipSync(Buffer.from("if:a,then:target\n1,x\n"))],
  ["a PDF", "%PDF-1.7\n%âãÏÓ\n1 0 obj\n<< >>\nendobj\n"],
  ["JSON", '{"decision": {"id": "a"}}'],
  ["a definition", "decision:\n  id: a\n  type: switch\n"],
  ["an HTML page", "<!DOCTYPE html><html><body><table><tr><td>1</td></tr></table></body></html>"],
  ["random bytes", Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919 + 13) % 256))],
];

const table = (parts: Partial<DmnParts> = {}): string =>
  dmnFile({ rules: [{ in: ["1"], out: ['"a"'] }], ...parts });

/** A model whose only rule has this input entry. */
const withFeel = (feel: string): string => table({ rules: [{ in: [feel], out: ['"a"'] }] });

/** A model with this declaration before its root. */
const declared = (declaration: string): string => table().replace("?>\n", () => `?>\n${declaration}\n`);

const withDoctype = (declarations: string, body = "&a;"): string =>
  declared(`<!DOCTYPE definitions [${declarations}]>`).replace("<text>1</text>", `<text>${body}</text>`);

const replaced = (from: string | RegExp, to: string): string => {
  const text = table();
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`nothing to replace: ${String(from)}`);
  return changed;
};

/** A document with an entity that stands for ten of the one before, and so on. */
const laughs = Array.from({ length: 30 }, (_, index) =>
  index === 0 ? '<!ENTITY a0 "ha">' : `<!ENTITY a${index} "${`&a${index - 1};`.repeat(10)}">`,
).join("\n");

const cutOff = (bytes: Buffer | string, count: number): readonly Entry[] => {
  const whole = Buffer.from(bytes);
  return Array.from({ length: count }, (_, index): Entry => {
    const length = Math.floor((whole.length * (index + 1)) / (count + 2));
    return [`cut off after ${length} bytes`, whole.subarray(0, length)];
  });
};

/** Where entities would lead, if they were followed. */
export interface Targets {
  readonly url: string;
  readonly file: string;
}

const doctype = "has a DOCTYPE";
const megabyte = 1024 * 1024;

const dmnFiles = ({ url, file }: Targets): readonly MalformedFile[] =>
  filesOf("dmn", [
    ...foreign,
    ...encodings(table()),
    ...cutOff(table(), 12),
    ["a spreadsheet", zipOf(xlsxParts({ A: [["a"]] }))],
    ["the encoding Latin-1 declared", replaced("UTF-8", "ISO-8859-1"), "ISO-8859-1"],
    ["the encoding UTF-16 declared", '<?xml version="1.0" encoding="UTF-16"?><a/>', "UTF-16"],
    ["the encoding UTF-7 declared", "<?xml version='1.0' encoding='utf-7'?><a/>", "utf-7"],
    ["a billion laughs", withDoctype(laughs, "&a29;"), doctype],
    [
      "one long entity often",
      () => withDoctype(`<!ENTITY a "${"x".repeat(100_000)}">`, "&a;".repeat(10_000)),
      doctype,
    ],
    ["an entity of itself", withDoctype('<!ENTITY a "&a;">'), doctype],
    ["an entity of a file", withDoctype(`<!ENTITY a SYSTEM "file://${file}">`), doctype],
    ["an entity of a path", withDoctype(`<!ENTITY a SYSTEM "${file}">`), doctype],
    ["an entity of a page", withDoctype(`<!ENTITY a SYSTEM "${url}/entity">`), doctype],
    ["a public entity", withDoctype(`<!ENTITY a PUBLIC "-//x" "${url}/public">`), doctype],
    ["a parameter entity", withDoctype(`<!ENTITY % a SYSTEM "${url}/parameter"> %a;`, "1"), doctype],
    ["an external DTD", declared(`<!DOCTYPE definitions SYSTEM "${url}/dtd">`), doctype],
    ["an empty DOCTYPE", declared("<!DOCTYPE definitions>"), doctype],
    ["an unclosed DOCTYPE", `<!DOCTYPE a [<!ENTITY b "${"x".repeat(1000)}`],
    ["an unknown entity", replaced("<text>1</text>", "<text>&nbsp;</text>"), "`&nbsp;` is not"],
    ["a lone ampersand", replaced("<text>1</text>", "<text>1 & 2</text>"), "`&` is not"],
    ["the character 0", replaced("<text>1</text>", "<text>&#0;</text>"), "`&#0;` is not"],
    ["half of a pair as a reference", replaced("<text>1</text>", "<text>&#xD800;</text>"), "`&#xD800;`"],
    ["a reference beyond Unicode", replaced("<text>1</text>", "<text>&#x110000;</text>"), "`&#x110000;`"],
    ["an endless reference", replaced("<text>1</text>", `<text>&#${"9".repeat(10_000)};</text>`)],
    ["a reference in an attribute", replaced('name="Dish"', 'name="&bad;"'), "`&bad;`"],
    ["a control character", replaced("<text>1</text>", "<text>\u0001</text>"), "U+0001"],
    ["the character FFFE", replaced("<text>1</text>", "<text>\ufffe</text>"), "U+FFFE"],
    ["two roots", `${table()}<definitions/>`, "two root elements"],
    ["an element after the root", `${table()}<a/>`, "two root elements"],
    ["an unclosed element", table().replace("</decisionTable>", "")],
    ["an element closed twice", table().replace("</decisionTable>", "</decisionTable></decisionTable>")],
    ["crossed elements", "<a><b></a></b>"],
    ["an unclosed tag", table().replace("<decisionTable", "<decisionTable <")],
    ["an unclosed comment", `${table()}<!-- `],
    ["an unclosed CDATA section", replaced("<text>1</text>", "<text><![CDATA[1</text>")],
    ["an unclosed instruction", `${table()}<? a `],
    ["an attribute without a value", replaced('name="Dish"', "name")],
    ["an attribute without quotes", replaced('name="Dish"', "name=Dish")],
    ["an unclosed attribute", replaced('name="Dish"', 'name="Dish')],
    ["an attribute given twice", replaced('name="Dish"', 'name="Dish" name="Other"')],
    [
      "an unknown prefix",
      replaced("<decisionTable", "<x:decisionTable").replace("</decisionTable", "</x:decisionTable"),
    ],
    ["65 levels", replaced("<rule>", `${"<a>".repeat(62)}${"</a>".repeat(62)}<rule>`), "deeper than 64"],
    ["500,000 levels", () => replaced("<rule>", "<a>".repeat(500_000)), "deeper than 64"],
    [
      "600,000 elements",
      () => replaced("<rule>", `${"<b/>".repeat(600_000)}<rule>`),
      "more than 500000 elements",
    ],
    [
      "101 attributes",
      `<a ${Array.from({ length: 101 }, (_, at) => `a${at}=""`).join(" ")}/>`,
      "more than 100 attributes",
    ],
    ["200,000 attributes", () => `<a ${Array.from({ length: 200_000 }, (_, at) => `a${at}=""`).join(" ")}/>`],
    ["a name of a megabyte", () => `<${"a".repeat(megabyte)}/>`],
    ["5 megabytes", () => `<a>${"x".repeat(5 * megabyte)}</a>`, "at most 4194304"],
    ["4 megabytes of text", () => `<a>${"x".repeat(4 * megabyte - 7)}</a>`],
    ["4 megabytes of ampersands", () => `<a>${"&".repeat(4 * megabyte - 7)}</a>`],
    ["4 megabytes of smaller signs", () => "<".repeat(4 * megabyte)],
    ["4 megabytes of line breaks", () => "\n".repeat(4 * megabyte)],
    ["BPMN", '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"/>', "is not DMN"],
    ["no namespace", replaced(` xmlns="${dmn13}"`, "")],
    ["a version to come", table({ namespace: "https://www.omg.org/spec/DMN/20990101/MODEL/" })],
    ["a model without decisions", table().replace(/<decision [^]*<\/decision>/, ""), "no decision table"],
    [
      "a decision without logic",
      table().replace(/<decisionTable[^]*<\/decisionTable>/, ""),
      "no decision table",
    ],
    [
      "two tables in a decision",
      table().replace(/<decisionTable[^]*<\/decisionTable>/, "$&$&"),
      "two elements",
    ],
    ["no rules", table({ rules: [] }), "no rules"],
    ["no output", table({ outputs: [] })],
    ["no input expression", table({ inputs: [""] }), "no input expression"],
    ["an input that is a sum", table({ inputs: ["a + b"] }), "is not a path"],
    ["an input that is a prototype", table({ inputs: ["__proto__.x"] }), "cannot be read"],
    ["too few cells", table({ inputs: ["a", "b"] }), "1 input entries for 2 inputs"],
    ["too many cells", table({ rules: [{ in: ["1", "2"], out: ['"a"'] }] }), "2 input entries for 1 inputs"],
    ["too many outputs", table({ rules: [{ in: ["1"], out: ['"a"', '"b"'] }] })],
    [
      "an output given twice",
      table({ outputs: [{ name: "x" }, { name: "x" }], rules: [{ in: ["1"], out: ["1", "2"] }] }),
    ],
    ["an unknown hit policy", table({ hitPolicy: "BEST" }), "unknown hit policy"],
    ["an unknown aggregation", table({ hitPolicy: "COLLECT", aggregation: "AVERAGE" }), "aggregation"],
    ["an aggregation of texts", table({ hitPolicy: "COLLECT", aggregation: "SUM" })],
    [
      "201 inputs",
      table({ inputs: Array.from({ length: 201 }, (_, at) => `a${at}`) }),
      "at most 200 columns",
    ],
    [
      "10,001 rules",
      () => table({ rules: Array.from({ length: 10_001 }, () => ({ in: ["1"], out: ["1"] })) }),
      "at most 10000 rules",
    ],
    ["an id twice", replaced("<rule>", '<rule id="dish">'), "duplicate ID"],
    ["an unknown attribute", replaced("<rule>", '<rule hitpolicy="FIRST">'), "unknown attribute"],
    ["text between elements", replaced("<rule>", "<rule>lost"), "outside of"],
    ["JavaScript", replaced("<inputEntry>", '<inputEntry expressionLanguage="javascript">'), "not FEEL"],
    ["an unclosed text in a cell", withFeel('"open'), "not a FEEL expression"],
    ["a function in a cell", withFeel("now()"), "cannot be converted"],
    ["a call of the system in a cell", withFeel('java.lang.Runtime.exec("x")'), "cannot be"],
    ["an empty interval", withFeel("[5..1]"), "is empty"],
    ["a number that is too large", withFeel("1e999")],
    ["a number that is rounded", withFeel("12345678901234567890"), "exactly"],
    ["4,000 brackets in a cell", withFeel(`${"(".repeat(4000)}1${")".repeat(4000)}`)],
    ["4,000 open brackets in a cell", withFeel("(".repeat(4000))],
    ["8,000 minus signs in a cell", withFeel(`${"-".repeat(8000)}1`)],
    ["1,500 negations in a cell", withFeel(`${"not(".repeat(1500)}1${")".repeat(1500)}`)],
    [
      "2,000 lists in a list",
      table({ rules: [{ in: ["1"], out: [`${"[".repeat(2000)}${"]".repeat(2000)}`] }] }),
    ],
    ["a cell of 8,193 characters", withFeel(`"${"x".repeat(8192)}"`), "longer than 8192"],
    ["a cell of 4 megabytes", () => withFeel(`"${"x".repeat(4_100_000)}"`), "longer than 8192"],
    ["201 values in a cell", withFeel(Array.from({ length: 201 }, (_, at) => at).join(","))],
    [
      "20,000 wrong cells",
      () => table({ rules: Array.from({ length: 9999 }, () => ({ in: ["?!"], out: ["?!"] })) }),
    ],
  ]);

const csv = (...rows: readonly string[]): string => `${rows.join("\n")}\n`;
const header = "if:a,then:target";

const longHeadings = (count: number): string =>
  Array.from({ length: count }, (_, at) => `if:some_rather_long_name_of_a_field_${at}`).join(",");

/** A table whose only rule has this cell. */
const withCell = (cell: string): string => csv(header, `"${cell.replaceAll('"', '""')}",x`);

/** A table whose only rule has these cells. */
const withAnswer = (rule: string): string => csv("if:a,then:target,then:label,then:output,description", rule);

const csvFiles = (): readonly MalformedFile[] =>
  filesOf("csv", [
    ...foreign,
    ...encodings(csv("if:amount,then:target,then:label", "1,x,a")),
    ["a spreadsheet", zipOf(xlsxParts({ A: [["a"]] }))],
    ["a header alone", csv(header), "no rules"],
    ["settings alone", csv("hit_policy,first"), "no header"],
    ["a header without answers", csv("if:a", "1"), "no column says"],
    ["no default", csv(header, "1,x"), "no default"],
    ["semicolons", csv("if:a;then:target", "1;x"), "separate the columns with commas"],
    ["tabs", csv("if:a\tthen:target", "1\tx")],
    ["an unknown heading", csv("if:a,then:target,weight", "1,x,2"), "unknown column `weight`"],
    ["a misspelt heading", csv("if:a,then:tarket", "1,x"), "unknown column"],
    ["an empty heading", csv("if:a,,then:target", "1,2,x"), "no heading"],
    ["a heading twice", csv("if:a,if:a,then:target", "1,2,x"), "two columns `if:a`"],
    ["a target twice", csv("if:a,then:target,then:target", "1,x,y"), "two columns"],
    ["a label twice", csv("then:label,THEN:LABEL,then:target", "1,2,x"), "two columns"],
    ["an output and its part", csv("if:a,then:output,then:output.b", "1,2,3", "-,4,5"), "same part"],
    ["no path", csv("if:,then:target", "1,x"), "unknown column"],
    ["a path with two dots", csv("if:a..b,then:target", "1,x"), "unknown column"],
    ["a prototype as path", csv("if:__proto__.x,then:target", "1,x"), "unknown column"],
    ["a constructor as output", csv("if:a,then:output.constructor", "1,x"), "unknown column"],
    ["an unclosed quote", csv(header, '1,"x', "2,y"), "not closed"],
    ["an unclosed quote in a large file", () => `${header}\n"${"1,x\n".repeat(500_000)}`],
    ["a quote within a cell", csv(header, '1,x"y"'), "wrong place"],
    ["text after a quote", csv(header, '1,"x"y'), "wrong place"],
    ["a row with too few cells", csv(header, "1"), "the row has 1 cells, the header has 2"],
    ["a row with too many cells", csv(header, "1,x,y"), "without a heading"],
    ["a list without quotes", csv(header, "a, b,x"), "without a heading"],
    [
      "201 columns",
      csv(`${Array.from({ length: 200 }, (_, at) => `if:a${at}`).join(",")},then:target`, "1"),
      "at most 200 columns",
    ],
    ["10,002 rows", () => csv(header, ..."1,x\n".repeat(10_002).trim().split("\n")), "at most 10000 rules"],
    ["1,000,000 columns", () => csv(`${header}${",x".repeat(1_000_000)}`, "1,x")],
    ["1,000,000 empty settings", () => csv(`hit_policy${",".repeat(1_000_000)}`, header, "1,x")],
    ["1,000,000 settings", () => csv(`output_values${",x".repeat(700_000)}`, header, "1,x")],
    ["a row that is too long", () => csv(header, `1,${"x".repeat(2_000_000)}`), "longer than"],
    ["a cell of 8,193 characters", csv(header, `1,${"x".repeat(8193)}`), "longer than 8192"],
    ["5 megabytes", () => "x".repeat(5 * megabyte), "at most 4194304"],
    ["4 megabytes of commas", () => ",".repeat(4 * megabyte)],
    ["4 megabytes of quotes", () => '"'.repeat(4 * megabyte - 1)],
    ["4 megabytes of line breaks", () => "\n".repeat(4 * megabyte)],
    ["4 megabytes of carriage returns", () => "\r".repeat(4 * megabyte)],
    [
      "800,000 wrong cells",
      () =>
        csv(
          `${Array.from({ length: 100 }, (_, at) => `if:a${at}`).join(",")},then:target`,
          ...Array.from({ length: 8000 }, () => `${"=1,".repeat(100)}x`),
        ),
    ],
    [
      "2,000,000 cells",
      () =>
        csv(
          `${Array.from({ length: 199 }, (_, at) => `if:a${at}`).join(",")},then:target`,
          ...Array.from({ length: 9999 }, () => `${"1,".repeat(199)}x`),
        ),
    ],
    ["a formula as condition", withCell("=1+1"), "starts with `=`"],
    ["a formula with a plus", withCell("+1+1")],
    ["a formula with an at", withCell("@SUM(A1)")],
    ["a formula with a minus", withCell("-A1")],
    ["a formula as target", csv(header, "1,=A1"), "starts like a formula"],
    ["a link as label", withAnswer('1,x,"=HYPERLINK(""http://x"")",,'), "starts like a formula"],
    ["a command as output", withAnswer("1,x,,=cmd|' /C calc'!A0,"), "starts like a formula"],
    ["a formula as description", withAnswer("1,x,,,@SUM(A1:A9)"), "starts like a formula"],
    ["a formula after a tab", withAnswer("1,x,\t=1,,"), "starts like a formula"],
    ...[
      "",
      "[1..",
      "[5..1]",
      "(1..1)",
      "[1..'a']",
      "<",
      "< x",
      ">= ",
      "a,,b",
      ",",
      "not(",
      "not()",
      "in()",
      "foo(1)",
      "exists(",
      "date('x')",
      "date()",
      "'open",
      "'a' 'b'",
      "05",
      "1e999",
      "9007199254740993",
      "–",
      "a..b",
      "< 5, > 'a'",
      "a)b",
      "(((((",
      "!",
      "a\u0007b",
    ].map((cell): Entry => [`the cell ${JSON.stringify(cell).replaceAll("/", "")}`, withCell(cell), ":2:1"]),
    ["201 values in a cell", withCell(Array.from({ length: 201 }, (_, at) => at).join(", ")), "at most 200"],
    ["8,000 brackets in a cell", withCell("(".repeat(8000))],
    ["8,000 quotes in a cell", withCell("'".repeat(8001))],
    [
      "a condition of more than 4 KiB",
      csv(`${longHeadings(100)},then:target`, `${"-,".repeat(100)}x`, `${"1,".repeat(100)}y`),
      ":3:1  error  `condition` must have at most 4200 characters",
    ],
    [
      "80 megabytes of conditions",
      () => csv(`if:${"x".repeat(8000)},then:target`, ...Array.from({ length: 10_000 }, () => "1,x")),
      "at most 4194304 bytes",
    ],
    ["an unknown hit policy", csv("hit_policy,frist", header, "1,x"), "unknown value `frist`"],
    ["a hit policy twice", csv("hit_policy,first", "hit_policy,any", header, "1,x"), "set twice"],
    ["a hit policy without a value", csv("hit_policy", header, "1,x"), "needs one value"],
    ["two hit policies", csv("hit_policy,first,any", header, "1,x"), "needs one value"],
    ["an aggregate of one", csv("aggregate,sum", "if:a,then:output", "1,2", "-,3")],
    [
      "an aggregate of texts",
      csv("hit_policy,collect", "aggregate,sum", "if:a,then:output,then:label", "1,x,a", "-,0,default"),
    ],
    [
      "an input that does not compile",
      csv('input,"{{ a + }}"', "if:a,then:target,then:label", "1,x,a", "-,y,default"),
    ],
    [
      "a default that is not last",
      csv("if:a,then:target,then:label", "-,x,default", "1,y,b"),
      "must be the last row",
    ],
    [
      "a default with a condition",
      csv("if:a,then:target,then:label", "1,x,a", "2,y,default"),
      "no conditions",
    ],
    [
      "a default with a priority",
      csv("if:a,then:target,then:label,priority", "1,x,a,1", "-,y,default,2"),
      "neither",
    ],
    [
      "a rule without an answer",
      csv("if:a,then:target,then:label", "1,,a", "-,y,default"),
      "neither a target nor an output",
    ],
    ["a priority that is text", csv("if:a,then:target,priority", "1,x,high"), "not a number"],
    ["a label twice in the rows", csv("if:a,then:target,then:label", "1,x,a", "2,y,a", "-,z,default")],
    ["an output that is cut off", withAnswer('1,x,,"[1, 2",'), "invalid JSON"],
    ["an output with a key twice", withAnswer('1,x,,"{""a"":1,""a"":2}",'), "invalid JSON"],
    ["an output of 4,000 lists", withAnswer(`1,x,,${"[".repeat(4000)}${"]".repeat(4000)},`), "invalid JSON"],
    ["an output that does not compile", withAnswer("1,x,,{{ a + }},")],
  ]);

const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const rows: readonly (readonly XlsxCell[])[] = [
  ["if:a", "then:target"],
  [1, "x"],
];
const whole = (): Map<string, string> => xlsxParts({ A: rows });

/** A spreadsheet in which one part has another content; null: it has no such part. */
function withPart(name: string, content: string | null): Buffer {
  const parts = whole();
  if (content === null) parts.delete(name);
  else parts.set(name, content);
  return zipOf(parts);
}

/** A spreadsheet in which one part has these bytes. */
const withBytes = (name: string, content: Buffer): Buffer =>
  writeZip(
    new Map([
      ...[...whole()].map(([key, text]): [string, Buffer] => [key, Buffer.from(text)]),
      [name, content],
    ]),
  );

const sheetName = "xl/worksheets/sheet1.xml";
const sheet = (data: string): Buffer =>
  withPart(sheetName, `<worksheet xmlns="${main}"><sheetData>${data}</sheetData></worksheet>`);

/** A spreadsheet whose second row has this cell instead of its first one. */
const withXlsxCell = (cell: string): Buffer =>
  sheet(
    `<row r="1"><c r="A1" t="inlineStr"><is><t>if:a</t></is></c><c r="B1" t="inlineStr"><is><t>then:target</t></is></c></row>` +
      `<row r="2">${cell}<c r="B2" t="inlineStr"><is><t>x</t></is></c></row>`,
  );

const sheetOf = (...given: readonly (readonly XlsxCell[])[]): Buffer => zipOf(xlsxParts({ A: given }));

/** An archive with some of its bytes replaced; negative offsets count from its end. */
function patched(offset: number, ...bytes: readonly number[]): Buffer {
  const archive = zipOf(whole());
  archive.set(bytes, offset < 0 ? archive.length + offset : offset);
  return archive;
}

/** Replaces bytes after each signature, such as that of the entries of the directory. */
function patchedAfter(signature: number, offset: number, ...bytes: readonly number[]): Buffer {
  const archive = zipOf(whole());
  for (let at = 0; at + 4 < archive.length; at++)
    if (archive.readUInt32LE(at) === signature) archive.set(bytes, at + offset);
  return archive;
}

const local = 0x04034b50;
const directory = 0x02014b50;
const workbookRels = "xl/_rels/workbook.xml.rels";
const relationships = "http://schemas.openxmlformats.org/package/2006/relationships";
const relation = (target: string, mode = ""): string =>
  `<Relationships xmlns="${relationships}"><Relationship Id="rId1" Type="x/worksheet" Target="${target}"${mode}/></Relationships>`;

const xlsxFiles = ({ url, file }: Targets): readonly MalformedFile[] =>
  filesOf("xlsx", [
    ...foreign,
    ...cutOff(zipOf(whole()), 12),
    ...cutOff(deflated(whole()), 12).map(([what, bytes]): Entry => [`compressed, ${what}`, bytes]),
    ["an old spreadsheet", Buffer.from("d0cf11e0a1b11ae1".padEnd(1024, "0"), "hex"), "old or an encrypted"],
    [
      "an OpenDocument sheet",
      zipOf(
        new Map([
          ["content.xml", "<a/>"],
          ["mimetype", "application/vnd.oasis"],
        ]),
      ),
    ],
    ["a text document", zipOf(new Map([["word/document.xml", "<a/>"]]))],
    ["an empty archive", writeZip(new Map())],
    ["a directory in front of nothing", Buffer.from(`504b0506${"00".repeat(18)}`, "hex")],
    [
      "1,001 entries",
      zipOf(new Map(Array.from({ length: 1001 }, (_, at) => [`${at}.xml`, "<a/>"]))),
      "more than 1000 entries",
    ],
    ["another number of entries", patched(-12, 9, 0, 9, 0)],
    ["a directory outside of the file", patched(-6, 0xff, 0xff, 0xff, 0x0f)],
    ["an archive of two parts", patched(-18, 1, 0), "several parts"],
    ["an archive of more than 4 GiB", patched(-6, 0xff, 0xff, 0xff, 0xff), "larger than 4 GiB"],
    ["encrypted entries", patchedAfter(directory, 8, 1, 0), "encrypted"],
    ["an unknown compression", patchedAfter(directory, 10, 99, 0), "unknown way"],
    ["another checksum", patchedAfter(directory, 16, 1, 2, 3, 4), "damaged"],
    ["another size", patchedAfter(directory, 24, 1, 0, 0, 0), "damaged"],
    ["a size beyond the file", patchedAfter(directory, 20, 0xff, 0xff, 0xff, 0x7f), "damaged"],
    ["a size of 2 GiB", patchedAfter(directory, 24, 0xff, 0xff, 0xff, 0x7f), "inflates to more than"],
    ["an entry outside of the file", patchedAfter(directory, 42, 0xff, 0xff, 0xff, 0x7f), "damaged"],
    ["an entry that is a directory entry", patchedAfter(local, 0, 0x50, 0x4b, 0x01, 0x02), "damaged"],
    ["a name that is too long", patchedAfter(directory, 28, 0xff, 0xff), "damaged"],
    ["every entry at one place", patchedAfter(directory, 42, 0, 0, 0, 0), "damaged"],
    ["stored bytes called compressed", patchedAfter(directory, 10, 8, 0), "damaged"],
    ["a declared size that is too small", deflated(whole(), 10), "damaged"],
    ["a declared size that is too large", deflated(whole(), 1 << 25), "inflates to more than"],
    [
      "a part of 17 megabytes",
      () => deflated(xlsxParts({ A: " ".repeat(17 * megabyte) })),
      "inflates to more than",
    ],
    [
      "parts of 45 megabytes",
      () =>
        deflated(
          new Map([
            ...whole(),
            ...[1, 2, 3].map((at): [string, string] => [`${at}.xml`, " ".repeat(15 * megabyte)]),
          ]),
        ),
      "inflates to more than",
    ],
    [
      "16 megabytes of elements",
      () => deflated(new Map([...whole(), ["a.xml", `<a>${"<b/>".repeat(4_000_000)}</a>`]])),
      "more than 500000 elements",
    ],
    ["16 megabytes of text", () => deflated(new Map([...whole(), ["a.xml", "x".repeat(16 * megabyte - 1)]]))],
    ["5 megabytes", () => Buffer.alloc(5 * megabyte, 1), "at most 4194304"],
    ["no workbook", withPart("xl/workbook.xml", null), "has no `xl/workbook.xml`"],
    ["no relationships", withPart(workbookRels, null), "has no `xl/_rels/workbook.xml.rels`"],
    ["no sheet", withPart(sheetName, null), "has no `xl/worksheets/sheet1.xml`"],
    ["an empty workbook", zipOf(xlsxParts({})), "no sheet"],
    ["a sheet of the system", withPart(workbookRels, relation("../../../../etc/passwd.xml")), "has no"],
    [
      "a sheet of a path",
      withPart(workbookRels, relation(`file://${file}`, ' TargetMode="External"')),
      "has no",
    ],
    [
      "a sheet of a page",
      withPart(workbookRels, relation(`${url}/sheet.xml`, ' TargetMode="External"')),
      "has no",
    ],
    ["a workbook that is cut off", withPart("xl/workbook.xml", "<workbook><sheets>"), "malformed"],
    ["a sheet that is cut off", withPart(sheetName, "<worksheet><sheetData>"), "malformed"],
    ["styles that are cut off", withPart("xl/styles.xml", "<styleSheet"), "malformed"],
    [
      "a billion laughs in the sheet",
      withPart(sheetName, `<!DOCTYPE a [${laughs}]><worksheet>&a29;</worksheet>`),
      doctype,
    ],
    [
      "a billion laughs in the texts",
      withPart("xl/sharedStrings.xml", `<!DOCTYPE a [${laughs}]><sst>&a29;</sst>`),
      doctype,
    ],
    [
      "an entity of a page",
      withPart("xl/sharedStrings.xml", `<!DOCTYPE a [<!ENTITY b SYSTEM "${url}/sst">]><sst>&b;</sst>`),
      doctype,
    ],
    [
      "an entity of a file",
      withPart("xl/workbook.xml", `<!DOCTYPE a [<!ENTITY b SYSTEM "file://${file}">]><a>&b;</a>`),
      doctype,
    ],
    ["an unknown entity", sheet('<row r="1"><c r="A1" t="inlineStr"><is><t>&x;</t></is></c></row>'), "`&x;`"],
    [
      "a sheet of 65 levels",
      withPart(sheetName, `${"<a>".repeat(65)}${"</a>".repeat(65)}`),
      "deeper than 64",
    ],
    ["a sheet in UTF-16", withBytes(sheetName, Buffer.from(`\ufeff${sheetXml(rows)}`, "utf16le")), "UTF-8"],
    ["a sheet in Latin-1", withBytes(sheetName, Buffer.from(sheetXml([["é"]]), "latin1")), "UTF-8"],
    ["texts with NUL bytes", withBytes("xl/sharedStrings.xml", Buffer.from("<sst>\0</sst>")), "U+0000"],
    ["a row far away", sheet('<row r="1000000000"/>'), "has a row `1000000000`"],
    ["a row 0", sheet('<row r="0"/>'), "has a row `0`"],
    ["a row that is no number", sheet('<row r="x"/>'), "has a row `x`"],
    ["a row below 0", sheet('<row r="-5"/>'), "has a row `-5`"],
    ["a column far away", sheet('<row r="1"><c r="XFD1"><v>1</v></c></row>'), "too far away"],
    ["a cell without an address", sheet('<row r="1"><c r=""><v>1</v></c></row>'), "with the address"],
    ["an address that is none", sheet('<row r="1"><c r="A1:B2"><v>1</v></c></row>'), "with the address"],
    [
      "rows out of order",
      sheet('<row r="2"><c r="A2"><v>1</v></c></row><row r="1"><c r="A1"><v>1</v></c></row>'),
    ],
    ["a formula", sheetOf(["if:a", "then:target"], [{ formula: "1+1", value: 2 }, "x"]), ":2:1"],
    [
      "a formula of another file",
      sheetOf(["if:a", "then:target"], [1, { formula: "[other.xlsx]A!A1", value: 2 }]),
      ":2:2",
    ],
    [
      "a formula of a page",
      sheetOf(["if:a", "then:target"], [1, { formula: `WEBSERVICE("${url}/f")`, value: 2 }]),
      "formula",
    ],
    ["a shared formula", withXlsxCell('<c r="A2"><f t="shared" si="0"/><v>1</v></c>'), "formula"],
    [
      "10,000 formulas",
      () =>
        sheetOf(
          ["if:a", "then:target"],
          ...Array.from({ length: 10_000 }, () => [{ formula: "A1", value: 1 }]),
        ),
    ],
    ["an error value", sheetOf(["if:a", "then:target"], [{ error: "#REF!" }, "x"]), "contains an error"],
    [
      "a text that starts like a formula",
      sheetOf(["if:a", "then:target"], [1, "=1+1"]),
      "starts like a formula",
    ],
    ["a heading twice", sheetOf(["if:a", "if:a", "then:target"], [1, 2, "x"]), "two columns"],
    ["a cell without a heading", sheetOf(["if:a", "then:target"], [1, "x", "lost"]), "without a heading"],
    ["no rules", sheetOf(["if:a", "then:target"]), "no rules"],
    ["no default", sheetOf(["if:a", "then:target"], [1, "x"]), "no default"],
    ["an empty cell", sheetOf(["if:a", "then:target"], [null, "x"], [1, "y"]), ":2:1"],
    [
      "a text of 8,193 characters",
      sheetOf(["if:a", "then:target"], [1, "x".repeat(8193)]),
      "longer than 8192",
    ],
    [
      "a text of 3 megabytes",
      () => sheetOf(["if:a", "then:target"], [1, "x".repeat(3 * megabyte)]),
      "longer than 8192",
    ],
    ["a shared text that is missing", withXlsxCell('<c r="A2" t="s"><v>99</v></c>')],
    ["a shared text with a negative number", withXlsxCell('<c r="A2" t="s"><v>-1</v></c>')],
    ["a shared text that is no number", withXlsxCell('<c r="A2" t="s"><v>toString</v></c>')],
    ["a cell of an unknown type", withXlsxCell('<c r="A2" t="zz"><v>1</v></c>')],
    ["a number that is none", withXlsxCell('<c r="A2"><v>abc</v></c>')],
    ["a number that is infinite", withXlsxCell('<c r="A2"><v>1e999</v></c>'), ":2:1"],
    ["a number that is rounded", withXlsxCell('<c r="A2"><v>9007199254740993</v></c>'), ":2:1"],
    ["a truth value that is none", withXlsxCell('<c r="A2" t="b"><v>7</v></c>')],
    ["a style that is missing", withXlsxCell('<c r="A2" s="99"><v>1</v></c>')],
    ["a date beyond time", withXlsxCell('<c r="A2" s="1"><v>1e300</v></c>')],
    ["a time without a date", withXlsxCell('<c r="A2" s="1"><v>0.5</v></c>')],
    ["a date before time", withXlsxCell('<c r="A2" s="1"><v>-1e9</v></c>')],
    ["a date that is no date", withXlsxCell('<c r="A2" t="d"><v>yesterday</v></c>')],
    ["an archive in an archive", withPart(sheetName, zipOf(whole()).toString("latin1"))],
    ["a sheet of zeros", withPart(sheetName, "\0".repeat(1000))],
  ]);

/** Files that are as simple as the malformed ones, and valid. */
export const validFiles: readonly MalformedFile[] = [
  ...filesOf("dmn", [["a model", table()]]),
  ...filesOf("csv", [
    ["a table", csv(header, "1,x")],
    ["a table with a default", csv("if:a,then:target,then:label", "1,x,a", "-,y,default")],
    ["1,000,000 empty columns", () => csv(`${header}${",".repeat(1_000_000)}`, "1,x")],
    ["1,000,000 empty cells", () => csv(header, `1,x${",".repeat(1_000_000)}`)],
    ["a cell", withCell("1")],
    ["an answer", withAnswer('1,x,a,"[1]",why')],
  ]),
  ...filesOf("xlsx", [
    ["a sheet", zipOf(whole())],
    ["a compressed sheet", deflated(whole())],
    ["a cell", withXlsxCell('<c r="A2"><v>1</v></c>')],
    ["rows", sheetOf(...rows)],
    ["no bytes replaced", patched(0)],
  ]),
];

/** Files that no import accepts. */
export const malformedFiles = (targets: Targets): readonly MalformedFile[] => [
  ...dmnFiles(targets),
  ...csvFiles(),
  ...xlsxFiles(targets),
];
