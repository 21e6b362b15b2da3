import { appendFileSync, truncateSync } from "node:fs";

// Saves a file every 20 ms until it is killed: truncates it, writes a part, then the rest.
const [, , path, part, rest] = process.argv;
const wait = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
process.stdout.write("saving\n");
for (;;) {
  truncateSync(path);
  wait(3);
  appendFileSync(path, part);
  wait(13);
  appendFileSync(path, rest);
  wait(4);
}
