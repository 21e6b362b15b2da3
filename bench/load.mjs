/**
 * Asks a server without pause over so many connections, and tells on stdout how often each status was answered
 * and how many answers came per second. Raw sockets and bytes made beforehand leave the machine to the server.
 */
import { connect } from "node:net";

const [port, connections, seconds, path, body] = process.argv.slice(2);

const request = Buffer.from(
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);
const statuses = {};
const startedAt = performance.now();
const until = startedAt + Number(seconds) * 1000;
let inTime = 0;

await Promise.all(Array.from({ length: Number(connections) }, askWithoutPause));
process.stdout.write(JSON.stringify({ statuses, per_second: inTime / Number(seconds) }));

/** Ends once its last answer has come: what is answered late still counts as answered. */
function askWithoutPause() {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(request));
    let left = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed the connection")));
    socket.on("data", (chunk) => {
      left = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
      const answer = wholeAnswer(left);
      if (answer === undefined) return;
      left = left.subarray(answer.length);
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (performance.now() < until) {
        inTime++;
        socket.write(request);
        return;
      }
      socket.removeAllListeners("close");
      socket.end();
      resolve();
    });
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
