import type { Input } from "./io.js";

export type Line =
  { readonly number: number; readonly text: string } | { readonly number: number; readonly tooLong: true };

const chunkSize = 256 * 1024;
const longestLine = 16 * 1024 * 1024;
const newline = 10;

/** The lines of a stream, as many at a time as have arrived, never holding more than one unfinished line. */
export function* readLines(input: Input): Generator<readonly Line[]> {
  const buffer = Buffer.allocUnsafe(chunkSize);
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
  for (;;) {
    const length = input.read(buffer);
    if (length === 0) break;
    const chunk = buffer.subarray(0, length);
    const lines: Line[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      lines.push(finish(chunk.subarray(from, at)));
      from = at + 1;
    }
    const left = chunk.subarray(from);
    if (left.length > 0) {
      restLength += left.length;
      if (restLength <= longestLine) rest.push(Buffer.from(left));
      else rest = [];
    }
    if (lines.length > 0) yield lines;
  }
  if (restLength > 0) yield [finish(Buffer.alloc(0))];
}
