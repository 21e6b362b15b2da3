const quote = 34;
const backslash = 92;

/** Goes through the bytes of a line from left to right. */
export class LineCursor {
  readonly line: Buffer;
  at: number;
  readonly end: number;
  /** Where the text begins that was gone past last. */
  textAt = 0;

  constructor(line: Buffer, at: number, end: number) {
    this.line = line;
    this.at = at;
    this.end = end;
  }

  /** Whether these bytes stand here. */
  sees(bytes: Uint8Array): boolean {
    if (this.at + bytes.length > this.end) return false;
    for (let index = 0; index < bytes.length; index++)
      if (this.line[this.at + index] !== bytes[index]) return false;
    return true;
  }

  /** Goes past these bytes, if they stand here. */
  takes(bytes: Uint8Array): boolean {
    const isHere = this.sees(bytes);
    if (isHere) this.at += bytes.length;
    return isHere;
  }

  /** Goes past a text that could not be written in another way, if one stands here: one without escapes. */
  takesText(): boolean {
    if (this.line[this.at] !== quote) return false;
    this.textAt = this.at;
    for (let place = this.at + 1; place < this.end; place++) {
      const byte = this.line[place];
      if (byte === backslash) return false;
      if (byte === quote) {
        this.at = place + 1;
        return true;
      }
    }
    return false;
  }

  /** Goes past any text, if one stands here. */
  skipsText(): boolean {
    if (this.line[this.at] !== quote) return false;
    for (let place = this.at + 1; place < this.end; place++) {
      const byte = this.line[place];
      if (byte === backslash) place++;
      else if (byte === quote) {
        this.at = place + 1;
        return true;
      }
    }
    return false;
  }

  /** Goes to these bytes, wherever they come next. */
  seeks(bytes: Uint8Array): boolean {
    const found = this.line.subarray(this.at, this.end).indexOf(bytes);
    if (found !== -1) this.at += found;
    return found !== -1;
  }
}
