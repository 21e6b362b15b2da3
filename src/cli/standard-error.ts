import { fstatSync, write } from "node:fs";
import { Socket } from "node:net";
import { systemClock } from "../clock.js";
import type { WriteBytes } from "../serve/log-lines.js";
import { LogLines } from "../serve/log-lines.js";

const standardError = 2;

/** How long a pipe that is full is left alone, in milliseconds. */
const pause = 5;

/** Writes without waiting for whoever reads; where that is nobody, it is lost. */
export function toStandardError(): WriteBytes {
  let isReady = false;
  const writeRest: WriteBytes = (bytes, done) => {
    write(standardError, bytes, (error, written) => {
      // Whoever does not read must not keep us from ending, so nothing waits for the next try.
      if (error?.code === "EAGAIN") setTimeout(() => writeRest(bytes, done), pause).unref();
      else if (error !== null || written >= bytes.length) done(error);
      else writeRest(bytes.subarray(written), done);
    });
  };
  return (bytes, done) => {
    if (!isReady) unblock();
    isReady = true;
    writeRest(bytes, done);
  };
}

/**
 * To write into a full pipe would hold up a thread, and a process does not end before its threads do. Making a socket
 * of it is Node's only way to have it answer EAGAIN instead; nobody ever uses or closes the socket.
 */
function unblock(): void {
  const stats = fstatSync(standardError);
  if (!stats.isFIFO() && !stats.isSocket()) return;
  new Socket({ fd: standardError, readable: false, writable: true }).unref();
}

/** What happens, as JSON lines on standard error. */
export const logLines = (quiet: boolean): LogLines =>
  new LogLines(toStandardError(), { clock: systemClock, quiet });
