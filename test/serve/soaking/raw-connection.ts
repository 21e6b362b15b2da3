import type { Socket } from "node:net";
import { connect } from "node:net";

/** The raw parts of a request, valid or not. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** Overrides the length of the body. */
  readonly announcedLength?: number;
  readonly contentType?: string;
}

/** `refused`: the connection was refused. `cut`: it was closed without an answer. */
export type Heard = { readonly status: number; readonly body: string } | "refused" | "cut";

/** A keep-alive connection for many sequential requests, with little overhead. */
export class RawConnection {
  readonly #port: () => number;
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  #settle: (heard: Heard) => void = () => undefined;

  constructor(port: () => number) {
    this.#port = port;
  }

  async ask(request: RawRequest, correlationId: string): Promise<Heard> {
    const socket = this.#socket ?? (await this.#open());
    if (socket === undefined) return "refused";
    this.#received = Buffer.alloc(0);
    return new Promise<Heard>((resolve) => {
      this.#settle = resolve;
      socket.write(written(request, correlationId));
    });
  }

  end(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      const socket = connect({ port: this.#port(), host: "127.0.0.1", noDelay: true });
      // A failed connection also emits `close`, which is handled.
      socket.on("error", () => resolve(undefined));
      socket.on("connect", () => {
        this.#socket = socket;
        resolve(socket);
      });
      socket.on("close", () => {
        if (this.#socket !== socket) return;
        this.#socket = undefined;
        this.#settle("cut");
      });
      socket.on("data", (data: Buffer) => {
        const answer = this.#read(data);
        if (answer === undefined) return;
        if (answer.isLast) this.end();
        this.#settle(answer);
      });
    });
  }

  #read(data: Buffer): { status: number; body: string; isLast: boolean } | undefined {
    const all = (this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data]));
    const end = all.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const head = all.toString("latin1", 0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (all.length < end + 4 + length) return undefined;
    return {
      status: Number(head.slice(9, 12)),
      body: all.toString("utf8", end + 4, end + 4 + length),
      isLast: /\r\nconnection: close/i.test(head),
    };
  }
}

function written(request: RawRequest, correlationId: string): string {
  const { method, path, body = "", announcedLength, contentType = "application/json" } = request;
  const length = announcedLength ?? Buffer.byteLength(body);
  const entity = method !== "POST" ? "" : `content-type: ${contentType}\r\ncontent-length: ${length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nx-correlation-id: ${correlationId}\r\n${entity}\r\n${body}`;
}
