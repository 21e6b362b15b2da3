import { closeSync, readSync } from "node:fs";
import type { KeyHash } from "./key-hash.js";
import { areSumsEqual, DamagedIndexError, emptySum, extendSum, seedOf } from "./page-sum.js";
import { systemFiles, writeAll } from "../files.js";
import { openRegularFile } from "../../../regular-file.js";

/** A slot has the low and high half of the hash and the last entry plus one. A slot whose high half is 0 is free. */
const numbersPerSlot = 3;
const slotLength = numbersPerSlot * 4;

/** The last entry of each key in memory: a hash table with open addressing, at most two thirds full. */
export class KeyTable {
  #slots: Uint32Array<ArrayBuffer>;
  #size: number;

  constructor(slots: Uint32Array<ArrayBuffer> = new Uint32Array(64 * numbersPerSlot), size = 0) {
    this.#slots = slots;
    this.#size = size;
  }

  get slots(): Uint32Array<ArrayBuffer> {
    return this.#slots;
  }

  /** Always a power of two. */
  get slotCount(): number {
    return this.#slots.length / numbersPerSlot;
  }

  /** Returns the last entry of the key, plus one; 0 if there is none. */
  get({ low, high }: KeyHash): number {
    return this.#slots[this.#slotOf(low, high) + 2] ?? 0;
  }

  /** Returns the previous value. */
  set({ low, high }: KeyHash, entry: number): number {
    return this.put(low, high, entry);
  }

  put(low: number, high: number, entry: number): number {
    const slot = this.#slotOf(low, high);
    const before = this.#slots[slot + 2] ?? 0;
    this.#slots[slot] = low;
    this.#slots[slot + 1] = high;
    this.#slots[slot + 2] = entry + 1;
    if (before === 0 && ++this.#size * 3 > this.slotCount * 2) this.#grow();
    return before;
  }

  /** Returns true if both have the same keys with the same last entries. */
  equals(other: KeyTable): boolean {
    if (this.#size !== other.#size) return false;
    for (let slot = 0; slot < this.#slots.length; slot += numbersPerSlot) {
      const [low = 0, high = 0, last] = this.#slots.subarray(slot, slot + numbersPerSlot);
      if (high !== 0 && other.get({ low, high }) !== last) return false;
    }
    return true;
  }

  /** Adds the entries of a newer table, which replace older ones. */
  addNewer(newer: KeyTable): void {
    const slots = newer.slots;
    for (let slot = 0; slot < slots.length; slot += numbersPerSlot) {
      const high = slots[slot + 1] ?? 0;
      if (high !== 0) this.put(slots[slot] ?? 0, high, (slots[slot + 2] ?? 0) - 1);
    }
  }

  /** Returns the slot of the key, or the free slot where it would be. */
  #slotOf(low: number, high: number): number {
    const slots = this.#slots;
    const mask = slots.length / numbersPerSlot - 1;
    for (let place = low & mask; ; place = (place + 1) & mask) {
      const slot = place * numbersPerSlot;
      const found = slots[slot + 1];
      if (found === 0 || (found === high && slots[slot] === low)) return slot;
    }
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(old.length * 2);
    this.#slots = slots;
    for (let slot = 0; slot < old.length; slot += numbersPerSlot) {
      const high = old[slot + 1] ?? 0;
      if (high === 0) continue;
      const place = this.#slotOf(old[slot] ?? 0, high);
      slots[place] = old[slot] ?? 0;
      slots[place + 1] = high;
      slots[place + 2] = old[slot + 2] ?? 0;
    }
  }
}

/** A table on disk: the last entry of each key in a range of entries. It never changes. */
export interface KeyTableState {
  readonly file: string;
  /** The range of entries: `from` inclusive, `through` exclusive. */
  readonly from: number;
  readonly through: number;
  readonly slots: number;
}

/** A page on disk: this many slots, followed by their checksum. No table has fewer slots. */
const slotsPerPage = 64;
const numbersPerPage = slotsPerPage * numbersPerSlot;
const storedNumbers = numbersPerPage + 2;
const storedLength = storedNumbers * 4;

/** Loading the whole table takes as long as one lookup per this many bytes, so after more lookups it is loaded. */
const bytesPerLookup = 8 * 1024;

export class KeyTableFile {
  readonly state: KeyTableState;
  readonly #fd: number;
  readonly #seed: number;
  #lookups = 0;
  #table: KeyTable | undefined;

