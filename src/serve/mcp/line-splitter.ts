const newline = 0x0a;

export interface LineListener {
  readonly onLine: (line: Buffer) => void;
  /** Once for each line that is longer, however long. */
  readonly onOverlong: () => void;
}

export interface LineSplitter {
  readonly push: (chunk: Buffer) => void;
  /** What is left without a line break is the last line. */
  readonly end: () => void;
}

/** Cuts what arrives into lines, and never holds more than one of them. */
export function lineSplitter(longest: number, { onLine, onOverlong }: LineListener): LineSplitter {
  let pieces: Buffer[] = [];
  let length = 0;
  const keep = (piece: Buffer): void => {
    length += piece.length;
    if (length > longest) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const finish = (): void => {
    if (length > longest) onOverlong();
    else if (length > 0) onLine(Buffer.concat(pieces));
    pieces = [];
    length = 0;
  };
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        keep(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      keep(chunk.subarray(from));
    },
    end: finish,
  };
}
