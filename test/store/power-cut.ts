import * as fs from "node:fs";
import { join } from "node:path";
import type { Files } from "../../src/store/drivers/jsonl/files.js";

/** Chooses which of the possible states of a file the power cut leaves: 0 is the last synced one. */
export type Choose = (states: number, file: string) => number;

/**
 * A file system that simulates power cuts: of each file, any number of the writes since its last sync can be lost,
 * independently of other files. File names are never lost.
 */
export class PowerCut {
  /** The content of each file, by inode, at its last sync and after each write since. */
  readonly #states = new Map<number, Buffer[]>();

  readonly files: Files = {
    ...fs,
    openSync: (path, flags, mode) => {
      const fd = fs.openSync(path, flags, mode);
      const { ino } = fs.fstatSync(fd);
      if (fs.fstatSync(fd).isFile() && !this.#states.has(ino)) this.#states.set(ino, [contentOf(path)]);
      return fd;
    },
    fdatasyncSync: (fd) => this.#synced(fd),
    fdatasync: (fd, done) => {
      this.#synced(fd);
      setImmediate(() => done(null));
    },
    fsyncSync: (fd) => this.#synced(fd),
    ftruncateSync: (fd, length) => {
      fs.ftruncateSync(fd, length);
      this.#changed(fd);
    },
    writeSync: ((fd: number, bytes: Uint8Array, from: number, length: number, position: number | null) => {
      const written = fs.writeSync(fd, bytes, from, length, position);
      this.#changed(fd);
      return written;
    }) as Files["writeSync"],
  };

  /** Cuts the power. Open files must not be used afterwards. */
  cut(directory: string, choose: Choose): void {
    for (const name of fs.readdirSync(directory, { recursive: true, encoding: "utf8" })) {
      const path = join(directory, name);
      const states = this.#states.get(fs.statSync(path).ino);
      const left = states?.[choose(states.length, name)];
      if (left !== undefined) fs.writeFileSync(path, left);
    }
    this.#states.clear();
  }

  #changed(fd: number): void {
    this.#states.get(fs.fstatSync(fd).ino)?.push(fs.readFileSync(`/proc/self/fd/${fd}`));
  }

  #synced(fd: number): void {
    const { ino } = fs.fstatSync(fd);
    const last = this.#states.get(ino)?.at(-1);
    if (last !== undefined) this.#states.set(ino, [last]);
  }
}

/** Loses everything that was not synced. */
export const worst: Choose = () => 0;

const contentOf = (path: fs.PathLike): Buffer => fs.readFileSync(path);
