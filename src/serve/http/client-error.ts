import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { LogLines } from "../log-lines.js";
import type { Metrics } from "../metrics/metrics.js";
import type { CutShort } from "./cut-short.js";
import { goneAway, noteCutShort } from "./cut-short.js";
import type { ProblemDocument } from "./problem.js";
import { codeOf, problem, problemType, titleOf } from "./problem.js";

interface Surroundings {
  readonly metrics: Metrics;
  readonly log: LogLines;
  /** In milliseconds. */
  readonly requestTimeout: number;
}

type AnswerClientError = (error: NodeJS.ErrnoException, socket: Socket) => void;

/** What cannot even be read as a request is answered all the same, and the connection ends. */
export function clientErrors(surroundings: Surroundings): AnswerClientError {
  const answer: AnswerClientError = (error, socket) => {
    if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const earlier = answerUnderWay(socket);
    if (earlier?.req.complete === true) {
      // What came before it on the same connection was a request, so its answer goes first.
      earlier.once("close", () => answer(error, socket));
      return;
    }
    if (earlier?.headersSent === true) {
      socket.destroy();
      return;
    }
    const document = faultOf(error, surroundings);
    // What has begun as a request is told of as one.
    if (earlier === undefined) tell(document, surroundings);
    else noteCutShort(earlier, error.code === endedEarly ? goneAway : whyOf(document));
    refuseSocket(socket, document);
  };
  return answer;
}

/** Node would break these off, or answer without a word. */
export function answerTheRest(server: Server, surroundings: Surroundings): void {
  server.on("connect", (_request, socket) => {
    const document = problem(405, "this is no proxy", { code: codeOf(405) });
    tell(document, surroundings);
    refuseSocket(socket, document);
  });
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const document = problem(417, "nothing but `100-continue` can be expected", { code: codeOf(417) });
    tell(document, surroundings);
    response
      .writeHead(417, { "content-type": problemType, connection: "close" })
      .end(JSON.stringify(document));
  });
}

/** Whoever ends its side within a request has most often gone. */
const endedEarly = "HPE_INVALID_EOF_STATE";

const whyOf = ({ status, code }: ProblemDocument): CutShort => ({ status, code });

/** Node keeps it where nobody else has it. */
const answerUnderWay = (socket: Socket): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;

/** What came is not looked at: nobody knows what it was meant to be. */
function tell({ status, code }: ProblemDocument, { metrics, log }: Surroundings): void {
  const request = { method: "unknown", route: "unknown" };
  metrics.requests.add({ ...request, status: String(status) });
  log.log("info", "request", { ...request, status, code });
}

function refuseSocket(socket: Duplex, document: ProblemDocument): void {
  const { status } = document;
  const body = JSON.stringify(document);
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${titleOf(status)}\r\ncontent-type: ${problemType}\r\n` +
      (status === 405 ? "allow: GET, HEAD, POST\r\n" : "") +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function faultOf({ code }: NodeJS.ErrnoException, { requestTimeout }: Surroundings): ProblemDocument {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return problem(408, "the request did not come in time", {
        code: codeOf(408),
        hint: `send it within ${requestTimeout / 1000} s; whoever runs the server can allow more with --request-timeout`,
      });
    case "HPE_HEADER_OVERFLOW":
      return problem(431, "the headers are too large", {
        code: codeOf(431),
        hint: "send headers of at most 16 KiB",
      });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return problem(413, "the extensions of a chunk are too large", {
        code: codeOf(413),
        hint: "send chunks without extensions",
      });
    default:
      return problem(400, "this is not a request that can be read", {
        code: codeOf(400),
        hint: "send HTTP/1.1",
      });
  }
}
