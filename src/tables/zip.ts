/*
 * Written by hand, because libraries trust the sizes that an archive declares, or inflate without a limit, and do not
 * compare checksums: an archive of some kilobytes can inflate to gigabytes.
 */
import { constants, inflateRawSync } from "node:zlib";

/** An archive that is damaged, or that could be an attack. */
export class InvalidZip extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

const maxEntries = 1000;
const maxEntryBytes = 16 * 1024 * 1024;
const maxTotalBytes = 32 * 1024 * 1024;

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;

/** Inflates the entries of an archive whose names are wanted. Throws `InvalidZip`. */
export function readZip(bytes: Buffer, isWanted: (name: string) => boolean): ReadonlyMap<string, Buffer> {
  if (bytes.length >= 8 && bytes.readUInt32BE(0) === 0xd0cf11e0)
    throw new InvalidZip(
      "the file is an old or an encrypted spreadsheet",
      "save it as .xlsx without a password",
    );
  const { count, offset } = findDirectory(bytes);
  if (count > maxEntries) throw new InvalidZip(`the archive has more than ${maxEntries} entries`);
  const entries = new Map<string, Buffer>();
  let at = offset;
  let total = 0;
  for (let index = 0; index < count; index++) {
    const entry = readEntry(bytes, at);
    at = entry.end;
    if (!isWanted(entry.name)) continue;
    if (entries.has(entry.name)) throw new InvalidZip(`the archive has two entries \`${entry.name}\``);
    total += entry.size;
    if (entry.size > maxEntryBytes || total > maxTotalBytes) {
      throw new InvalidZip(
        `the archive inflates to more than ${entry.size > maxEntryBytes ? maxEntryBytes : maxTotalBytes} bytes`,
        "split the table, or save it as .csv",
      );
    }
    entries.set(entry.name, inflate(bytes, entry));
  }
  return entries;
}

/** The directory at the end of an archive, before a comment of at most 64 KiB. */
function findDirectory(bytes: Buffer): { readonly count: number; readonly offset: number } {
  const last = bytes.length - 22;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    if (bytes.readUInt32LE(at) !== endSignature) continue;
    const count = bytes.readUInt16LE(at + 10);
    const offset = bytes.readUInt32LE(at + 16);
    if (bytes.readUInt16LE(at + 4) !== 0 || count !== bytes.readUInt16LE(at + 8) || offset === 0xffffffff)
      throw new InvalidZip("the archive has several parts, or is larger than 4 GiB");
    return { count, offset };
  }
  throw new InvalidZip("the file is not an .xlsx file", "save it as .xlsx in a spreadsheet program");
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly checksum: number;
  readonly compressed: number;
  /** The size that the archive declares. */
  readonly size: number;
  readonly start: number;
  /** Where the next entry of the directory is. */
  readonly end: number;
}

const damaged = (): InvalidZip => new InvalidZip("the archive is damaged", "save the file again");

function readEntry(bytes: Buffer, at: number): Entry {
  if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== entrySignature) throw damaged();
  const flags = bytes.readUInt16LE(at + 8);
  const end =
    at + 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  if (end > bytes.length) throw damaged();
  if ((flags & 1) !== 0) throw new InvalidZip("the spreadsheet is encrypted", "save it without a password");
  return {
    name: bytes.toString("utf8", at + 46, at + 46 + bytes.readUInt16LE(at + 28)),
    method: bytes.readUInt16LE(at + 10),
    checksum: bytes.readUInt32LE(at + 16),
    compressed: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    start: bytes.readUInt32LE(at + 42),
    end,
  };
}

/** Inflates an entry to the size that it declares, and not a byte more. */
function inflate(bytes: Buffer, { name, method, checksum, compressed, size, start }: Entry): Buffer {
  if (start + 30 > bytes.length || bytes.readUInt32LE(start) !== localSignature) throw damaged();
  const from = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
  if (from + compressed > bytes.length) throw damaged();
  const data = bytes.subarray(from, from + compressed);
  const content = method === 0 ? data : method === 8 ? inflateTo(size, data) : undefined;
  if (content === undefined)
    throw new InvalidZip(`\`${name}\` is compressed in an unknown way`, "save the file again");
  if (content.length !== size || checksumOf(content) !== checksum) throw damaged();
  return content;
}

function inflateTo(size: number, data: Buffer): Buffer {
  try {
    return inflateRawSync(data, { maxOutputLength: size + 1, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    // Malformed, or larger than declared.
    throw damaged();
  }
}

/** CRC-32; Node has it from version 22 on. */
function checksumOf(content: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of content) sum = (sum >>> 8) ^ (checksumTable[(sum ^ byte) & 0xff] ?? 0);
  return (sum ^ 0xffffffff) >>> 0;
}

const checksumTable: readonly number[] = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ 0xedb88320;
  return value >>> 0;
});

/** Writes an archive without compression. */
export function writeZip(entries: ReadonlyMap<string, Buffer>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of entries) {
    const title = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt32LE(checksumOf(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(title.length, 22);
    parts.push(signature(localSignature), common, title, content);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(signature(entrySignature), Buffer.from([20, 0]), common, place, title);
    offset += 30 + title.length + content.length;
  }
  const size = directory.reduce((sum, each) => sum + each.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.size, 4);
  end.writeUInt16LE(entries.size, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, signature(endSignature), end]);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
