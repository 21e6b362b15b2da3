import { fileClasses } from "./corpus.js";
import { samples, testFiles } from "./files.js";

/** One of each kind; the torture suite has them all, and has the command read each of them. */
testFiles(
  fileClasses.filter(({ spawned }) => spawned).map(({ title, files }) => ({ title, files: samples(files) })),
);
