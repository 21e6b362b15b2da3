/*
 * node json-only.mjs LINES ANSWERS OUTPUT RESULT
 *
 * What answering JSON lines costs when nothing is decided: parses every line of one file and writes the
 * next of the given answers, then leaves in RESULT how many milliseconds that took.
 */
import { openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";

const chunkSize = 256 * 1024;
const [lines, answersFile, output, result] = process.argv.slice(2);
const answers = readFileSync(answersFile, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

const startedAt = performance.now();
answerLines(openSync(lines, "r"), openSync(output, "w"));
writeFileSync(result, String(performance.now() - startedAt));

function answerLines(input, destination) {
  const buffer = Buffer.allocUnsafe(chunkSize);
  let rest = "";
  let answered = 0;
  for (let length = readSync(input, buffer); length > 0; length = readSync(input, buffer)) {
    const texts = (rest + buffer.toString("utf8", 0, length)).split("\n");
    rest = texts.pop();
    let written = "";
    for (const text of texts) {
      if (typeof JSON.parse(text) !== "object") throw new Error("a context is an object");
      written += `${JSON.stringify(answers[answered++ % answers.length])}\n`;
    }
    writeAll(destination, Buffer.from(written));
  }
}

function writeAll(destination, bytes) {
  for (let written = 0; written < bytes.length;) written += writeSync(destination, bytes, written);
}
