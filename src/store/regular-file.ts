import * as fs from "node:fs";

interface OpenOptions {
  /** The file system calls. Tests replace them with failing ones. */
  readonly files?: Pick<typeof fs, "closeSync" | "fstatSync" | "openSync">;
  /** The permissions of a new file. */
  readonly mode?: number;
}

const { O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = fs.constants;

const namedFlags = {
  r: O_RDONLY,
  "r+": O_RDWR,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_EXCL,
  "w+": O_RDWR | O_CREAT | O_TRUNC,
  a: O_WRONLY | O_CREAT | O_APPEND,
  "a+": O_RDWR | O_CREAT | O_APPEND,
};

export type OpenFlags = keyof typeof namedFlags | number;

/**
 * Opens a regular file, or throws. Another program may have put something else in its place: a pipe, which would wait
 * for a writer, or a device, which may never end.
 */
export function openRegularFile(
  path: string,
  flags: OpenFlags,
  { files = fs, mode }: OpenOptions = {},
): number {
  const number = typeof flags === "number" ? flags : namedFlags[flags];
  const fd = files.openSync(path, number | O_NONBLOCK, mode);
  const stats = files.fstatSync(fd);
  if (stats.isFile()) return fd;
  files.closeSync(fd);
  throw notRegularError(path, stats);
}

/** Has the codes of the system for paths that cannot be opened like a file. */
function notRegularError(path: string, stats: fs.Stats): Error {
  const [code, what] = stats.isDirectory() ? ["EISDIR", "a directory"] : ["ENXIO", "not a regular file"];
  return Object.assign(new Error(`\`${path}\` is ${what}`), { code, path, syscall: "open" });
}

/** Returns true for the error about something that is not a regular file. */
export const isNotRegular = (error: unknown): boolean =>
  ["EISDIR", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? "");

/** Reads a regular file, or throws. */
export function readRegularFile(path: string, maxBytes = Infinity): Buffer {
  const fd = openRegularFile(path, "r");
  try {
    if (maxBytes < Infinity && fs.fstatSync(fd).size > maxBytes) throw tooLargeError(path, maxBytes);
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Creates or replaces the content of a regular file, or throws. */
export function writeRegularFile(path: string, content: string | Uint8Array, mode?: number): void {
  const fd = openRegularFile(path, "w", mode === undefined ? {} : { mode });
  try {
    fs.writeFileSync(fd, content);
  } finally {
    fs.closeSync(fd);
  }
}

/** Has the code of Node for files that are too large to read. */
const tooLargeError = (path: string, maxBytes: number): Error =>
  Object.assign(new Error(`\`${path}\` is larger than ${maxBytes / 1024 ** 2} MiB`), {
    code: "ERR_FS_FILE_TOO_LARGE",
    path,
  });
