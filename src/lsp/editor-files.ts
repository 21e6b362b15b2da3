import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { TextDocuments } from "vscode-languageserver";
import { TextDocument } from "./protocol-library.js";
import { maxFileBytes } from "../definition/broken-file.js";
import { displayPath, isInVisitedFolder, isOfKind } from "../store/definition-directory.js";

/** The files of a directory of definitions: those that are open in the editor as they are there, others as saved. */
export class EditorFiles {
  readonly #directory: string;
  readonly #documents: TextDocuments<TextDocument>;

  constructor(directory: string, documents: TextDocuments<TextDocument>) {
    this.#directory = directory;
    this.#documents = documents;
  }

  /** Returns the path of a document in the directory; undefined if it is no file with definitions or tests. */
  pathOf(uri: string): string | undefined {
    if (!uri.startsWith("file:")) return undefined;
    let file: string;
    try {
      file = fileURLToPath(uri);
    } catch {
      return undefined;
    }
    const path =
      pathWithin(this.#directory, file) ?? pathWithin(realPathOf(this.#directory), realPathOf(file));
    if (path === undefined || !isInVisitedFolder(path)) return undefined;
    return isOfKind("definitions", path) || isOfKind("tests", path) ? path : undefined;
  }

  /** Returns the open documents of the directory, by their paths in it. */
  open(): ReadonlyMap<string, TextDocument> {
    const found = new Map<string, TextDocument>();
    for (const document of this.#documents.all()) {
      const path = this.pathOf(document.uri);
      if (path !== undefined) found.set(path, document);
    }
    return found;
  }

  /** Returns a file as an editor addresses it, and its text; a file that cannot be read is empty. */
  document(file: string): TextDocument {
    for (const [path, document] of this.open()) {
      if (displayPath(this.#directory, path) === file) return document;
    }
    return TextDocument.create(pathToFileURL(file).href, "yaml", 0, readText(file));
  }
}

function pathWithin(directory: string, file: string): string | undefined {
  const path = relative(directory, file);
  return path === "" || path.startsWith("..") ? undefined : path.replaceAll(sep, "/");
}

/** Follows the links to a file, also to one that does not exist yet. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPathOf(folder), basename(path));
  }
}

function readText(file: string): string {
  try {
    const content = readFileSync(file);
    return content.byteLength > maxFileBytes ? "" : new TextDecoder().decode(content);
  } catch {
    return "";
  }
}
