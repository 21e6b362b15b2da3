const parse = -32700;
const invalid = -32600;
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

export interface Garbage {
  readonly name: string;
  readonly sent: string | Buffer;
  /** Undefined: no response. */
  readonly answer?: { readonly id: number | string | null; readonly code: number };
}

/** Invalid lines and the expected responses. */
export const garbage: readonly Garbage[] = [
  { name: "an empty line", sent: "\n" },
  { name: "spaces", sent: "   \t \r\n" },
  { name: "words", sent: "hello\n", answer: { id: null, code: parse } },
  { name: "a request of HTTP", sent: "GET / HTTP/1.1\r\n", answer: { id: null, code: parse } },
  { name: "JSON that ends early", sent: '{"jsonrpc":"2.0","id":1,\n', answer: { id: null, code: parse } },
  { name: "two messages", sent: `${JSON.stringify(ping)}${line(ping)}`, answer: { id: null, code: parse } },
  {
    name: "bytes that are not UTF-8",
    sent: Buffer.from([0xff, 0xfe, 0x0a]),
    answer: { id: null, code: parse },
  },
  { name: "zeros", sent: Buffer.from([0, 0, 0x0a]), answer: { id: null, code: parse } },
  {
    name: "a rounded integer",
    sent: '{"jsonrpc":"2.0","id":5,"method":"ping","params":{"n":9007199254740993}}\n',
    answer: { id: 5, code: invalid },
  },
  {
    name: "a rounded id",
    sent: '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}\n',
    answer: { id: null, code: invalid },
  },
  {
    name: "a duplicate key",
    sent: '{"jsonrpc":"2.0","id":6,"method":"ping","method":"tools/list"}\n',
    answer: { id: 6, code: invalid },
  },
  { name: "a number", sent: "42\n", answer: { id: null, code: invalid } },
  { name: "a text", sent: '"ping"\n', answer: { id: null, code: invalid } },
  { name: "null", sent: "null\n", answer: { id: null, code: invalid } },
  { name: "an empty object", sent: "{}\n", answer: { id: null, code: invalid } },
  { name: "an empty batch", sent: "[]\n", answer: { id: null, code: invalid } },
  { name: "a batch", sent: line([ping, ping]), answer: { id: null, code: invalid } },
  { name: "another version", sent: line({ ...ping, jsonrpc: "1.0" }), answer: { id: 1, code: invalid } },
  { name: "an id of null", sent: line({ ...ping, id: null }), answer: { id: null, code: invalid } },
  { name: "an id that is a list", sent: line({ ...ping, id: [1] }), answer: { id: null, code: invalid } },
  { name: "a fraction as id", sent: line({ ...ping, id: 1.5 }), answer: { id: null, code: invalid } },
  { name: "no method", sent: '{"jsonrpc":"2.0","id":"a"}\n', answer: { id: "a", code: invalid } },
  { name: "a number as method", sent: line({ ...ping, method: 7 }), answer: { id: 1, code: invalid } },
  { name: "params in a list", sent: line({ ...ping, params: [1] }), answer: { id: 1, code: invalid } },
  {
    name: "keys outside the protocol",
    sent: line({ ...ping, x: 1 }),
    answer: { id: 1, code: invalid },
  },
  {
    name: "an unknown method",
    sent: line({ ...ping, method: "x/y" }),
    answer: { id: 1, code: -32601 },
  },
  {
    name: "a tool without a name",
    sent: line({ ...ping, method: "tools/call" }),
    answer: { id: 1, code: -32602 },
  },
  { name: "a notification that is not there", sent: '{"jsonrpc":"2.0","method":"x/y"}\n' },
  { name: "a response without a request", sent: '{"jsonrpc":"2.0","id":77,"result":{}}\n' },
  {
    name: "an error without a request",
    sent: '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}\n',
  },
  { name: "a broken answer", sent: '{"jsonrpc":"2.0","id":77,"result":7}\n' },
  {
    name: "an endless line",
    sent: `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(4.5 * 1024 * 1024)}"}\n`,
    answer: { id: null, code: invalid },
  },
  {
    name: "nested lists",
    sent: `${"[".repeat(200_000)}${"]".repeat(200_000)}\n`,
    answer: { id: null, code: invalid },
  },
];
