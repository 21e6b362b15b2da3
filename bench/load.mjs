/**
 * Asks a server without pause over so many connections, and tells on stdout how often each status was answered
 * and how many answers came per second. Raw sockets, bytes made beforehand, and one piece of memory for each
 * connection that all its answers are read into, leave the machine to the server.
 */
import { connect } from "node:net";

const [port, connections, seconds, path, body] = process.argv.slice(2);

const request = Buffer.from(
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);
const largestAnswer = 64 * 1024;
const statuses = {};
const startedAt = performance.now();
const until = startedAt + Number(seconds) * 1000;
let inTime = 0;

await Promise.all(Array.from({ length: Number(connections) }, askWithoutPause));
process.stdout.write(JSON.stringify({ statuses, per_second: inTime / Number(seconds) }));

/** Ends once its last answer has come: what is answered late still counts as answered. */
function askWithoutPause() {
  return new Promise((resolve, reject) => {
    let parts = [];
    const onPart = (length, memory) => {
      const part = memory.subarray(0, length);
      const bytes = parts.length === 0 ? part : Buffer.concat([...parts, part]);
      const answer = wholeAnswer(bytes);
      if (answer === undefined) {
        // The memory is written over by the next part.
        parts = [Buffer.from(bytes)];
        return true;
      }
      if (bytes.length > answer.length) throw new Error("more was answered than was asked");
      parts = [];
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (performance.now() < until) {
        inTime++;
        socket.write(request);
        return true;
      }
      socket.removeAllListeners("close");
      socket.end();
      resolve();
      return true;
    };
    const onread = { buffer: Buffer.alloc(largestAnswer), callback: onPart };
    const socket = connect({ port: Number(port), host: "127.0.0.1", noDelay: true, onread });
    socket.on("connect", () => socket.write(request));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed the connection")));
  });
}

/** The status and the length of an answer, once all of it is there. */
function wholeAnswer(bytes) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.latin1Slice(0, end);
  const [, size] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (size === undefined) throw new Error(`an answer without a length: ${head}`);
  const length = end + 4 + Number(size);
  return bytes.length < length ? undefined : { status: head.slice(9, 12), length };
}
