import { renameSync, writeFileSync } from "node:fs";

// Puts one text and the other in the place of a file, by turns, until it is ended.
const [, , path, one, other, how] = process.argv;
process.stdout.write("swapping\n");
for (let turn = 0; ; turn++) {
  const text = turn % 2 === 0 ? one : other;
  if (how === "rename") {
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  } else writeFileSync(path, text, { flag: "r+" });
  // Long enough for some to be read whole, short enough for others to be read while it changes.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * 3);
}
