import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DecisionError } from "../errors.js";
import { isMissing, syncDirectory, systemFiles, writeAll } from "./drivers/jsonl/files.js";
import type { ExportedFile } from "./export-manifest.js";
import { manifestName } from "./export-manifest.js";
import { makeDirectory } from "./make-directory.js";
import { sha256Stream } from "./signing.js";

/** A directory that is whole once it has a manifest, and else is as it was before. */
export class ExportFolder {
  readonly #path: string;
  readonly #signal: AbortSignal;
  readonly #isNew: boolean;
  readonly #added: string[] = [];

  constructor(path: string, signal: AbortSignal) {
    this.#path = path;
    this.#signal = signal;
    this.#isNew = writing(() => makeDirectory(path, 0o700));
  }

  /** Resolves once the file is on the disk. */
  async add(name: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<ExportedFile> {
    const path = join(this.#path, name);
    const fd = writing(() => openSync(path, "wx", 0o600));
    this.#added.push(path);
    const hash = sha256Stream();
    let length = 0;
    try {
      for await (const piece of pieces) {
        const bytes = Buffer.from(piece);
        hash.update(bytes);
        length += bytes.length;
        writing(() => writeAll(systemFiles, fd, bytes));
        await this.#breathe();
      }
      writing(() => fsyncSync(fd));
    } finally {
      closeSync(fd);
    }
    return { name, bytes: length, sha256: hash.digest("hex") };
  }

  async finish(manifest: string): Promise<ExportedFile> {
    const temporary = `${manifestName}.tmp`;
    const file = await this.add(temporary, [manifest]);
    const path = join(this.#path, manifestName);
    this.#added.push(path);
    writing(() => {
      renameSync(join(this.#path, temporary), path);
      syncDirectory(systemFiles, this.#path);
    });
    return file;
  }

  undo(): void {
    try {
      for (const path of this.#added.reverse()) rmSync(path, { force: true });
      if (this.#isNew) rmdirSync(this.#path);
    } catch {
      // What cannot be removed is no export: it has no manifest.
    }
  }

  /** Only between two turns of the event loop do we hear of Ctrl-C. */
  async #breathe(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal.throwIfAborted();
  }
}

function writing<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw unwritable(error);
  }
}

function unwritable(error: unknown): DecisionError {
  const message = `the export could not be written: ${(error as Error).message}`;
  const hint =
    "see that the directory can be written and that there is space; nothing of the export was kept";
  return new DecisionError("file_unwritable", message, { hint, cause: error });
}

export function refuseOccupied(where: string): void {
  try {
    if (readdirSync(where).length === 0) return;
  } catch (error) {
    if (isMissing(error)) return;
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw unwritable(error);
  }
  throw new DecisionError("file_exists", `\`${where}\` is there already and not an empty directory`, {
    hint: "name one that does not exist yet: an export never changes what is there",
  });
}
