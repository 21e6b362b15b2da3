import { processIo } from "./io.js";
import { main } from "./main.js";

/** Runs the command line of this process. */
export function run(): void {
  void main(process.argv.slice(2), processIo()).then((exitCode) => {
    process.exitCode = exitCode;
  });
}
