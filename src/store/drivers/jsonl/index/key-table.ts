import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { KeyHash } from "./key-hash.js";
import { readAt, systemFiles, writeAll } from "../files.js";

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

/** Enough for nearly all lookups to end within one read. */
const slotsPerRead = 16;

/** Loading the whole table takes as long as one lookup per this many bytes, so after more lookups it is loaded. */
const bytesPerLookup = 8 * 1024;

export class KeyTableFile {
  readonly state: KeyTableState;
  readonly #fd: number;
  #lookups = 0;
  #table: KeyTable | undefined;

  /** Throws if the file is missing or incomplete. */
  constructor(directory: string, state: KeyTableState) {
    this.state = state;
    this.#fd = openSync(`${directory}/${state.file}`, "r");
    if (isCompleteTable(this.#fd, state)) return;
    closeSync(this.#fd);
    throw new Error(`${state.file} is incomplete`);
  }

  /** Returns the last entry of the key, plus one; 0 if there is none. */
  get(hash: KeyHash): number {
    const { slots } = this.state;
    if (this.#table === undefined && ++this.#lookups * bytesPerLookup > slots * slotLength)
      this.#table = this.load();
    if (this.#table !== undefined) return this.#table.get(hash);
    let place = hash.low & (slots - 1);
    for (let seen = 0; seen < slots;) {
      const count = Math.min(slotsPerRead, slots - place);
      const found = findInSlots(this.#numbers(place, count), hash);
      if (found !== undefined) return found;
      seen += count;
      place = (place + count) & (slots - 1);
    }
    return 0;
  }

  /** Reads the whole table into memory. */
  load(): KeyTable {
    const numbers = this.#numbers(0, this.state.slots);
    let size = 0;
    for (let at = 1; at < numbers.length; at += numbersPerSlot) if (numbers[at] !== 0) size++;
    // A lookup in a full table would never end. None is ever written, so this one is damaged.
    return size < this.state.slots ? new KeyTable(numbers, size) : new KeyTable();
  }

  close(): void {
    closeSync(this.#fd);
  }

  #numbers(from: number, count: number): Uint32Array<ArrayBuffer> {
    const numbers = new Uint32Array(count * numbersPerSlot);
    readSync(this.#fd, new Uint8Array(numbers.buffer), 0, numbers.byteLength, from * slotLength);
    return numbers;
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

/** The trailer shows that the file is complete: one that did not reach the disk has zeros instead. */
const formatTrailer = ({ slots, from, through }: KeyTableState): Uint32Array<ArrayBuffer> =>
  Uint32Array.of(slots, from, through);

export function writeKeyTable(directory: string, state: KeyTableState, table: KeyTable): void {
  const fd = openSync(`${directory}/${state.file}`, "w", 0o600);
  try {
    const { slots } = table;
    writeAll(systemFiles, fd, new Uint8Array(slots.buffer, slots.byteOffset, slots.byteLength), 0);
    writeAll(systemFiles, fd, new Uint8Array(formatTrailer(state).buffer), slots.byteLength);
  } finally {
    closeSync(fd);
  }
}

function isCompleteTable(fd: number, state: KeyTableState): boolean {
  const length = state.slots * slotLength;
  const trailer = new Uint8Array(formatTrailer(state).buffer);
  if (fstatSync(fd).size !== length + trailer.length) return false;
  return readAt(systemFiles, fd, length, trailer.length).equals(trailer);
}
