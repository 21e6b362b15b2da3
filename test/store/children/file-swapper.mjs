import { renameSync, writeFileSync } from "node:fs";

// Replaces a file by two texts alternately until it is killed.
const [, , path, one, other, how] = process.argv;
process.stdout.write("swapping\n");
for (let turn = 0; ; turn++) {
  const text = turn % 2 === 0 ? one : other;
  if (how === "rename") {
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  } else writeFileSync(path, text, { flag: "r+" });
  // Long enough for some complete reads, short enough for some reads during a change.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 45 + Math.random() * 150);
}
