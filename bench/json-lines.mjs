import { openSync, readSync, writeSync } from "node:fs";

const chunkSize = 256 * 1024;

/** The lines of a file, by the chunks that they are read in. */
export function* readLines(path) {
  const input = openSync(path, "r");
  const buffer = Buffer.allocUnsafe(chunkSize);
  let rest = "";
  for (let length = readSync(input, buffer); length > 0; length = readSync(input, buffer)) {
    const texts = (rest + buffer.toString("utf8", 0, length)).split("\n");
    rest = texts.pop();
    yield texts;
  }
}

export function writeAll(destination, text) {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) written += writeSync(destination, bytes, written);
}
