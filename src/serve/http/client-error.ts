import type { Socket } from "node:net";
import { codeOf, problem, problemType } from "./problem.js";

/** What cannot even be read as a request is answered all the same, and the connection ends. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, detail } = faults[error.code ?? ""] ?? malformed;
  const body = JSON.stringify(problem(status, detail, { code: codeOf(status) }));
  socket.end(
    `HTTP/1.1 ${status} ${codeOf(status)}\r\ncontent-type: ${problemType}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

const malformed = { status: 400, detail: "this is not a request that can be read" };

const faults: Readonly<Record<string, { readonly status: number; readonly detail: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "the request did not come in time" },
  HPE_HEADER_OVERFLOW: { status: 431, detail: "the headers are too large" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: "the extensions of a chunk are too large" },
};
