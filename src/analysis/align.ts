/** Longer lists are aligned at their start and end only. */
const maxAligned = 2000;

/** Returns the positions of a longest common subsequence in both lists. */
export function alignedPositions(
  a: readonly string[],
  b: readonly string[],
): { readonly a: ReadonlySet<number>; readonly b: ReadonlySet<number> } {
  const inA = new Set<number>();
  const inB = new Set<number>();
  const align = (i: number, j: number): void => {
    inA.add(i);
    inB.add(j);
  };
  let start = 0;
  for (; start < a.length && start < b.length && a[start] === b[start]; start++) align(start, start);
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) align(--endA, --endB);
  const [rows, columns] = [endA - start, endB - start];
  if (rows > maxAligned || columns > maxAligned) return { a: inA, b: inB };
  // The length of a longest common subsequence of what follows each pair of positions.
  const lengths = Array.from({ length: rows + 1 }, () => new Uint16Array(columns + 1));
  const lengthAt = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = rows - 1; i >= 0; i--) {
    const row = lengths[i];
    if (row === undefined) continue;
    for (let j = columns - 1; j >= 0; j--) {
      const isEqual = a[start + i] === b[start + j];
      row[j] = isEqual ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns;) {
    if (a[start + i] === b[start + j]) align(start + i++, start + j++);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++;
    else j++;
  }
  return { a: inA, b: inB };
}
