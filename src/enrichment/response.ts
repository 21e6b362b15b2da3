import { frozenCopy } from "../digest/freeze-json.js";
import { InvalidJson, parseJsonKeepingIntegers } from "../digest/parse-json.js";
import type { ExchangeOutcome } from "./exchange.js";
import type { HttpResponse } from "./send.js";

/** Parses a response: JSON where the content type says so, text otherwise. */
export function parseResponse({ status, headers, bytes }: HttpResponse): ExchangeOutcome {
  if (status < 200 || status > 299) {
    const retryAfter = headers["retry-after"];
    return { kind: "status", status, ...(retryAfter !== undefined && { retryAfter }) };
  }
  if (bytes.length === 0) return { kind: "answer", data: null };
  if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? "")) {
    return broken("the response is compressed, which was not requested");
  }
  const { isJson, charset } = parseContentType(headers["content-type"] ?? "");
  const text = /^(?:utf-?8|us-ascii)$/.test(charset) ? decodeUtf8(bytes) : undefined;
  if (text === undefined) return broken("the response is not UTF-8");
  return isJson ? parseJson(text) : { kind: "answer", data: text };
}

function parseContentType(header: string): { readonly isJson: boolean; readonly charset: string } {
  const [type = "", ...parameters] = header
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((each) => each.startsWith("charset="))?.slice("charset=".length);
  return {
    isJson: /^(?:application|text)\/json$|^[^/]+\/[^/]+\+json$/.test(type),
    charset: charset?.replace(/^"(.*)"$/, "$1") ?? "utf-8",
  };
}

/** Removes a byte order mark. */
function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parseJson(text: string): ExchangeOutcome {
  try {
    const { value, asText } = parseJsonKeepingIntegers(text);
    return { kind: "answer", data: frozenCopy(value), ...(asText > 0 && { integers_as_text: asText }) };
  } catch (error) {
    if (error instanceof InvalidJson) return broken("the response is not valid JSON");
    if (!(error instanceof TypeError)) throw error;
    return broken(`the response cannot be used: ${error.message}`);
  }
}

const broken = (message: string): ExchangeOutcome => ({ kind: "broken", message });
