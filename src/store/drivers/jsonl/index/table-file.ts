import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readAt, systemFiles, writeAll } from "../files.js";
import type { KeyHash } from "./key-hash.js";
import { KeyTable, numbersPerSlot, slotLength } from "./key-table.js";

/** A table on disk: the last entry of each key among some entries. It never changes. */
export interface TableState {
  readonly file: string;
  /** The first of the entries, and the first that is not among them. */
  readonly from: number;
  readonly through: number;
  readonly slots: number;
}

/** Enough for nearly all searches to end within them. */
const slotsAtOnce = 16;

/** Reading all of it takes as long as looking up one key in each so many bytes. */
const bytesPerSearch = 8 * 1024;

export class TableFile {
  readonly state: TableState;
  readonly #fd: number;
  #searches = 0;
  #table: KeyTable | undefined;

  /** Throws where it is not there, or not what was written. */
  constructor(directory: string, state: TableState) {
    this.state = state;
    this.#fd = openSync(`${directory}/${state.file}`, "r");
    if (isWhole(this.#fd, state)) return;
    closeSync(this.#fd);
    throw new Error(`${state.file} is not what was written`);
  }

  /** The last entry of the key, plus one; 0: there is none. */
  get(hash: KeyHash): number {
    const { slots } = this.state;
    if (this.#table === undefined && ++this.#searches * bytesPerSearch > slots * slotLength)
      this.#table = this.load();
    if (this.#table !== undefined) return this.#table.get(hash);
    let place = hash.low & (slots - 1);
    for (let seen = 0; seen < slots;) {
      const count = Math.min(slotsAtOnce, slots - place);
      const found = searchIn(this.#numbers(place, count), hash);
      if (found !== undefined) return found;
      seen += count;
      place = (place + count) & (slots - 1);
    }
    return 0;
  }

  /** All of it, in memory. */
  load(): KeyTable {
    const numbers = this.#numbers(0, this.state.slots);
    let size = 0;
    for (let at = 1; at < numbers.length; at += numbersPerSlot) if (numbers[at] !== 0) size++;
    // A full one would be searched for ever; we never write one.
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

/** Undefined where neither the key nor a free slot is among them. */
function searchIn(numbers: Uint32Array, { low, high }: KeyHash): number | undefined {
  for (let slot = 0; slot < numbers.length; slot += numbersPerSlot) {
    const found = numbers[slot + 1];
    if (found === 0) return 0;
    if (found === high && numbers[slot] === low) return numbers[slot + 2];
  }
  return undefined;
}

/** At the end of the file stands what it is, so that one that never reached the disk is not taken for empty. */
const trailerOf = ({ slots, from, through }: TableState): Uint32Array<ArrayBuffer> =>
  Uint32Array.of(slots, from, through);

export function writeTable(directory: string, state: TableState, table: KeyTable): void {
  const fd = openSync(`${directory}/${state.file}`, "w", 0o600);
  try {
    const { slots } = table;
    writeAll(systemFiles, fd, new Uint8Array(slots.buffer, slots.byteOffset, slots.byteLength), 0);
    writeAll(systemFiles, fd, new Uint8Array(trailerOf(state).buffer), slots.byteLength);
  } finally {
    closeSync(fd);
  }
}

function isWhole(fd: number, state: TableState): boolean {
  const length = state.slots * slotLength;
  const trailer = new Uint8Array(trailerOf(state).buffer);
  if (fstatSync(fd).size !== length + trailer.length) return false;
  return readAt(systemFiles, fd, length, trailer.length).equals(trailer);
}
