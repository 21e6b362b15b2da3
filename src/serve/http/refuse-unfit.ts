import type { IncomingMessage } from "node:http";
import { isHost } from "../refused-origin.js";
import { codeOf, problem } from "./problem.js";
import { Refusal } from "./refusal.js";

/** Nobody sends more, and of very many the rest would be left out unseen. */
const mostHeaders = 100;

/** Refuses what somebody between us and the sender could understand as another request than we would. */
export function refuseUnfit(request: IncomingMessage): void {
  const { headers, httpVersionMajor, httpVersionMinor, rawHeaders, url = "" } = request;
  const { host } = headers;
  if (httpVersionMajor !== 1) throw unfit(505, "only HTTP/1.1 is spoken here");
  if (rawHeaders.length > 2 * mostHeaders) throw unfit(431, "there are too many headers");
  if (host === undefined ? httpVersionMinor > 0 : !isHost(host))
    throw unfit(400, "`host` must name one host");
  if (!url.startsWith("/") && namesOther(url, host)) throw unfit(400, "the request line names another host");
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    throw unfit(501, "the only transfer coding that is understood is `chunked`");
  }
  if (headers["content-encoding"] !== undefined) throw unfit(415, "the body must not be encoded");
}

/** RFC 9112, section 3.2.2: a proxy may write the whole address. */
function namesOther(url: string, host = ""): boolean {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  return authority !== undefined && authority.toLowerCase() !== host.toLowerCase();
}

/** Where it ends is not sure, so nothing more is read from there. */
const unfit = (status: number, detail: string): Refusal =>
  new Refusal(problem(status, detail, { code: codeOf(status) }), { connection: "close" });
