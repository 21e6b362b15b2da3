import { fstatSync } from "node:fs";
import type { Socket } from "node:net";
import type { Input } from "./io.js";

const largest = 256 * 1024;

/**
 * What comes in, piece by piece, as soon as it is there. After the signal no more is read, but what was read
 * already still comes. A piece is only good until the next is asked for.
 */
export async function* piecesOf(input: Input, signal: AbortSignal): AsyncGenerator<Buffer> {
  const socket = input.fd === undefined ? undefined : await openLive(input.fd);
  if (socket === undefined) yield* storedPieces(input, signal);
  else yield* livePieces(socket, signal);
}

/** What may keep us waiting is waited for in the event loop, where signals are heard; other things are there. */
async function openLive(fd: number): Promise<Socket | undefined> {
  const stats = fstatSync(fd);
  if (stats.isFIFO() || stats.isSocket()) {
    const net = await import("node:net");
    return new net.Socket({ fd, readable: true, writable: false });
  }
  if (!stats.isCharacterDevice()) return undefined;
  const { isatty, ReadStream } = await import("node:tty");
  return isatty(fd) ? new ReadStream(fd) : undefined;
}

async function* storedPieces(input: Input, signal: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(largest);
  while (!signal.aborted) {
    const length = input.read(buffer);
    if (length === 0) return;
    yield buffer.subarray(0, length);
    // Else a signal would not be heard before the end.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* livePieces(socket: Socket, signal: AbortSignal): AsyncGenerator<Buffer> {
  let wake = (): void => undefined;
  let failure: Error | undefined;
  const notice = (): void => wake();
  socket.on("readable", notice).on("close", notice);
  socket.on("error", (error) => (failure = error));
  signal.addEventListener("abort", notice);
  try {
    for (;;) {
      const isLast = signal.aborted;
      // All that has arrived while the last piece was worked on, as one.
      const piece = socket.read() as Buffer | null;
      if (piece !== null) yield piece;
      else if (failure !== undefined) throw failure;
      if (isLast || (piece === null && socket.closed)) return;
      if (piece === null) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", notice);
    socket.destroy();
  }
}
