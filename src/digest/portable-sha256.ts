/**
 * SHA-256 (FIPS 180-4) in plain JavaScript, for a few short texts: loading node:crypto takes longer than
 * hashing them, and so does warming up a library's many small functions. The tests hold it to node:crypto.
 */
export function portableSha256(bytes: Uint8Array): string {
  const message = padded(bytes);
  const state = Int32Array.from(initial);
  const schedule = new Int32Array(64);
  for (let start = 0; start < message.length; start += 64) mix(state, schedule, message, start);
  let text = "";
  for (const word of state) text += (word >>> 0).toString(16).padStart(8, "0");
  return text;
}

const primes = firstPrimes(64);
const initial = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));

function firstPrimes(count: number): readonly number[] {
  const found: number[] = [];
  for (let number = 2; found.length < count; number++) {
    if (found.every((prime) => number % prime !== 0)) found.push(number);
  }
  return found;
}

/** The first 32 bits behind the point. */
function fraction(number: number): number {
  return ((number % 1) * 2 ** 32) | 0;
}

/** With a one, zeros and the length in bits, as a whole number of blocks. */
function padded(bytes: Uint8Array): Uint8Array {
  const message = new Uint8Array(((bytes.length + 72) >>> 6) << 6);
  message.set(bytes);
  message[bytes.length] = 0x80;
  const end = new DataView(message.buffer, message.length - 8);
  end.setUint32(0, Math.floor(bytes.length / 2 ** 29));
  end.setUint32(4, (bytes.length << 3) >>> 0);
  return message;
}

/** One block. All in one function: calls are what costs most while the code is cold. */
function mix(state: Int32Array, w: Int32Array, message: Uint8Array, start: number): void {
  for (let i = 0, at = start; i < 16; i++, at += 4) {
    w[i] =
      ((message[at] ?? 0) << 24) |
      ((message[at + 1] ?? 0) << 16) |
      ((message[at + 2] ?? 0) << 8) |
      (message[at + 3] ?? 0);
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15] ?? 0;
    const y = w[i - 2] ?? 0;
    const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] ?? 0) + low + (w[i - 7] ?? 0) + high;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const turned = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const first = (h + turned + ((e & f) ^ (~e & g)) + (constants[i] ?? 0) + (w[i] ?? 0)) | 0;
    const other = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (other + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  const mixed = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < 8; i++) state[i] = (state[i] ?? 0) + (mixed[i] ?? 0);
}
