/*
 * node parse-log.mjs RESULT ID SEGMENT…
 *
 * What a log costs those who only read it: parses every line, or those of one decision where ID is not empty,
 * then leaves in RESULT how many there were and how many milliseconds that took.
 */
import { writeFileSync } from "node:fs";
import { readLines } from "./json-lines.mjs";

const [result, id, ...segments] = process.argv.slice(2);
const wanted = id === "" ? "" : `"decision_id":${JSON.stringify(id)}`;

const startedAt = performance.now();
let parsed = 0;
for (const segment of segments) {
  for (const texts of readLines(segment)) {
    for (const text of texts) {
      if (!text.includes(wanted)) continue;
      if (JSON.parse(text).kind === "decision") parsed++;
    }
  }
}
writeFileSync(result, JSON.stringify({ parsed, milliseconds: performance.now() - startedAt }));
