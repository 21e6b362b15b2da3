import { fileClasses } from "../hostile/corpus.js";
import { testFiles } from "../hostile/files.js";

/** By themselves: they are given so much time, and no more. */
testFiles(fileClasses.filter(({ spawned }) => spawned));
