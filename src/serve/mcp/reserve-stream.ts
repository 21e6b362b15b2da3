import type { Writable } from "node:stream";

export interface ReservedStream {
  /** Resolves when it is written, or can never be. */
  readonly write: (text: string) => Promise<void>;
  readonly release: () => void;
}

/** Keeps a stream for one writer: what others write to it, `console.log` too, goes elsewhere. */
export function reserveStream(stream: Writable, elsewhere: Writable): ReservedStream {
  const usual = Object.getOwnPropertyDescriptor(stream, "write");
  const write = stream.write.bind(stream);
  const redirected = elsewhere.write.bind(elsewhere);
  Object.defineProperty(stream, "write", { value: redirected, configurable: true, writable: true });
  return {
    write: (text) => new Promise((resolve) => void write(text, () => resolve())),
    release() {
      if (usual === undefined) Reflect.deleteProperty(stream, "write");
      else Object.defineProperty(stream, "write", usual);
    },
  };
}
