/** Returns the candidate closest to a misspelt word, if one is close enough. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    // Single letters are never suggested for each other.
    if (word.length === 1 && candidate.length === 1) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Returns the closest candidate as the hint of an error. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const candidate = nearest(word, candidates);
  return candidate === undefined ? undefined : `did you mean \`${candidate}\`?`;
}

function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;

/** Control characters (except line breaks and tabs), and characters that are invisible or change the direction of text. */
const controlCharacters = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Escapes characters that would control the terminal. Within JSON, the value stays the same. */
export const printable = (text: string): string => text.replace(controlCharacters, escapeUnits);

const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => {
    const code = character.charCodeAt(at).toString(16).padStart(4, "0");
    return `\\u${code}`;
  }).join("");

/** Makes a text safe for one line of output. */
export function oneLine(text: string): string {
  return /^[ -~]*$/.test(text) ? text : printable(text.replace(/\s*[\t\n\r]\s*/g, " "));
}

/** The codes of the colours in `present/format.ts`, and the line ends of CSV. */
const ownCodes = new RegExp(`(\u001b\\[(?:1|2|22|31|32|33|36|39)m|\r\n)`);

/** Escapes everything in a text that would control the terminal, except colours. */
export function terminalText(text: string): string {
  if (text.search(controlCharacters) === -1) return text;
  return text
    .split(ownCodes)
    .map((part, index) => (index % 2 === 0 ? printable(part) : part))
    .join("");
}
