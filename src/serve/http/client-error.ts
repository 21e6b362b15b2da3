import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { codeOf, problem, problemType, titleOf } from "./problem.js";

/** What cannot even be read as a request is answered all the same, and the connection ends. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const earlier = answerUnderWay(socket);
  if (earlier?.req.complete === true) {
    // What came before it on the same connection was a request, so its answer goes first.
    earlier.once("close", () => answerClientError(error, socket));
    return;
  }
  if (earlier?.headersSent === true) {
    socket.destroy();
    return;
  }
  const { status, detail } = faults[error.code ?? ""] ?? malformed;
  refuseSocket(socket, status, detail);
}

/** Node would break these off, or answer without a word. */
export function answerTheRest(server: Server): void {
  server.on("connect", (_request, socket) => refuseSocket(socket, 405, "this is no proxy"));
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const body = problemText(417, "nothing but `100-continue` can be expected");
    response.writeHead(417, { "content-type": problemType, connection: "close" }).end(body);
  });
}

/** Node keeps it where nobody else has it. */
const answerUnderWay = (socket: Socket): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;

function refuseSocket(socket: Duplex, status: number, detail: string): void {
  const body = problemText(status, detail);
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${titleOf(status)}\r\ncontent-type: ${problemType}\r\n` +
      (status === 405 ? "allow: GET, HEAD, POST\r\n" : "") +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

const problemText = (status: number, detail: string): string =>
  JSON.stringify(problem(status, detail, { code: codeOf(status) }));

const malformed = { status: 400, detail: "this is not a request that can be read" };

const faults: Readonly<Record<string, { readonly status: number; readonly detail: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "the request did not come in time" },
  HPE_HEADER_OVERFLOW: { status: 431, detail: "the headers are too large" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: "the extensions of a chunk are too large" },
};
