import { processIo } from "./io.js";
import { main } from "./main.js";

void main(process.argv.slice(2), processIo()).then((exitCode) => {
  process.exitCode = exitCode;
});
