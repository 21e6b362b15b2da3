import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Files } from "../../src/store/drivers/jsonl/files.js";

export type Call = Exclude<keyof Files, "closeSync" | "fdatasync">;

/** An error like those of the system. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

/**
 * A file system with faults. `fault` is called before each call with the name of the file and its folder, and may
 * throw. `room` limits the free space: files grow until it is used up, then writes fail with ENOSPC. Overwriting takes
 * no space and truncating frees some, as on a disk.
 */
export class FaultyFiles {
  fault: (call: Call, file: string) => void = () => undefined;
  room = Infinity;
  readonly calls: { readonly call: Call; readonly file: string }[] = [];
  readonly #names = new Map<number, string>();

  readonly files: Files = {
    ...fs,
    openSync: (path, flags, mode) => {
      const name = join(basename(dirname(String(path))), basename(String(path)));
      this.#before("openSync", name);
      const fd = fs.openSync(path, flags, mode);
      this.#names.set(fd, name);
      return fd;
    },
    fdatasyncSync: (fd) => {
      this.#before("fdatasyncSync", this.#names.get(fd));
      fs.fdatasyncSync(fd);
    },
    // For the disk it is the same call.
    fdatasync: (fd, done) => {
      try {
        this.#before("fdatasyncSync", this.#names.get(fd));
      } catch (error) {
        setImmediate(() => done(error as Error));
        return;
      }
      fs.fdatasync(fd, done);
    },
    fsyncSync: (fd) => {
      this.#before("fsyncSync", this.#names.get(fd));
      fs.fsyncSync(fd);
    },
    ftruncateSync: (fd, length = 0) => {
      this.#before("ftruncateSync", this.#names.get(fd));
      this.room += Math.max(0, fs.fstatSync(fd).size - length);
      fs.ftruncateSync(fd, length);
    },
    writeSync: ((fd: number, bytes: Uint8Array, from: number, length: number, position: number | null) => {
      this.#before("writeSync", this.#names.get(fd));
      const { size } = fs.fstatSync(fd);
      const free = position === null ? 0 : Math.max(0, size - position);
      if (length > free && this.room === 0) throw systemError("ENOSPC");
      const taken = Math.min(length, free + this.room);
      this.room -= Math.max(0, taken - free);
      return fs.writeSync(fd, bytes, from, taken, position);
    }) as Files["writeSync"],
  };

  /** Makes such calls fail until it is undone. */
  failAt(call: Call, file: RegExp, code: string): void {
    this.fault = (name, path) => {
      if (name === call && file.test(path)) throw systemError(code);
    };
  }

  heal(): void {
    this.fault = () => undefined;
    this.room = Infinity;
  }

  #before(call: Call, file = "?"): void {
    this.calls.push({ call, file });
    this.fault(call, file);
  }
}
