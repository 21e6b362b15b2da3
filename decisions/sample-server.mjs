/**
 * The credit bureau of the samples: a small server to fetch from, which can be told to misbehave.
 *
 *   node decisions/sample-server.mjs [PORT]        listens on 127.0.0.1, until Ctrl-C
 *   node decisions/sample-server.mjs MODE [PORT]   tells the one that is listening how to answer from now on
 *
 * PORT is 8733 where neither it nor the variable PORT is given; 0 takes one that is free. The key that it wants
 * to see in the header `X-API-Key` is what CREDIT_API_KEY says, else `demo`.
 *
 *   GET  /score?customer=c-1   the score of a customer, always the same one
 *   POST /score                the same, of the JSON `{"customer": "c-1"}`
 *   GET  /mode                 how it answers, and how many scores it was asked for
 *   POST /mode                 takes `{"mode": MODE}`
 *
 * The modes: `ok`; `failing` answers 503; `slow` takes ten seconds; `flaky` fails every other time; `limited`
 * answers 429 and asks for patience.
 */
import { createServer, request } from "node:http";
import { clearTimeout, setTimeout } from "node:timers";

const host = "127.0.0.1";
const modes = ["ok", "failing", "slow", "flaky", "limited"];
const slowness = 10_000;
const largestBody = 64 * 1024;

main(process.argv.slice(2));

function main(words) {
  const mode = modes.includes(words[0]) ? words[0] : undefined;
  const port = Number((mode === undefined ? words[0] : words[1]) ?? process.env.PORT ?? 8733);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return fail(`a port, or one of ${modes.join(", ")}, was expected (got \`${words.join(" ")}\`)`);
  }
  if (mode === undefined) listen(port);
  else tell(port, mode);
}

function listen(port) {
  const bureau = { mode: "ok", requests: 0, key: process.env.CREDIT_API_KEY || "demo" };
  const server = createServer((asked, answer) => {
    respond(bureau, asked, answer).catch(() => give(answer, 500, { error: "something went wrong" }));
  });
  server.on("error", (error) => fail(`it cannot listen on ${host}:${port}: ${error.message}`));
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

async function respond(bureau, asked, answer) {
  const { pathname, searchParams } = new URL(asked.url, `http://${host}`);
  const way = `${asked.method} ${pathname}`;
  const body = asked.method === "POST" ? await readJson(asked) : {};
  switch (way) {
    case "GET /mode":
      return give(answer, 200, { mode: bureau.mode, requests: bureau.requests });
    case "POST /mode":
      if (!modes.includes(body?.mode))
        return give(answer, 400, { error: `mode is one of ${modes.join(", ")}` });
      bureau.mode = body.mode;
      return give(answer, 200, { mode: bureau.mode, requests: bureau.requests });
    case "GET /score":
      return score(bureau, asked, { answer, customer: searchParams.get("customer") });
    case "POST /score":
      return score(bureau, asked, { answer, customer: body?.customer });
    default:
      return give(answer, 404, { error: `there is no ${way}` });
  }
}

function score(bureau, asked, { answer, customer }) {
  bureau.requests++;
  if (asked.headers["x-api-key"] !== bureau.key) return give(answer, 401, { error: "the key is not right" });
  const found = () =>
    typeof customer === "string" && customer !== ""
      ? give(answer, 200, { customer, score: scoreOf(customer) })
      : give(answer, 400, { error: "whose score? `customer` is missing" });
  switch (bureau.mode) {
    case "failing":
      return give(answer, 503, { error: "out of order" });
    case "flaky":
      return bureau.requests % 2 === 1 ? give(answer, 503, { error: "out of order" }) : found();
    case "limited":
      return give(answer, 429, { error: "not so fast" }, { "retry-after": "1" });
    case "slow": {
      const waiting = setTimeout(found, slowness);
      asked.socket.once("close", () => clearTimeout(waiting));
      return;
    }
    default:
      return found();
  }
}

/** From 300 to 850, and the same on every machine. */
function scoreOf(customer) {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(customer)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return 300 + (hash % 551);
}

/** What is no JSON says nothing. */
async function readJson(asked) {
  const pieces = [];
  let size = 0;
  for await (const piece of asked) {
    size += piece.length;
    if (size <= largestBody) pieces.push(piece);
  }
  try {
    return size <= largestBody ? JSON.parse(Buffer.concat(pieces).toString("utf8")) : undefined;
  } catch {
    return undefined;
  }
}

function give(answer, status, data, headers = {}) {
  if (answer.headersSent || answer.destroyed) return;
  answer.writeHead(status, { "content-type": "application/json", ...headers });
  answer.end(`${JSON.stringify(data)}\n`);
}

function tell(port, mode) {
  const headers = { "content-type": "application/json" };
  const asking = request({ host, port, path: "/mode", method: "POST", headers, agent: false }, (answer) => {
    answer.resume();
    if (answer.statusCode === 200) console.log(`http://${host}:${port} is ${mode} from now on`);
    else fail(`http://${host}:${port} answered ${answer.statusCode}`);
  });
  asking.on("error", (error) => fail(`nobody listens on ${host}:${port}: ${error.message}`));
  asking.end(JSON.stringify({ mode }));
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exitCode = 1;
}
