import { closeSync, openSync } from "node:fs";
import type { KeyHash } from "./key-hash.js";
import { isEntity, maxPackedCount, unpackCount, packCount, clearCount } from "./key-hash.js";
import type { KeyTableState } from "./key-table.js";
import { KeyTable, KeyTableFile, writeKeyTable } from "./key-table.js";
import { PagedFile } from "./paged-file.js";
import { systemFiles, writeAll } from "../files.js";

/**
 * Row, the entry before of the same key plus one, and the two halves of the key's hash, with which stands how
 * many entities the row has.
 */
const numbersPerEntry = 4;
export const entryLength = numbersPerEntry * 4;

/** So many entries are gone through when the index is opened, before a table is made of them. */
const maxUntabledEntries = 2048;
/** A table is made one with the next older one as long as that is not so many times as large. */
const mergeFactor = 4;

export interface PostingsState {
  /** How many entries are kept. */
  readonly entries: number;
  /** Oldest first; each goes on where the last one ends. */
  readonly tables: readonly KeyTableState[];
}

const emptyPostings: PostingsState = { entries: 0, tables: [] };
const noNumbers = new Uint32Array();

/** Beside its file of rows. */
export const postingsFileName = (rowsFile: string): string => rowsFile.replace("rows-", "postings-");

/**
 * Which rows have which keys: for each key of a row an entry, which names the entry before of the same key;
 * those of one row stand together. Tables know the last entry of each key. Entries are only ever added and
 * tables never change, so whoever has an older state is not disturbed.
 */
export class Postings {
  readonly #directory: string;
  readonly #name: string;
  readonly #pages: PagedFile;
  #kept: number;
  #new = new Uint32Array(256 * numbersPerEntry);
  #count: number;
  #tables: KeyTableFile[] = [];
  /** The last entries of keys since the tables. */
  #loose = new KeyTable();
  /** The numbers of the entries that were last looked at, the first of them, and the one after the last. */
  #numbers: Uint32Array = noNumbers;
  #from = 0;
  #to = 0;

  /** Throws where what is kept is not there, or not what was written. */
  constructor(directory: string, rowsFile: string, { entries, tables }: PostingsState = emptyPostings) {
    this.#directory = directory;
    this.#name = rowsFile;
    this.#kept = entries;
    this.#count = entries;
    this.#pages = new PagedFile(`${directory}/${postingsFileName(rowsFile)}`, entryLength);
    try {
      if (entries > 0) this.#pages.open();
      for (const table of tables) this.#tables.push(new KeyTableFile(directory, table));
    } catch (error) {
      this.close();
      throw error;
    }
    for (let entry = this.#through; entry < entries; entry++) {
      const at = this.#placeOf(entry);
      this.#loose.put(this.#numbers[at + 2] ?? 0, clearCount(this.#numbers[at + 3] ?? 0), entry);
    }
  }

