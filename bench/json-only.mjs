/*
 * node json-only.mjs LINES ANSWERS OUTPUT RESULT
 *
 * What answering JSON lines costs when nothing is decided: parses every line of one file and writes the
 * next of the given answers, then leaves in RESULT how many milliseconds that took.
 */
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { readLines, writeAll } from "./json-lines.mjs";

const [lines, answersFile, output, result] = process.argv.slice(2);
const answers = readFileSync(answersFile, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

const startedAt = performance.now();
answerLines(openSync(output, "w"));
writeFileSync(result, String(performance.now() - startedAt));

function answerLines(destination) {
  let answered = 0;
  for (const texts of readLines(lines)) {
    let written = "";
    for (const text of texts) {
      if (typeof JSON.parse(text) !== "object") throw new Error("a context is an object");
      written += `${JSON.stringify(answers[answered++ % answers.length])}\n`;
    }
    writeAll(destination, written);
  }
}
