/** What the index keeps of a record: 32 bytes, in the order of the log. */
export const rowLength = 32;

export const numbersPerRow = rowLength / 4;
export const shapeAt = 4;
export const digestAt = 6;

/** Rows one after the other in memory. */
export class Rows {
  #times: Float64Array;
  #numbers: Uint32Array<ArrayBuffer>;
  #count: number;

  constructor(numbers = new Uint32Array(64 * numbersPerRow), count = 0) {
    this.#times = timesIn(numbers);
    this.#numbers = numbers;
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  /** Makes room for one more row and gives its position. */
  add(): number {
    if ((this.#count + 1) * numbersPerRow > this.#numbers.length) this.#grow();
    return this.#count++;
  }

  /** The rows as numbers, eight each: for going through very many. */
  get numbers(): Uint32Array {
    return this.#numbers;
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#numbers.buffer, this.#numbers.byteOffset, this.#count * rowLength);
  }

  /** In microseconds since 1970. */
  time(row: number): number {
    return this.#times[row * 4] ?? 0;
  }

  /** Where the line begins in its segment. */
  offset(row: number): number {
    return this.#numbers[row * numbersPerRow + 2] ?? 0;
  }

  /** Without the newline. */
  length(row: number): number {
    return this.#numbers[row * numbersPerRow + 3] ?? 0;
  }

  shape(row: number): number {
    return this.#numbers[row * numbersPerRow + shapeAt] ?? 0;
  }

  /** The number of the row before of the same decision, plus one; 0: there is none. */
  before(row: number): number {
    return this.#numbers[row * numbersPerRow + 5] ?? 0;
  }

  /** The beginning of the deterministic hash, which differs where the values read do. */
  digestLow(row: number): number {
    return this.#numbers[row * numbersPerRow + digestAt] ?? 0;
  }

  digestHigh(row: number): number {
    return this.#numbers[row * numbersPerRow + digestAt + 1] ?? 0;
  }

  setPlace(row: number, time: number, offset: number, length: number): void {
    this.#times[row * 4] = time;
    this.#numbers[row * numbersPerRow + 2] = offset;
    this.#numbers[row * numbersPerRow + 3] = length;
  }

  setShape(row: number, shape: number, before: number): void {
    this.#numbers[row * numbersPerRow + shapeAt] = shape;
    this.#numbers[row * numbersPerRow + 5] = before;
  }

  setDigest(row: number, low: number, high: number): void {
    this.#numbers[row * numbersPerRow + digestAt] = low;
    this.#numbers[row * numbersPerRow + digestAt + 1] = high;
  }

  #grow(): void {
    const grown = new Uint32Array(this.#numbers.length * 2);
    grown.set(this.#numbers);
    this.#times = timesIn(grown);
    this.#numbers = grown;
  }
}

const timesIn = ({ buffer, byteOffset, byteLength }: Uint32Array<ArrayBuffer>): Float64Array =>
  new Float64Array(buffer, byteOffset, byteLength / 8);
