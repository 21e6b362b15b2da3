/** A line of two texts: in both, or in one of them. */
export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Beyond so many comparisons the middle is shown as wholly other. */
const mostComparisons = 4_000_000;

/** What to take out of one text and put in to get the other: as little as possible. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const old = linesOf(before);
  const young = linesOf(after);
  const start = sharedAtStart(old, young);
  const end = sharedAtStart(old.slice(start).reverse(), young.slice(start).reverse());
  const middle = between(old.slice(start, old.length - end), young.slice(start, young.length - end));
  return [...marked(" ", old.slice(0, start)), ...middle, ...marked(" ", old.slice(old.length - end))];
}

const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

const marked = (sign: DiffLine["sign"], lines: readonly string[]): readonly DiffLine[] =>
  lines.map((text) => ({ sign, text }));

function sharedAtStart(a: readonly string[], b: readonly string[]): number {
  const length = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < length && a[shared] === b[shared]) shared++;
  return shared;
}

function between(old: readonly string[], young: readonly string[]): readonly DiffLine[] {
  if (old.length * young.length > mostComparisons) return [...marked("-", old), ...marked("+", young)];
  const common = commonLengths(old, young);
  const lines: DiffLine[] = [];
  let at = 0;
  let on = 0;
  while (at < old.length && on < young.length) {
    const text = old[at] ?? "";
    if (text === young[on]) {
      lines.push({ sign: " ", text });
      at++;
      on++;
    } else if ((common[at + 1]?.[on] ?? 0) >= (common[at]?.[on + 1] ?? 0)) {
      lines.push({ sign: "-", text });
      at++;
    } else lines.push({ sign: "+", text: young[on++] ?? "" });
  }
  return [...lines, ...marked("-", old.slice(at)), ...marked("+", young.slice(on))];
}

/** How many lines the rests have in common, by where they begin. */
function commonLengths(old: readonly string[], young: readonly string[]): readonly Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(young.length + 1));
  for (let at = old.length - 1; at >= 0; at--) {
    for (let on = young.length - 1; on >= 0; on--) {
      const row = table[at];
      const below = table[at + 1];
      if (row === undefined || below === undefined) continue;
      const isSame = old[at] === young[on];
      row[on] = isSame ? (below[on + 1] ?? 0) + 1 : Math.max(below[on] ?? 0, row[on + 1] ?? 0);
    }
  }
  return table;
}

/** Changed lines with some around them; what is left out between is told as undefined. */
export function withSurroundings(lines: readonly DiffLine[], around = 3): readonly (DiffLine | undefined)[] {
  const near = new Set<number>();
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    for (let at = index - around; at <= index + around; at++) near.add(at);
  }
  return lines.flatMap((line, index) => {
    if (near.has(index)) return [line];
    return index > 0 && near.has(index - 1) && index < lines.length ? [undefined] : [];
  });
}
