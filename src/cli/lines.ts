export type Line =
  { readonly number: number; readonly text: string } | { readonly number: number; readonly tooLong: true };

const longestLine = 16 * 1024 * 1024;
const newline = 10;

/**
 * The lines of a stream, as many at a time as have arrived, never holding more than one unfinished line. The
 * last needs no end, unless the stream was cut short by the signal.
 */
export async function* readLines(
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  let rest: Buffer[] = [];
  let restLength = 0;
  let number = 0;
  const finish = (end: Buffer): Line => {
    number++;
    const whole = restLength === 0 ? end : Buffer.concat([...rest, end]);
    const tooLong = restLength + end.length > longestLine;
    rest = [];
    restLength = 0;
    return tooLong ? { number, tooLong } : { number, text: whole.toString("utf8") };
  };
  for await (const piece of pieces) {
    const lines: Line[] = [];
    let from = 0;
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
      lines.push(finish(piece.subarray(from, at)));
      from = at + 1;
    }
    const left = piece.subarray(from);
    if (left.length > 0) {
      restLength += left.length;
      if (restLength <= longestLine) rest.push(Buffer.from(left));
      else rest = [];
    }
    if (lines.length > 0) yield lines;
  }
  if (restLength > 0 && !signal.aborted) yield [finish(Buffer.alloc(0))];
}