  /** Throws if the file is missing. */
  constructor(directory: string, state: KeyTableState) {
    this.state = state;
    this.#seed = seedOf(state.file);
    this.#fd = openRegularFile(`${directory}/${state.file}`, "r");
  }

  /** Returns the last entry of the key, plus one; 0 if there is none. */
  get(hash: KeyHash): number {
    const { slots } = this.state;
    if (this.#table === undefined && ++this.#lookups * bytesPerLookup > slots * slotLength)
      this.#table = this.load();
    if (this.#table !== undefined) return this.#table.get(hash);
    const pages = slots / slotsPerPage;
    const place = hash.low & (slots - 1);
    let from = place % slotsPerPage;
    for (let page = Math.floor(place / slotsPerPage), seen = 0; seen <= pages; seen++) {
      const found = findInSlots(this.#pages(page, 1).subarray(from * numbersPerSlot), hash);
      if (found !== undefined) return found;
      page = (page + 1) % pages;
      from = 0;
    }
    return 0;
  }

  /** Reads the whole table into memory. */
  load(): KeyTable {
    const numbers = this.#pages(0, this.state.slots / slotsPerPage);
    let size = 0;
    for (let at = 1; at < numbers.length; at += numbersPerSlot) if (numbers[at] !== 0) size++;
    // A lookup in a full table would never end. None is ever written, so this one is forged.
    if (size >= this.state.slots) throw new DamagedIndexError(this.state.file);
    return new KeyTable(numbers, size);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Reads and verifies pages; returns their slots. */
  #pages(first: number, count: number): Uint32Array<ArrayBuffer> {
    const stored = new Uint32Array(count * storedNumbers);
    try {
      readSync(this.#fd, new Uint8Array(stored.buffer), 0, stored.byteLength, first * storedLength);
    } catch {
      // For example a directory, or a bad sector.
      throw new DamagedIndexError(this.state.file);
    }
    const slots = new Uint32Array(count * numbersPerPage);
    for (let page = 0; page < count; page++) {
      const from = page * storedNumbers;
      const to = from + numbersPerPage;
      const actual = extendSum(emptySum(this.#seed, first + page), stored, from, to);
      const expected = { low: stored[to] ?? 0, high: stored[to + 1] ?? 0 };
      if (!areSumsEqual(actual, expected)) throw new DamagedIndexError(this.state.file);
      slots.set(stored.subarray(from, to), page * numbersPerPage);
    }
    return slots;
  }
}

/** Returns undefined if neither the key nor a free slot is among these slots. */
function findInSlots(numbers: Uint32Array, { low, high }: KeyHash): number | undefined {
  for (let slot = 0; slot < numbers.length; slot += numbersPerSlot) {
    const found = numbers[slot + 1];
    if (found === 0) return 0;
    if (found === high && numbers[slot] === low) return numbers[slot + 2];
  }
  return undefined;
}

export function writeKeyTable(directory: string, { file }: KeyTableState, table: KeyTable): void {
  const seed = seedOf(file);
  const pages = table.slotCount / slotsPerPage;
  const stored = new Uint32Array(pages * storedNumbers);
  for (let page = 0; page < pages; page++) {
    const from = page * storedNumbers;
    stored.set(table.slots.subarray(page * numbersPerPage, (page + 1) * numbersPerPage), from);
    const sum = extendSum(emptySum(seed, page), stored, from, from + numbersPerPage);
    stored.set([sum.low, sum.high], from + numbersPerPage);
  }
  const fd = openRegularFile(`${directory}/${file}`, "w", { mode: 0o600 });
  try {
    writeAll(systemFiles, fd, new Uint8Array(stored.buffer), 0);
  } finally {
    closeSync(fd);
  }
}
