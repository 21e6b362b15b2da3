/*
 * node json-and-log.mjs LINES ANSWERS OUTPUT RESULT RECORDS LOG
 *
 * What answering and recording JSON lines costs when nothing is decided: parses every line of one file,
 * chains the next of the given records by SHA-256, adds it to LOG and waits for the disk once per 256 of
 * them, writes the next of the given answers, then leaves in RESULT how many milliseconds that took.
 */
import { hash } from "node:crypto";
import { fdatasyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { readLines, writeAll } from "./json-lines.mjs";

const recordsPerSync = 256;
const [lines, answersFile, output, result, recordsFile, log] = process.argv.slice(2);
const answers = readObjects(answersFile, (line) => line);
const records = readObjects(recordsFile, (line) => line.replace(/,"hash":"\w+"\}$/, "}"));

const startedAt = performance.now();
recordLines(openSync(log, "w"), openSync(output, "w"));
writeFileSync(result, String(performance.now() - startedAt));

function readObjects(path, asJson) {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(asJson(line)));
}

function recordLines(journal, destination) {
  let [seq, previous, recorded, answered] = [0, "0".repeat(64), "", ""];
  const commit = () => {
    writeAll(journal, recorded);
    fdatasyncSync(journal);
    writeAll(destination, answered);
    recorded = answered = "";
  };
  for (const texts of readLines(lines)) {
    for (const text of texts) {
      if (typeof JSON.parse(text) !== "object") throw new Error("a context is an object");
      const record = records[seq % records.length];
      answered += `${JSON.stringify(answers[seq % answers.length])}\n`;
      record.seq = ++seq;
      record.prev_hash = previous;
      const json = JSON.stringify(record);
      previous = hash("sha256", json);
      recorded += `${json.slice(0, -1)},"hash":"${previous}"}\n`;
      if (seq % recordsPerSync === 0) commit();
    }
  }
  commit();
}