  get state(): PostingsState {
    return { entries: this.#kept, tables: this.#tables.map(({ state }) => state) };
  }

  /** Adds the keys of a row, all at once. */
  add(row: number, keys: readonly KeyHash[]): void {
    if (keys.length === 0) return;
    const entities = keys.reduce((sum, { high }) => (isEntity(high) ? sum + 1 : sum), 0);
    for (const key of keys) {
      const at = (this.#count - this.#kept) * numbersPerEntry;
      if (at === this.#new.length) this.#grow();
      const before = this.#loose.set(key, this.#count++);
      this.#new[at] = row;
      this.#new[at + 1] = before === 0 ? this.#lastInTables(key) : before;
      this.#new[at + 2] = key.low;
      this.#new[at + 3] = packCount(key.high, entities);
    }
  }

  /** The last entry of a key, plus one; 0: there is none. */
  last(hash: KeyHash): number {
    const last = this.#loose.get(hash);
    return last === 0 ? this.#lastInTables(hash) : last;
  }

  #lastInTables(hash: KeyHash): number {
    for (let at = this.#tables.length - 1; at >= 0; at--) {
      const last = this.#tables[at]?.get(hash) ?? 0;
      if (last !== 0) return last;
    }
    return 0;
  }

  row(entry: number): number {
    const at = this.#placeOf(entry);
    return this.#numbers[at] ?? 0;
  }

  /** The entry before of the same key, plus one; 0: there is none. */
  previous(entry: number): number {
    const at = this.#placeOf(entry);
    const before = this.#numbers[at + 1] ?? 0;
    // Were it otherwise, going back would never end.
    return before > entry ? entry : before;
  }

  /** How many entities the row of an entry has. */
  entityCount(entry: number): number {
    const known = unpackCount(this.#high(entry));
    if (known < maxPackedCount) return known;
    const row = this.row(entry);
    let from = entry;
    while (from > 0 && this.row(from - 1) === row) from--;
    let count = 0;
    for (let at = from; at < this.#count && this.row(at) === row; at++) if (isEntity(this.#high(at))) count++;
    return count;
  }

  /** Writes the new entries, and a table where there are enough of them; gives what is kept once it is said so. */
  write(): PostingsState {
    const fd = openSync(
      `${this.#directory}/${postingsFileName(this.#name)}`,
      this.#kept === 0 ? "w" : "r+",
      0o600,
    );
    try {
      const bytes = new Uint8Array(this.#new.buffer, 0, (this.#count - this.#kept) * entryLength);
      writeAll(systemFiles, fd, bytes, this.#kept * entryLength);
    } finally {
      closeSync(fd);
    }
    const { tables } = this.state;
    const isDue = this.#count - this.#through >= maxUntabledEntries;
    return { entries: this.#count, tables: isDue ? this.#writeTable() : tables };
  }

  #writeTable(): readonly KeyTableState[] {
    const tables = [...this.#tables];
    let from = this.#through;
    let table = this.#loose;
    for (let last = tables.at(-1); last !== undefined; last = tables.at(-1)) {
      if (last.state.through - last.state.from >= mergeFactor * (this.#count - from)) break;
      const older = last.load();
      older.addNewer(table);
      table = older;
      ({ from } = last.state);
      tables.pop();
    }
    const through = this.#count;
    const file = `${this.#name.replace("rows-", "keys-")}-${from}-${through}`;
    const made = { file, from, through, slots: table.slotCount };
    writeKeyTable(this.#directory, made, table);
    return [...tables.map(({ state }) => state), made];
  }

  /** What was written is now kept. */
  markSaved({ entries, tables }: PostingsState): void {
    const opened = tables.map((state) => {
      const known = this.#tables.find((table) => table.state.file === state.file);
      return known ?? new KeyTableFile(this.#directory, state);
    });
    for (const table of this.#tables.filter((each) => !opened.includes(each))) table.close();
    if (opened.length > 0 && opened.at(-1) !== this.#tables.at(-1)) this.#loose = new KeyTable();
    this.#tables = opened;
    this.#pages.open();
    this.#pages.invalidate(this.#kept);
    this.#from = this.#to = 0;
    this.#kept = entries;
    this.#new = new Uint32Array(256 * numbersPerEntry);
  }

  close(): void {
    this.#pages.close();
    for (const table of this.#tables.splice(0)) table.close();
  }

  /** The first entry that is in no table. */
  get #through(): number {
    return this.#tables.at(-1)?.state.through ?? 0;
  }

  /** With which stands how many entities the row has. */
  #high(entry: number): number {
    const at = this.#placeOf(entry);
    return this.#numbers[at + 3] ?? 0;
  }

  /** Where an entry begins in the numbers, which from then on are those around it. */
  #placeOf(entry: number): number {
    if (entry < this.#from || entry >= this.#to) this.#turnTo(entry);
    return (entry - this.#from) * numbersPerEntry;
  }

  #turnTo(entry: number): void {
    if (entry >= this.#kept) {
      this.#numbers = this.#new;
      this.#from = this.#kept;
      this.#to = this.#kept + this.#new.length / numbersPerEntry;
    } else {
      const { itemsPerPage } = this.#pages;
      const page = Math.floor(entry / itemsPerPage);
      this.#numbers = this.#pages.page(page);
      this.#from = page * itemsPerPage;
      this.#to = Math.min(this.#from + itemsPerPage, this.#kept);
    }
  }

  #grow(): void {
    const grown = new Uint32Array(this.#new.length * 2);
    grown.set(this.#new);
    this.#new = grown;
    this.#from = this.#to = 0;
  }
}
