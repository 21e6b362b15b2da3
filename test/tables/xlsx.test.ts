import { describe, expect, it } from "vitest";
import { importTables } from "../../src/tables/import-tables.js";
import { readXlsx } from "../../src/tables/xlsx.js";
import type { XlsxCell } from "./xlsx-file.js";
import { deflated, xlsxParts, zipOf } from "./xlsx-file.js";

const rows: readonly (readonly XlsxCell[])[] = [
  ["hit_policy", "unique"],
  ["if:tier", "if:amount", "if:since", "if:active", "then:target", "then:label", "then:output"],
  ["gold, 'silver'", "< 10", "-", true, "a", "First", 2.5],
  ["-", 5, { date: 46053 }, "-", "b", "Second", { date: 46053.5 }],
  [7, "-", ">= 2026-01-31", false, "c", null, false],
  ["-", "-", "-", "-", "d", "default", "-1"],
];

async function problemsOf(bytes: Buffer, sheet?: string): Promise<readonly string[]> {
  const { problems } = await readXlsx("t.xlsx", bytes, sheet);
  return problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

describe("a spreadsheet", () => {
  it.each([
    ["stored", zipOf],
    ["compressed", (parts: ReadonlyMap<string, string>) => deflated(parts)],
  ])("is read with the types of its cells (%s)", async (_name, pack) => {
    const tables = await readXlsx("t.xlsx", pack(xlsxParts({ Rates: rows })));
    const { definitions } = await importTables("t.xlsx", tables, { fallbackId: "t" });
    expect(definitions).toEqual([
      {
        id: "t",
        type: "rule_table",
        hit_policy: "unique",
        rules: [
          {
            condition: "tier in ('gold', 'silver') and amount < 10 and active == true",
            target: "a",
            label: "First",
            output: 2.5,
          },
          {
            condition: "amount == 5 and since == '2026-01-31'",
            target: "b",
            label: "Second",
            output: "2026-01-31T12:00:00Z",
          },
          {
            condition: "tier == 7 and since >= '2026-01-31' and active == false",
            target: "c",
            output: false,
          },
        ],
        default: { target: "d", output: -1 },
      },
    ]);
  });

  it("needs the addresses of its cells", async () => {
    const parts = new Map(xlsxParts({ Rates: rows }));
    for (const [name, text] of parts)
      if (name.startsWith("xl/worksheets/")) parts.set(name, text.replaceAll(/ r="[A-Z]*\d+"/g, ""));
    expect(await problemsOf(zipOf(parts))).toEqual(["1:1 the sheet has cells without an address"]);
  });

  it("has the sheet that is named", async () => {
    const parts = xlsxParts({ Notes: [["hello"]], Rates: rows });
    expect((await readXlsx("t.xlsx", zipOf(parts), "Rates")).tables[0]?.rules).toHaveLength(3);
    expect(await problemsOf(zipOf(parts))).toEqual(["1:1 unknown column `hello`"]);
    expect(await problemsOf(zipOf(parts), "Rate")).toEqual(["1:1 the spreadsheet has no sheet `Rate`"]);
  });

  it("reports formulas and errors with their cells", async () => {
    const table = [
      ["if:n", "then:target"],
      [{ formula: "1+1", value: 2 }, "a"],
      [3, { error: "#N/A" }],
    ] as const;
    expect(await problemsOf(zipOf(xlsxParts({ A: table })))).toEqual([
      "2:1 the cell `A2` contains a formula",
      "3:2 the cell `B3` contains an error",
    ]);
  });

  it("reports cells with their rows and columns", async () => {
    const table = [
      ["if:n", "then:target"],
      [1, "a"],
      [null, null],
      ["< x", "b"],
      [2, null],
    ] as const;
    expect(await problemsOf(zipOf(xlsxParts({ A: table })))).toEqual([
      "4:1 `if:n`: `x` is compared with something that is not a number, a date or a quoted text",
      "5:1 the rule has neither a target nor an output",
    ]);
  });

  const sheet = (data: string): Buffer =>
    zipOf(xlsxParts({ A: `<worksheet><sheetData>${data}</sheetData></worksheet>` }));

  it.each<[name: string, bytes: Buffer, message: string | RegExp]>([
    ["no archive", Buffer.from("if:n,then:target"), "the file is not an .xlsx file"],
    ["an empty file", Buffer.alloc(0), "the file is not an .xlsx file"],
    [
      "an old spreadsheet",
      Buffer.from("d0cf11e0a1b11ae10000", "hex"),
      "the file is an old or an encrypted spreadsheet",
    ],
    ["half an archive", zipOf(xlsxParts({ A: rows })).subarray(0, 900), "the file is not an .xlsx file"],
    [
      "no workbook",
      zipOf(new Map([["a.xml", "<a/>"]])),
      "the spreadsheet has no `xl/_rels/workbook.xml.rels`",
    ],
    ["no sheet", zipOf(xlsxParts({})), "the spreadsheet has no sheet"],
    ["a declared size that is too small", deflated(xlsxParts({ A: rows }), 10), "the archive is damaged"],
    [
      "a declared size that is too large",
      deflated(xlsxParts({ A: rows }), 1 << 30),
      /^the archive inflates to more than \d+ bytes$/,
    ],
    [
      "a bomb",
      deflated(xlsxParts({ A: " ".repeat(17 << 20) })),
      /^the archive inflates to more than \d+ bytes$/,
    ],
    [
      "a DOCTYPE",
      zipOf(xlsxParts({ A: '<!DOCTYPE a [<!ENTITY b "c">]><worksheet/>' })),
      "`xl/worksheets/sheet1.xml`, line 1, column 1: the document has a DOCTYPE or an entity declaration",
    ],
    [
      "malformed XML",
      zipOf(xlsxParts({ A: "<worksheet><sheetData>" })),
      /line 1, column 23: the XML is malformed/,
    ],
    [
      "a row far away",
      sheet('<row r="1000000000"><c r="A1000000000"><v>1</v></c></row>'),
      /^the sheet has a row `1000000000`/,
    ],
    [
      "a cell far away",
      sheet('<row r="1"><c r="XFD1"><v>1</v></c></row>'),
      /^the cell `XFD1` is too far away/,
    ],
    [
      "a cell without a place",
      sheet('<row r="1"><c r="?"><v>1</v></c></row>'),
      "the sheet has a cell with the address `?`",
    ],
    [
      "rows out of order",
      sheet('<row r="2"><c r="A2"><v>1</v></c></row><row r="1"><c r="A1"><v>1</v></c></row>'),
      /^the spreadsheet cannot be read/,
    ],
  ])("with %s is refused", async (_name, bytes, message) => {
    const { tables, problems } = await readXlsx("t.xlsx", bytes);
    expect(tables).toEqual([]);
    expect(problems.map((each) => each.message)).toEqual([
      typeof message === "string" ? message : (expect.stringMatching(message) as string),
    ]);
  });

  it("with a changed byte is refused or read as before", async () => {
    const whole = deflated(xlsxParts({ A: rows }));
    const expected = JSON.stringify(await readXlsx("t.xlsx", whole));
    for (let at = 0; at < whole.length; at += 37) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0x55;
      const result = await readXlsx("t.xlsx", changed);
      expect(result.problems.length > 0 || JSON.stringify(result) === expected, `byte ${at}`).toBe(true);
    }
  });
});
