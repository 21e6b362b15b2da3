import type { KeyHash } from "./key-hash.js";
import { isEntity, maxPackedCount, unpackCount, packCount, clearCount } from "./key-hash.js";
import type { KeyTableState } from "./key-table.js";
import { KeyTable, KeyTableFile, writeKeyTable } from "./key-table.js";
import type { PagesState } from "./paged-file.js";
import { PagedFile } from "./paged-file.js";

/**
 * An entry has the row, the previous entry of the same key plus one, and the key's hash with the row's entity count.
 */
const numbersPerEntry = 4;
const entryLength = numbersPerEntry * 4;

/** At most this many entries are read when the index is opened; more are put into a table. */
const maxUntabledEntries = 2048;
/** A new table is merged with the next older one unless that is this many times larger. */
const mergeFactor = 4;

export interface PostingsState {
  readonly entries: PagesState;
  /** Oldest first; each continues where the previous one ends. */
  readonly tables: readonly KeyTableState[];
}

const noNumbers = new Uint32Array();

/** The file of entries that belongs to a file of rows. */
export const postingsFileName = (rowsFile: string): string => rowsFile.replace("rows-", "postings-");

/**
 * An inverted index from keys to rows. Each key of a row has an entry, which links to the previous entry of the same
 * key; the entries of a row are consecutive. Tables hold the last entry of each key. Entries are only appended and
 * tables never change, so a reader with an older state is not affected by a writer.
 */
export class Postings {
  readonly #directory: string;
  readonly #name: string;
  readonly #pages: PagedFile;
  #new = new Uint32Array(256 * numbersPerEntry);
  #count: number;
  #tables: KeyTableFile[] = [];
  /** The last entries of keys that are in no table yet. */
  #loose = new KeyTable();
  /** The numbers of a range of entries that was read last: `#from` inclusive, `#to` exclusive. */
  #numbers: Uint32Array = noNumbers;
  #from = 0;
  #to = 0;

