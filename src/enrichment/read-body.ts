import type { IncomingMessage } from "node:http";
import type { Failure } from "./failure.js";

export const largestAnswer = 1024 * 1024;

export type Body = { readonly kind: "body"; readonly bytes: Buffer } | Failure;

const tooLarge: Failure = { kind: "broken", message: "its answer is larger than 1 MiB" };
export const brokenOff: Failure = { kind: "broken", message: "its answer broke off" };

/** Reads an answer to its end, or to where it is too large: whatever it says of its length, the bytes are counted. */
export function readBody(answer: IncomingMessage): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (body: Body): void => {
      resolve(body);
      if (body.kind !== "body") answer.destroy();
    };
    if (Number(answer.headers["content-length"]) > largestAnswer) {
      end(tooLarge);
      return;
    }
    answer.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > largestAnswer) end(tooLarge);
      else chunks.push(chunk);
    });
    answer.on("end", () => {
      end(answer.complete ? { kind: "body", bytes: Buffer.concat(chunks) } : brokenOff);
    });
    answer.on("error", () => end(brokenOff));
    answer.on("close", () => end(brokenOff));
  });
}
