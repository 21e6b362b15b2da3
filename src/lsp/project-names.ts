import { readFileSync } from "node:fs";
import type { DeclaredName } from "./names.js";
import { declaredNames } from "./names.js";
import { maxFileBytes } from "../definition/broken-file.js";
import { displayPath, findFiles } from "../store/definition-directory.js";

/** A declared name with its file. */
export interface LocatedName extends DeclaredName {
  readonly file: string;
}

/** Returns the texts of the open documents by the paths of their files. */
type OpenTexts = () => ReadonlyMap<string, string>;

type NamesByFile = Map<string, { readonly stamp: string; readonly names: readonly LocatedName[] }>;

/** The names that the files of a directory declare. Files are read again when they change. */
export class ProjectNames {
  readonly #directory: string;
  readonly #openTexts: OpenTexts;
  #read: NamesByFile = new Map();

  constructor(directory: string, openTexts: OpenTexts) {
    this.#directory = directory;
    this.#openTexts = openTexts;
  }

  all(): readonly LocatedName[] {
    const earlier = this.#read;
    this.#read = new Map();
    const open = this.#openTexts();
    const saved = this.#savedFiles().filter(({ file }) => !open.has(file));
    for (const { file, stamp } of saved) this.#keep(earlier, file, stamp, () => readText(file));
    for (const [file, text] of open) this.#keep(earlier, file, text, () => text);
    return [...this.#read.values()].flatMap(({ names }) => names);
  }

  #keep(earlier: NamesByFile, file: string, stamp: string, read: () => string): void {
    const known = earlier.get(file);
    const names = known?.stamp === stamp ? known.names : namesOf(file, read());
    this.#read.set(file, { stamp, names });
  }

  #savedFiles(): readonly { readonly file: string; readonly stamp: string }[] {
    try {
      return findFiles("definitions", this.#directory)
        .files.filter(({ size, unusableBecause }) => unusableBecause === undefined && size <= maxFileBytes)
        .map(({ path, stamp }) => ({ file: displayPath(this.#directory, path), stamp }));
    } catch {
      return [];
    }
  }
}

const namesOf = (file: string, text: string): readonly LocatedName[] =>
  text.length > maxFileBytes ? [] : declaredNames(text).map((each) => ({ ...each, file }));

/** Returns no text for a file that was deleted meanwhile. */
function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
