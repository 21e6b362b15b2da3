import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Bytes = string | Uint8Array;

export interface ExchangeOptions {
  /** Ends after this number of responses; default: when the server closes the connection. */
  readonly answers?: number;
  /** Ends after this time without a response. */
  readonly milliseconds?: number;
}

/** Sends raw bytes and parses the HTTP/1.1 responses. */
export async function rawExchange(
  port: number,
  pieces: readonly Bytes[] | Bytes,
  { answers = 1, milliseconds = 5_000 }: ExchangeOptions = {},
): Promise<readonly RawAnswer[]> {
  const socket = connect(port, "127.0.0.1");
  const received: Buffer[] = [];
  const all = typeof pieces === "string" || pieces instanceof Uint8Array ? [pieces] : pieces;
  try {
    return await new Promise((resolve) => {
      const read = (): readonly RawAnswer[] => parseAnswers(Buffer.concat(received).toString("latin1"));
      const timer = setTimeout(() => resolve(read()), milliseconds);
      const end = (): void => {
        clearTimeout(timer);
        resolve(read());
      };
      socket.on("data", (chunk) => {
        received.push(chunk);
        if (read().length >= answers) end();
      });
      socket.on("close", end);
      // A server that rejects a request before its end may reset the connection.
      socket.on("error", () => undefined);
      for (const piece of all) socket.write(piece);
    });
  } finally {
    socket.destroy();
  }
}

/** Parses complete responses only. */
function parseAnswers(text: string): readonly RawAnswer[] {
  const found: RawAnswer[] = [];
  for (let rest = text; ;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) return found;
    const [line = "", ...lines] = rest.slice(0, end).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    const headers = Object.fromEntries(
      lines.map((each) => [each.split(":")[0]!.toLowerCase(), each.slice(each.indexOf(":") + 1).trim()]),
    );
    const start = end + 4;
    const length = Number(headers["content-length"] ?? 0);
    if (rest.length < start + length) return found;
    // `100 Continue` is not a response.
    if (status >= 200) found.push({ status, headers, body: rest.slice(start, start + length) });
    rest = rest.slice(start + length);
  }
}
