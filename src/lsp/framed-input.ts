import { Transform } from "node:stream";
import type { TransformCallback } from "node:stream";

/** How long messages may still be answered after the input has ended. */
const lingerMs = 1_000;
const maxHeaderBytes = 64 * 1024;
const headerEnd = "\r\n\r\n";

/**
 * Passes messages on, each a header with its `Content-Length` and a body. The library waits forever after a header that
 * it cannot read, and drops what it has received when its input ends; here the first is an error, and the end is delayed.
 */
export class FramedInput extends Transform {
  #header = Buffer.alloc(0);
  /** Bytes of the body that are still to come. */
  #remaining = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#remaining === 0) {
        const all = Buffer.concat([this.#header, rest]);
        const end = all.indexOf(headerEnd);
        this.#header = end === -1 ? all : Buffer.alloc(0);
        if (end === -1) {
          done(all.length > maxHeaderBytes ? new Error("the header of a message does not end") : null);
          return;
        }
        const header = all.toString("latin1", 0, end);
        const length = /^content-length:[ \t]*(\d{1,9})[ \t]*$/im.exec(header)?.[1];
        if (length === undefined) {
          done(
            new Error(`a message has no valid \`Content-Length\`: ${JSON.stringify(header.slice(0, 200))}`),
          );
          return;
        }
        this.push(all.subarray(0, end + headerEnd.length));
        this.#remaining = Number(length);
        rest = all.subarray(end + headerEnd.length);
      }
      const body = rest.subarray(0, this.#remaining);
      if (body.length > 0) this.push(body);
      this.#remaining -= body.length;
      rest = rest.subarray(body.length);
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    setTimeout(done, lingerMs);
  }
}
