import { write } from "node:fs";
import { systemClock } from "../clock.js";
import type { WriteBytes } from "../serve/log-lines.js";
import { LogLines } from "../serve/log-lines.js";

/** What happens, as JSON lines on standard error. */
export const logLines = (quiet: boolean): LogLines =>
  new LogLines(toStandardError, { clock: systemClock, quiet });

const standardError = 2;

/** Without waiting for whoever reads it; where that is nobody, it is lost. */
const toStandardError: WriteBytes = (bytes, done) => {
  write(standardError, bytes, (error, written) => {
    if (error?.code === "EAGAIN") setTimeout(() => toStandardError(bytes, done), 5);
    else if (error !== null || written >= bytes.length) done(error);
    else toStandardError(bytes.subarray(written), done);
  });
};
