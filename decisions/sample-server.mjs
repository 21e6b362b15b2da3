/**
 * The credit bureau of the samples: a small server to fetch from, with modes that simulate failures.
 *
 *   node decisions/sample-server.mjs [PORT]        listens on 127.0.0.1 until Ctrl-C
 *   node decisions/sample-server.mjs MODE [PORT]   changes the mode of the running server
 *
 * PORT defaults to the variable PORT, then to 8733; 0 takes a free one. Requests need the header `X-API-Key` with
 * the value of CREDIT_API_KEY (default `demo`).
 *
 *   GET  /score?customer=c-1   the score of a customer
 *   POST /score                the same with the JSON body `{"customer": "c-1"}`
 *   GET  /mode                 the mode, and the number of requests for scores
 *   POST /mode                 sets the mode with `{"mode": MODE}`
 *
 * Modes: `ok`; `failing` responds with 503; `slow` takes ten seconds; `flaky` fails every second time; `limited`
 * responds with 429 and `Retry-After`.
 */
import { createServer, request } from "node:http";
import { clearTimeout, setTimeout } from "node:timers";

const host = "127.0.0.1";
const modes = ["ok", "failing", "slow", "flaky", "limited"];
const slowResponseMs = 10_000;
const maxBodyBytes = 64 * 1024;

main(process.argv.slice(2));

function main(words) {
  const mode = modes.includes(words[0]) ? words[0] : undefined;
  const port = Number((mode === undefined ? words[0] : words[1]) ?? process.env.PORT ?? 8733);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return fail(`expected a port or one of ${modes.join(", ")} (got \`${words.join(" ")}\`)`);
  }
  if (mode === undefined) listen(port);
  else setMode(port, mode);
}

function listen(port) {
  const bureau = { mode: "ok", requests: 0, key: process.env.CREDIT_API_KEY || "demo" };
  const server = createServer((incoming, response) => {
    respond(bureau, incoming, response).catch(() => send(response, 500, { error: "something went wrong" }));
  });
  server.on("error", (error) => fail(`cannot listen on ${host}:${port}: ${error.message}`));
  server.listen(port, host, () => {
    console.log(`listening on http://${host}:${server.address().port}`);
  });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
}

async function respond(bureau, incoming, response) {
  const { pathname, searchParams } = new URL(incoming.url, `http://${host}`);
  const route = `${incoming.method} ${pathname}`;
  const body = incoming.method === "POST" ? await readJson(incoming) : {};
  switch (route) {
    case "GET /mode":
      return send(response, 200, { mode: bureau.mode, requests: bureau.requests });
    case "POST /mode":
      if (!modes.includes(body?.mode))
        return send(response, 400, { error: `mode is one of ${modes.join(", ")}` });
      bureau.mode = body.mode;
      return send(response, 200, { mode: bureau.mode, requests: bureau.requests });
    case "GET /score":
      return score(bureau, incoming, { response, customer: searchParams.get("customer") });
    case "POST /score":
      return score(bureau, incoming, { response, customer: body?.customer });
    default:
      return send(response, 404, { error: `there is no ${route}` });
  }
}

function score(bureau, incoming, { response, customer }) {
  bureau.requests++;
  if (incoming.headers["x-api-key"] !== bureau.key) return send(response, 401, { error: "invalid API key" });
  const found = () =>
    typeof customer === "string" && customer !== ""
      ? send(response, 200, { customer, score: scoreOf(customer) })
      : send(response, 400, { error: "`customer` is missing" });
  switch (bureau.mode) {
    case "failing":
      return send(response, 503, { error: "unavailable" });
    case "flaky":
      return bureau.requests % 2 === 1 ? send(response, 503, { error: "unavailable" }) : found();
    case "limited":
      return send(response, 429, { error: "too many requests" }, { "retry-after": "1" });
    case "slow": {
      const timer = setTimeout(found, slowResponseMs);
      incoming.socket.once("close", () => clearTimeout(timer));
      return;
    }
    default:
      return found();
  }
}

/** Returns a score from 300 to 850, always the same for a customer. */
function scoreOf(customer) {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(customer)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return 300 + (hash % 551);
}

/** Returns undefined if the body is not JSON. */
async function readJson(incoming) {
  const chunks = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  try {
    return size <= maxBodyBytes ? JSON.parse(Buffer.concat(chunks).toString("utf8")) : undefined;
  } catch {
    return undefined;
  }
}

function send(response, status, data, headers = {}) {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(`${JSON.stringify(data)}\n`);
}

function setMode(port, mode) {
  const headers = { "content-type": "application/json" };
  const outgoing = request(
    { host, port, path: "/mode", method: "POST", headers, agent: false },
    (response) => {
      response.resume();
      if (response.statusCode === 200) console.log(`http://${host}:${port} is now in mode ${mode}`);
      else fail(`http://${host}:${port} responded with ${response.statusCode}`);
    },
  );
  outgoing.on("error", (error) => fail(`cannot connect to ${host}:${port}: ${error.message}`));
  outgoing.end(JSON.stringify({ mode }));
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exitCode = 1;
}
