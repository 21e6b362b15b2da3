const size = 624;
const middle = 397;

/**
 * Returns the first value of CPython's `random.Random(int(hex, 16)).random()`, bit for bit: MT19937 seeded
 * with `init_by_array` over the number's 32-bit words, lowest first. A float is made of two outputs, so
 * only two words of the state are twisted.
 */
export function firstRandom(hex: string): number {
  const state = initByArray(wordsOf(hex));
  const high = temper(twist(state, 0)) >>> 5;
  const low = temper(twist(state, 1)) >>> 6;
  return (high * 67_108_864 + low) / 9_007_199_254_740_992;
}

function wordsOf(hex: string): readonly number[] {
  const words: number[] = [];
  for (let end = hex.length; end > 0; end -= 8) {
    words.push(Number.parseInt(hex.slice(Math.max(0, end - 8), end), 16));
  }
  while (words.length > 1 && words.at(-1) === 0) words.pop();
  return words;
}

const base = initial(19_650_218);

function initial(seed: number): Uint32Array {
  const state = new Uint32Array(size);
  state[0] = seed;
  for (let index = 1; index < size; index++) {
    const previous = word(state, index - 1);
    state[index] = Math.imul(1_812_433_253, previous ^ (previous >>> 30)) + index;
  }
  return state;
}

function initByArray(key: readonly number[]): Uint32Array {
  const state = base.slice();
  let index = 1;
  let position = 0;
  const advance = (): void => {
    if (++index < size) return;
    state[0] = word(state, size - 1);
    index = 1;
  };
  for (let step = 0; step < Math.max(size, key.length); step++) {
    const previous = word(state, index - 1);
    const mixed = word(state, index) ^ Math.imul(previous ^ (previous >>> 30), 1_664_525);
    state[index] = mixed + (key[position] ?? 0) + position;
    position = (position + 1) % key.length;
    advance();
  }
  for (let step = 0; step < size - 1; step++) {
    const previous = word(state, index - 1);
    state[index] = (word(state, index) ^ Math.imul(previous ^ (previous >>> 30), 1_566_083_941)) - index;
    advance();
  }
  state[0] = 0x80000000;
  return state;
}

function twist(state: Uint32Array, index: number): number {
  const joined = (word(state, index) & 0x80000000) | (word(state, index + 1) & 0x7fffffff);
  return word(state, index + middle) ^ (joined >>> 1) ^ (joined & 1 ? 0x9908b0df : 0);
}

function temper(value: number): number {
  let tempered = value ^ (value >>> 11);
  tempered ^= (tempered << 7) & 0x9d2c5680;
  tempered ^= (tempered << 15) & 0xefc60000;
  return tempered ^ (tempered >>> 18);
}

function word(state: Uint32Array, index: number): number {
  return state[index] ?? 0;
}
