import type { KeyHash } from "./key-hash.js";

/** Low and high half of the hash, and the last entry plus one; a slot whose high half is 0 is free. */
export const numbersPerSlot = 3;
export const slotLength = numbersPerSlot * 4;

/** The last entry of each key, in memory: an open hash table, at most two thirds full. */
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

  /** A power of two. */
  get slotCount(): number {
    return this.#slots.length / numbersPerSlot;
  }

  /** The last entry of the key, plus one; 0: there is none. */
  get({ low, high }: KeyHash): number {
    return this.#slots[this.#slotOf(low, high) + 2] ?? 0;
  }

  /** Gives what it was before. */
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

  /** Takes over what a newer table has. */
  putAll(newer: KeyTable): void {
    const slots = newer.slots;
    for (let slot = 0; slot < slots.length; slot += numbersPerSlot) {
      const high = slots[slot + 1] ?? 0;
      if (high !== 0) this.put(slots[slot] ?? 0, high, (slots[slot + 2] ?? 0) - 1);
    }
  }

  /** Where the key is, or would be. */
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
