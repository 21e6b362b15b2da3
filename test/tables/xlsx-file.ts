import { deflateRawSync } from "node:zlib";
import { writeZip } from "../../src/tables/zip.js";
import { escapeXml } from "./dmn-file.js";

/** A cell: text, a number, true or false, a date as the number of its day, a formula, an error, or nothing. */
export type XlsxCell =
  | string
  | number
  | boolean
  | null
  | { readonly date: number }
  | { readonly formula: string; readonly value: number }
  | { readonly error: string };

const columnName = (index: number): string => String.fromCharCode(65 + index);

function cellXml(cell: XlsxCell, address: string): string {
  if (cell === null) return "";
  if (typeof cell === "string")
    return `<c r="${address}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(cell)}</t></is></c>`;
  if (typeof cell === "number") return `<c r="${address}"><v>${cell}</v></c>`;
  if (typeof cell === "boolean") return `<c r="${address}" t="b"><v>${cell ? 1 : 0}</v></c>`;
  if ("date" in cell) return `<c r="${address}" s="1"><v>${cell.date}</v></c>`;
  if ("error" in cell) return `<c r="${address}" t="e"><v>${cell.error}</v></c>`;
  return `<c r="${address}"><f>${escapeXml(cell.formula)}</f><v>${cell.value}</v></c>`;
}

const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

export const sheetXml = (rows: readonly (readonly XlsxCell[])[]): string =>
  `<worksheet xmlns="${main}"><sheetData>${rows
    .map(
      (row, at) =>
        `<row r="${at + 1}">${row.map((cell, index) => cellXml(cell, `${columnName(index)}${at + 1}`)).join("")}</row>`,
    )
    .join("")}</sheetData></worksheet>`;

/** The parts of a workbook; each sheet is its rows, or its XML. */
export function xlsxParts(
  sheets: Readonly<Record<string, readonly (readonly XlsxCell[])[] | string>>,
): Map<string, string> {
  const names = Object.keys(sheets);
  return new Map([
    ["[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'],
    [
      "xl/workbook.xml",
      `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>${names
        .map(
          (name, index) => `<sheet name="${escapeXml(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
        )
        .join("")}</sheets></workbook>`,
    ],
    [
      "xl/_rels/workbook.xml.rels",
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${names
        .map(
          (_, index) =>
            `<Relationship Id="rId${index + 1}" Type="${relations}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
        )
        .join("")}<Relationship Id="rIdS" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      "xl/styles.xml",
      `<styleSheet xmlns="${main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    ],
    ...names.map((name, index): [string, string] => {
      const sheet = sheets[name] ?? [];
      return [`xl/worksheets/sheet${index + 1}.xml`, typeof sheet === "string" ? sheet : sheetXml(sheet)];
    }),
  ]);
}

export const zipOf = (parts: ReadonlyMap<string, string>): Buffer =>
  writeZip(new Map([...parts].map(([name, text]) => [name, Buffer.from(text)])));

/** Compresses the entries of an archive that `writeZip` wrote, and declares sizes, if they are given. */
export function deflated(parts: ReadonlyMap<string, string>, declared?: number): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of parts) {
    const content = Buffer.from(text);
    const stored = writeZip(new Map([[name, content]]));
    const data = deflateRawSync(content);
    const header = Buffer.from(stored.subarray(0, 30 + Buffer.byteLength(name)));
    header.writeUInt16LE(8, 8);
    header.writeUInt32LE(data.length, 18);
    header.writeUInt32LE(declared ?? content.length, 22);
    const start = stored.length - 22 - 46 - Buffer.byteLength(name);
    const entry = Buffer.from(stored.subarray(start, stored.length - 22));
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(declared ?? content.length, 24);
    entry.writeUInt32LE(offset, 42);
    pieces.push(header, data);
    directory.push(entry);
    offset += header.length + data.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.size, 8);
  end.writeUInt16LE(parts.size, 10);
  end.writeUInt32LE(
    directory.reduce((sum, each) => sum + each.length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...pieces, ...directory, end]);
}
