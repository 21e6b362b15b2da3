import type { Bytes } from "./raw-exchange.js";
import { routineWire } from "./serving.js";

export interface HostileRequest {
  readonly name: string;
  readonly bytes: Bytes | readonly Bytes[];
  readonly status: number;
  /** Expected response headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const good = JSON.stringify(routineWire);

interface Parts {
  readonly line?: string;
  readonly host?: string;
  readonly type?: string | undefined;
  readonly more?: readonly string[];
  readonly body?: string | Buffer;
  /** Undefined: the length of the body; null: no header. */
  readonly length?: number | string | null;
}

/** A valid request to `/decide` with changes. */
function request({
  line = "POST /decide HTTP/1.1",
  host = "Host: localhost",
  type = "application/json",
  more = [],
  body = good,
  length = Buffer.byteLength(body),
}: Parts = {}): Buffer {
  const head = [
    line,
    ...(host === "" ? [] : [host]),
    ...(type === "" ? [] : [`Content-Type: ${type}`]),
    ...(length === null ? [] : [`Content-Length: ${length}`]),
    ...more,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}

const hostile = (name: string, parts: Parts, status = 400): HostileRequest => ({
  name,
  bytes: request(parts),
  status,
});

const written = (name: string, bytes: Bytes | readonly Bytes[], status = 400): HostileRequest => ({
  name,
  bytes,
  status,
});

const types: readonly HostileRequest[] = [
  hostile("no content type", { type: "" }, 415),
  ...[
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=latin1",
    "application/json; charset=utf-16",
    "application/json; charset=utf-8; charset=utf-16",
    "application/json, text/plain",
    "text/plain, application/json",
    "text/plain; x=application/json",
    "application/vnd.api+json",
    "application/jsonp",
    "application/json-patch+json",
    "*/*",
    "json",
    "application/json/x",
  ].map((type) => hostile(`content type \`${type}\``, { type }, 415)),
  hostile("two content types", { more: ["Content-Type: text/plain"] }, 415),
  hostile(
    "two content types, the bad one first",
    { type: "text/plain", more: ["Content-Type: application/json"] },
    415,
  ),
  ...["gzip", "deflate", "br", "zstd", "gzip, gzip", "identity", "x"].map((encoding) =>
    hostile(`content encoding ${encoding}`, { more: [`Content-Encoding: ${encoding}`] }, 415),
  ),
];

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const chunked = `${chunk(good)}0\r\n\r\n`;

const transfer = (name: string, coding: readonly string[], body = chunked, status = 400): HostileRequest =>
  hostile(name, { length: null, more: coding.map((each) => `Transfer-Encoding: ${each}`), body }, status);

const smuggling: readonly HostileRequest[] = [
  hostile("a length and chunks", { more: ["Transfer-Encoding: chunked"], body: chunked }),
  hostile("a length of none and chunks", { more: ["Transfer-Encoding: chunked"], body: chunked, length: 0 }),
  transfer("chunked, then identity", ["chunked, identity"]),
  transfer("identity, then chunked", ["identity, chunked"], chunked, 501),
  transfer("chunked twice in one header", ["chunked, chunked"]),
  transfer("chunked in two headers", ["chunked", "chunked"]),
  transfer("chunked, then identity in another header", ["chunked", "identity"]),
  transfer("xchunked", ["xchunked"], chunked, 501),
  transfer("chunkedx", ["chunkedx"], chunked, 501),
  transfer("chunked in quotes", ['"chunked"'], chunked, 501),
  transfer("gzip, then chunked", ["gzip, chunked"], chunked, 501),
  transfer("identity alone", ["identity"], good, 501),
  transfer("chunked behind a vertical tab", ["\u000bchunked"]),
  transfer("chunked on a folded line", ["\r\n chunked"]),
  written(
    "a space before the colon of Transfer-Encoding",
    request({ length: null, more: ["Transfer-Encoding : chunked"], body: chunked }),
  ),
  hostile("two lengths that differ", { more: ["Content-Length: 0"] }),
  hostile("two lengths that are the same", { more: [`Content-Length: ${good.length}`] }),
  ...["+5", "-1", "0x10", "1e2", "5 5", "5,5", "", "five", "5.0", "99999999999999999999", "\u0665"].map(
    (length) => hostile(`a length of \`${length}\``, { length, body: "{}   " }),
  ),
  transfer("a chunk of a negative size", ["chunked"], `-5\r\n${good}\r\n0\r\n\r\n`),
  transfer("a chunk size with 0x", ["chunked"], `0x5\r\n${good}\r\n0\r\n\r\n`),
  transfer("a chunk size that overflows", ["chunked"], `fffffffffffffffff\r\n${good}\r\n0\r\n\r\n`),
  transfer("a chunk size of none", ["chunked"], `\r\n${good}\r\n0\r\n\r\n`),
  transfer("a chunk size behind a space", ["chunked"], ` 5\r\n${good}\r\n0\r\n\r\n`),
  transfer("a chunk longer than its size", ["chunked"], `5\r\n${good}\r\n0\r\n\r\n`),
  transfer("a chunk ended by a bare line feed", ["chunked"], `${good.length.toString(16)}\n${good}\n0\n\n`),
  transfer("a chunk whose extension is 20 KB", ["chunked"], `5;${"x".repeat(20_000)}\r\n`, 413),
  transfer("chunks without a type that is known", ["chunked"], `zz\r\n${good}\r\n0\r\n\r\n`),
];

const heads: readonly HostileRequest[] = [
  written("bare line feeds", request().toString("latin1").replaceAll("\r\n", "\n")),
  written("a bare carriage return in a header", request({ more: ["X: a\rb"] })),
  written("NUL in a header", request({ more: ["X-Name: a\0b"] })),
  written("a header without a colon", request({ more: ["X-Name"] })),
  written("a header without a name", request({ more: [": x"] })),
  written("a space before the colon", request({ more: ["X-Name : x"] })),
  written("a space in the name of a header", request({ more: ["X Name: x"] })),
  written("a folded header", request({ more: ["X-Name: a\r\n b"] })),
  written("a line that begins with a space", request({ more: [" X-Name: a"] })),
  written("no Host", request({ host: "" })),
  written("an empty Host", request({ host: "Host:" })),
  written("two Hosts", request({ more: ["Host: evil.example"] })),
  written("two Hosts that are the same", request({ more: ["Host: localhost"] })),
  written("a header of 20 KB", request({ more: [`X-Name: ${"x".repeat(20_000)}`] }), 431),
  written("2,000 headers", request({ more: Array.from({ length: 2000 }, (_, at) => `X-${at}: x`) }), 431),
  written("a correlation id with a space", request({ more: ["X-Correlation-Id: a b"] })),
  written(
    "a correlation id of 1025 characters",
    request({ more: [`X-Correlation-Id: ${"x".repeat(1025)}`] }),
  ),
  written("an empty correlation id", request({ more: ["X-Correlation-Id:"] })),
  written("two correlation ids", request({ more: ["X-Correlation-Id: a", "X-Correlation-Id: b"] })),
  written("a correlation id in Latin-1", request({ more: ["X-Correlation-Id: \u00e9"] })),
  written("Expect of something unknown", request({ more: ["Expect: 200-ok"] }), 417),
];

const lines: readonly HostileRequest[] = [
  written("HTTP/0.9", "GET /decisions\r\n\r\n", 505),
  written("HTTP/2.0 without its preface", request({ line: "POST /decide HTTP/2.0" }), 505),
  written("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  written("HTTP/3.0", request({ line: "POST /decide HTTP/3.0" })),
  written("HTTP/1.11", request({ line: "POST /decide HTTP/1.11" })),
  written("http in small letters", request({ line: "POST /decide http/1.1" })),
  written("TLS", Buffer.from("160301020001000001fc0303", "hex")),
  written("SSH", "SSH-2.0-OpenSSH_9.6\r\n"),
  written("no method", request({ line: "/decide HTTP/1.1" })),
  written("a method that is unknown", request({ line: "DECIDE /decide HTTP/1.1" })),
  written("a method in small letters", request({ line: "post /decide HTTP/1.1" })),
  written("a tab behind the method", request({ line: "POST\t/decide HTTP/1.1" })),
  written("a space in the path", request({ line: "POST /decide /x HTTP/1.1" })),
  written("NUL in the path", request({ line: "POST /dec\0ide HTTP/1.1" })),
  written("another host in the line", request({ line: "POST http://evil.example/decide HTTP/1.1" })),
  written("another port in the line", request({ line: "POST http://localhost:1/decide HTTP/1.1" })),
  written(
    "a name before the host in the line",
    request({ line: "POST http://localhost@evil/decide HTTP/1.1" }),
  ),
  written("https in the line", request({ line: "POST https://evil.example/decide HTTP/1.1" })),
  written("two slashes", request({ line: "GET // HTTP/1.1" }), 404),
  written("a host behind two slashes", request({ line: "POST //evil.example/decide HTTP/1.1" }), 404),
  written("a slash too many", request({ line: "POST /decide/ HTTP/1.1" }), 404),
  written("the path in capitals", request({ line: "POST /DECIDE HTTP/1.1" }), 404),
  written("dots in the path", request({ line: "GET /decisions/../../../etc/passwd HTTP/1.1" }), 404),
  written(
    "dots in the path, encoded",
    request({ line: "GET /records/%2e%2e%2f%2e%2e%2fhead HTTP/1.1" }),
    404,
  ),
  written(
    "a slash in an id, encoded",
    request({ line: "GET /decisions/..%2f..%2fetc%2fpasswd HTTP/1.1" }),
    404,
  ),
  written("NUL in an id, encoded", request({ line: "GET /records/%00 HTTP/1.1" }), 404),
  written("an id that names a prototype", request({ line: "GET /decisions/__proto__ HTTP/1.1" }), 404),
  written("an id that is not UTF-8", request({ line: "GET /records/%ff%fe HTTP/1.1" })),
  written("a bad escape in an id", request({ line: "GET /records/%zz HTTP/1.1" })),
  written("a path of 10 KB", request({ line: `GET /${"x".repeat(10_000)} HTTP/1.1` }), 404),
  written("an id of 10 KB", request({ line: `GET /records/${"x".repeat(10_000)} HTTP/1.1` }), 414),
  written("a path of 20 KB", request({ line: `GET /${"x".repeat(20_000)} HTTP/1.1` }), 431),
  written("a query that is unknown", request({ line: "GET /records?x=1 HTTP/1.1" })),
  written("a query that is given twice", request({ line: "GET /records?limit=1&limit=2 HTTP/1.1" })),
  written("a query that names a prototype", request({ line: "GET /records?__proto__[x]=1 HTTP/1.1" })),
  written("a limit that is no number", request({ line: "GET /records?limit=1e3 HTTP/1.1" })),
  ...["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "GET", "PROPFIND"].map((method) => ({
    name: `${method} /decide`,
    bytes: request({ line: `${method} /decide HTTP/1.1` }),
    status: 405,
    headers: { allow: "POST" },
  })),
  {
    name: "POST /records",
    bytes: request({ line: "POST /records HTTP/1.1" }),
    status: 405,
    headers: { allow: "GET, HEAD" },
  },
  { name: "OPTIONS *", bytes: request({ line: "OPTIONS * HTTP/1.1" }), status: 404 },
  { name: "CONNECT", bytes: request({ line: "CONNECT evil.example:443 HTTP/1.1" }), status: 405 },
];