  /** Throws if the saved files are missing or damaged. */
  constructor(directory: string, rowsFile: string, saved?: PostingsState) {
    this.#directory = directory;
    this.#name = rowsFile;
    this.#pages = new PagedFile(`${directory}/${postingsFileName(rowsFile)}`, entryLength, saved?.entries);
    this.#count = this.#savedCount;
    try {
      if (this.#count > 0) this.#pages.open();
      for (const table of saved?.tables ?? []) this.#tables.push(new KeyTableFile(directory, table));
      for (let entry = this.#through; entry < this.#count; entry++) {
        const at = this.#placeOf(entry);
        this.#loose.put(this.#numbers[at + 2] ?? 0, clearCount(this.#numbers[at + 3] ?? 0), entry);
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The number of entries. */
  get count(): number {
    return this.#count;
  }

  /** Returns the numbers of the entries `from` (inclusive) to `to` (exclusive): all saved, or all unsaved. */
  read(from: number, to: number): Uint32Array {
    if (from >= this.#savedCount)
      return this.#new.subarray(
        (from - this.#savedCount) * numbersPerEntry,
        (to - this.#savedCount) * numbersPerEntry,
      );
    const numbers = new Uint32Array((to - from) * numbersPerEntry);
    this.#pages.readInto(new Uint8Array(numbers.buffer), from);
    return numbers;
  }

  /** Returns the files of the tables that do not match the entries. */
  findWrongTables(): readonly string[] {
    let covered = 0;
    return this.#tables.flatMap((table) => {
      const { file, from, through } = table.state;
      const isNext = from === covered && through <= this.#savedCount;
      covered = through;
      return isNext && table.load().equals(this.#tableOf(from, through)) ? [] : [file];
    });
  }

  #tableOf(from: number, through: number): KeyTable {
    const table = new KeyTable();
    const numbers = this.read(from, through);
    for (let entry = from, at = 0; entry < through; entry++, at += numbersPerEntry)
      table.put(numbers[at + 2] ?? 0, clearCount(numbers[at + 3] ?? 0), entry);
    return table;
  }

  get #savedCount(): number {
    return this.#pages.saved.count;
  }

  /** Adds all keys of a row. */
  add(row: number, keys: readonly KeyHash[]): void {
    if (keys.length === 0) return;
    const entities = keys.reduce((sum, { high }) => (isEntity(high) ? sum + 1 : sum), 0);
    for (const key of keys) {
      const at = (this.#count - this.#savedCount) * numbersPerEntry;
      if (at === this.#new.length) this.#grow();
      const before = this.#loose.set(key, this.#count++);
      this.#new[at] = row;
      this.#new[at + 1] = before === 0 ? this.#lastInTables(key) : before;
      this.#new[at + 2] = key.low;
      this.#new[at + 3] = packCount(key.high, entities);
    }
  }

  /** Returns the last entry of a key, plus one; 0 if there is none. */
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

  /** Returns the previous entry of the same key, plus one; 0 if there is none. */
  previous(entry: number): number {
    const at = this.#placeOf(entry);
    const before = this.#numbers[at + 1] ?? 0;
    // Guards against a forged link: one that leads forward would loop forever.
    return before > entry ? entry : before;
  }

  /** Returns the number of entities of the row of an entry. */
  entityCount(entry: number): number {
    const packed = unpackCount(this.#high(entry));
    if (packed < maxPackedCount) return packed;
    const row = this.row(entry);
    let from = entry;
    while (from > 0 && this.row(from - 1) === row) from--;
    let count = 0;
    for (let at = from; at < this.#count && this.row(at) === row; at++) if (isEntity(this.#high(at))) count++;
    return count;
  }

  /** Writes the new entries, and a table if there are enough. Returns the state to save. */
  write(): PostingsState {
    const added = (this.#count - this.#savedCount) * numbersPerEntry;
    const entries = this.#pages.write(this.#new.subarray(0, added));
    const isDue = this.#count - this.#through >= maxUntabledEntries;
    return { entries, tables: isDue ? this.#writeTable() : this.#tables.map(({ state }) => state) };
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

  /** Call when the saved state covers what `write` has written. */
  markSaved({ entries, tables }: PostingsState): void {
    const opened = tables.map((state) => {
      const open = this.#tables.find((table) => table.state.file === state.file);
      return open ?? new KeyTableFile(this.#directory, state);
    });
    for (const table of this.#tables.filter((each) => !opened.includes(each))) table.close();
    if (opened.length > 0 && opened.at(-1) !== this.#tables.at(-1)) this.#loose = new KeyTable();
    this.#tables = opened;
    this.#pages.markSaved(entries);
    this.#from = this.#to = 0;
    this.#new = new Uint32Array(256 * numbersPerEntry);
  }

  close(): void {
    this.#pages.close();
    for (const table of this.#tables.splice(0)) table.close();
  }

  /** The first entry that is not in a table. */
  get #through(): number {
    return this.#tables.at(-1)?.state.through ?? 0;
  }

  /** The high half of the hash, with the packed entity count. */
  #high(entry: number): number {
    const at = this.#placeOf(entry);
    return this.#numbers[at + 3] ?? 0;
  }

  /** Returns the position of an entry in `#numbers`, after loading its range. */
  #placeOf(entry: number): number {
    if (entry < this.#from || entry >= this.#to) this.#load(entry);
    return (entry - this.#from) * numbersPerEntry;
  }

  #load(entry: number): void {
    if (entry >= this.#savedCount) {
      this.#numbers = this.#new;
      this.#from = this.#savedCount;
      this.#to = this.#savedCount + this.#new.length / numbersPerEntry;
    } else {
      const { itemsPerPage } = this.#pages;
      const page = Math.floor(entry / itemsPerPage);
      this.#numbers = this.#pages.page(page);
      this.#from = page * itemsPerPage;
      this.#to = Math.min(this.#from + itemsPerPage, this.#savedCount);
    }
  }

  #grow(): void {
    const grown = new Uint32Array(this.#new.length * 2);
    grown.set(this.#new);
    this.#new = grown;
    this.#from = this.#to = 0;
  }
}
