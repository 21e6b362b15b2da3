import { fileClasses } from "./corpus.js";
import { testFiles } from "./files.js";

testFiles(fileClasses.filter(({ spawned }) => !spawned));