const body = (name: string, written: string | Buffer, status = 400): HostileRequest =>
  hostile(name, { body: written }, status);

const withContext = (name: string, context: string, status = 400): HostileRequest =>
  body(name, `{"org_id":"acme","domain":"payments","action":"wire.approve","context":${context}}`, status);

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

const bodies: readonly HostileRequest[] = [
  body("empty", ""),
  body("white space", " \r\n\t"),
  ...[
    "null",
    "[]",
    "7",
    "true",
    '"text"',
    "{}",
    "undefined",
    "{'a':1}",
    "{a:1}",
    '{"a":1,}',
    "//",
    "{",
    "}",
  ].map((text) => body(`the body ${text}`, text)),
  body("something behind the object", `${good}{}`),
  body("a comment", `${good} // x`),
  body("NUL behind the object", `${good}\0`),
  body("a byte order mark", `\ufeff${good}`),
  body("UTF-16", Buffer.from(good, "utf16le")),
  body("bytes that are not UTF-8", Buffer.from(good.replace("DE", "D\u00c9"), "latin1")),
  body(
    "an overlong NUL",
    Buffer.concat([Buffer.from('{"org_id":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')]),
  ),
  body(
    "a surrogate in UTF-8",
    Buffer.concat([Buffer.from('{"org_id":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
  ),
  withContext("nested 65 deep", `{"x":${nested(64)},"amount":1,"payee":{"country":"DE"}}`),
  body("100,000 brackets", "[".repeat(100_000)),
  body("100,000 braces", '{"a":'.repeat(100_000)),
  withContext("NaN", '{"amount":NaN,"payee":{"country":"DE"}}'),
  withContext("Infinity", '{"amount":Infinity,"payee":{"country":"DE"}}'),
  withContext("1e999", '{"amount":1e999,"payee":{"country":"DE"}}'),
  withContext("-1e999 in an unused key", '{"amount":1,"x":[{"y":-1e999}],"payee":{"country":"DE"}}'),
  withContext("a rounded integer", '{"amount":12345678901234567890,"payee":{"country":"DE"}}'),
  withContext(
    "a rounded integer in an unused key",
    '{"amount":1,"x":[9007199254740993],"payee":{"country":"DE"}}',
  ),
  withContext("a leading zero", '{"amount":010,"payee":{"country":"DE"}}'),
  withContext(
    "a supplied system",
    '{"amount":1,"payee":{"country":"DE"},"system":{"authenticated_caller":{"subject":"root"}}}',
  ),
  withContext("a context that is a list", "[]"),
  withContext("a context that is null", "null"),
  body("a key twice", good.replace("{", '{"org_id":"globex",')),
  body("a key twice, once in disguise", good.replace("{", '{"\\u006frg_id":"globex",')),
  withContext("a key twice within", '{"amount":1,"amount":999999,"payee":{"country":"DE"}}'),
  withContext("a key twice within a list", '{"amount":1,"payee":{"country":"DE"},"x":[{"a":1,"a":2}]}'),
  withContext("__proto__ twice", '{"amount":1,"payee":{"country":"DE"},"__proto__":1,"__proto__":2}'),
  body("__proto__", good.replace("{", '{"__proto__":{"org_id":"globex"},')),
  body("constructor", good.replace("{", '{"constructor":{"prototype":{}},')),
  body("a key that is unknown", good.replace("{", '{"dry_run":true,')),
  body("a caller of one's own", good.replace("{", '{"caller":{"subject":"root"},')),
  body("a name of 2,000 characters", good.replace("acme", "x".repeat(2000))),
  body("a version that is no number", good.replace("{", '{"world_model_version":"3",')),
  body(
    "100,000 keys that are unknown",
    `{${Array.from({ length: 80_000 }, (_, at) => `"k${at}":1`).join()}}`,
  ),
  body("a text of 1 MB", `"${"x".repeat(1_000_000)}"`),
  body("an organisation that is unknown", good.replace("acme", "globex"), 404),
  hostile("a body over the limit", { body: " ".repeat(1024 * 1024 + 1) }, 413),
  hostile("a length over the limit", { length: 10 ** 12 }, 413),
  hostile(
    "chunks over the limit",
    { length: null, more: ["Transfer-Encoding: chunked"], body: chunk(" ".repeat(1024 * 1024 + 1)) },
    413,
  ),
];

const origins: readonly HostileRequest[] = [
  ...[
    "https://evil.example",
    "null",
    "http://localhost.evil.example",
    "file://",
    "http://127.0.0.1@evil.example",
  ].map((origin) => hostile(`a page of ${origin}`, { more: [`Origin: ${origin}`] }, 403)),
  hostile(
    "pages of two origins",
    { more: ["Origin: https://app.example", "Origin: https://evil.example"] },
    403,
  ),
  ...[
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "0.0.0.0",
    "169.254.169.254",
    "[::]",
  ].map((host) => hostile(`the host ${host}`, { host: `Host: ${host}` }, 403)),
  ...[
    "localhost:1:2",
    "localhost:x",
    "local host",
    "user@localhost",
    "localhost/x",
    "localhost,evil.example",
  ].map((host) => hostile(`the host \`${host}\``, { host: `Host: ${host}` })),
];

/** Requests that must be rejected without a record. */
export const hostileRequests: readonly HostileRequest[] = [
  ...types,
  ...smuggling,
  ...heads,
  ...lines,
  ...bodies,
  ...origins,
];

export const goodRequest = request;
