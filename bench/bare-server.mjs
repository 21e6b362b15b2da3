/** The least that a JSON server in node does: it reads a question, and answers with the document that it was given. */
import { createServer } from "node:http";

const answer = JSON.parse(process.argv[2]);

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { correlation_id } = JSON.parse(Buffer.concat(chunks).toString());
    const text = JSON.stringify({ ...answer, correlation_id });
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    response.writeHead(200, headers).end(text);
  });
});

server.listen(0, "127.0.0.1", () => {
  process.stderr.write(`listening on http://127.0.0.1:${server.address().port}\n`);
});
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
});
