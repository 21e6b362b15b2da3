import { describe, expect, it } from "vitest";
import type { LookUpHost } from "../../src/enrichment/resolve-host.js";
import { ask, exchanging, httpServer, watchSockets } from "./servers.js";

/** Spellings that a URL parser reads as addresses of this machine or its network. */
const spelled: readonly (readonly [host: string, address: string])[] = [
  ["127.0.0.1", "127.0.0.1"],
  ["127.0.0.1.", "127.0.0.1"],
  ["127.1", "127.0.0.1"],
  ["127.0.1", "127.0.0.1"],
  ["2130706433", "127.0.0.1"],
  ["017700000001", "127.0.0.1"],
  ["0177.0.0.1", "127.0.0.1"],
  ["0x7f.1", "127.0.0.1"],
  ["0x7f000001", "127.0.0.1"],
  ["0X7F.0x0.0x0.0x1", "127.0.0.1"],
  ["127.0.0.0x1", "127.0.0.1"],
  ["%31%32%37.0.0.1", "127.0.0.1"],
  ["１２７.０.０.１", "127.0.0.1"],
  ["①②⑦.⓪.⓪.①", "127.0.0.1"],
  ["127。0。0。1", "127.0.0.1"],
  ["[::1]", "::1"],
  ["[0:0:0:0:0:0:0:1]", "::1"],
  ["[::ffff:127.0.0.1]", "::ffff:7f00:1"],
  ["[::ffff:7f00:1]", "::ffff:7f00:1"],
  ["[::127.0.0.1]", "::7f00:1"],
  ["[64:ff9b::7f00:1]", "64:ff9b::7f00:1"],
  ["[2002:7f00:1::]", "2002:7f00:1::"],
  ["10.0.0.1", "10.0.0.1"],
  ["012.0.0.1", "10.0.0.1"],
  ["167772161", "10.0.0.1"],
  ["172.16.0.1", "172.16.0.1"],
  ["192.168.1", "192.168.0.1"],
  ["100.64.0.1", "100.64.0.1"],
  ["[fd12:3456::1]", "fd12:3456::1"],
];

/** Never called, whatever is allowed. */
const forbidden: readonly (readonly [host: string, address: string])[] = [
  ["0.0.0.0", "0.0.0.0"],
  ["0", "0.0.0.0"],
  ["0x0", "0.0.0.0"],
  ["[::]", "::"],
  ["[::ffff:0.0.0.0]", "::ffff:0:0"],
  ["169.254.169.254", "169.254.169.254"],
  ["2852039166", "169.254.169.254"],
  ["0xA9FEA9FE", "169.254.169.254"],
  ["0251.0376.0251.0376", "169.254.169.254"],
  ["[::ffff:169.254.169.254]", "::ffff:a9fe:a9fe"],
  ["[fd00:ec2::254]", "fd00:ec2::254"],
  ["169.254.1.1", "169.254.1.1"],
  ["[fe80::1]", "fe80::1"],
  ["[fec0::1]", "fec0::1"],
  ["224.0.0.1", "224.0.0.1"],
  ["[ff02::1]", "ff02::1"],
  ["255.255.255.255", "255.255.255.255"],
  ["4294967295", "255.255.255.255"],
  ["240.0.0.1", "240.0.0.1"],
  ["192.0.2.1", "192.0.2.1"],
  ["198.18.0.1", "198.18.0.1"],
  ["203.0.113.1", "203.0.113.1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["[64:ff9b:1::a00:1]", "64:ff9b:1::a00:1"],
];

/** Resolves every host to the same addresses and records the look-ups. */
function leadingTo(...answers: readonly (readonly string[])[]): LookUpHost & { readonly asked: string[] } {
  const asked: string[] = [];
  const lookUp = (host: string): Promise<readonly string[]> => {
    asked.push(host);
    return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1] ?? []);
  };
  return Object.assign(lookUp, { asked });
}

describe("a forbidden address", () => {
  it.each(spelled)("is recognised as %s, and nothing is sent", async (host, address) => {
    const [server, sockets, lookUp] = [await httpServer(), watchSockets(), leadingTo(["127.0.0.1"])];
    const exchanged = await ask(`http://${host}:${server.port}/`, {
      allow_private: false,
      exchange: exchanging({ lookUp }),
    });
    expect(exchanged).toEqual({
      kind: "refused",
      message: expect.stringMatching(
        /^`(.+)` is a (?:loopback|private) address, which is allowed only with `allow_private: true`$/,
      ) as string,
    });
    expect(exchanged).toMatchObject({ message: expect.stringContaining(`\`${address}\``) as string });
    expect([server.connections(), sockets, lookUp.asked]).toEqual([0, [], []]);
  });

  it.each(forbidden)(
    "is never called: %s, even where private addresses are allowed",
    async (host, address) => {
      const [sockets, lookUp] = [watchSockets(), leadingTo(["127.0.0.1"])];
      for (const scheme of ["http", "https"]) {
        const exchanged = await ask(`${scheme}://${host}/`, { exchange: exchanging({ lookUp }) });
        expect(exchanged).toEqual({
          kind: "refused",
          message: expect.stringMatching(/^`(.+)` is an? .+, which is never allowed$/) as string,
        });
        expect(exchanged).toMatchObject({ message: expect.stringContaining(`\`${address}\``) as string });
      }
      expect([sockets, lookUp.asked]).toEqual([[], []]);
    },
  );

  it.each([
    ["127.0.0.1", "a loopback address"],
    ["127.8.8.8", "a loopback address"],
    ["::1", "a loopback address"],
    ["::ffff:127.0.0.1", "a loopback address"],
    ["10.1.2.3", "a private address"],
    ["fd00::1", "a private address"],
    ["0.0.0.0", "an unspecified address"],
    ["::", "an unspecified address"],
    ["fe80::1%lo", "a link-local address"],
    ["169.254.169.254", "a cloud metadata address"],
    ["not-an-address", "not an IP address"],
  ])("is found behind a host name: %s", async (address, what) => {
    const [server, sockets] = [await httpServer(), watchSockets()];
    const exchanged = await ask(`http://rates.example:${server.port}/`, {
      allow_private: false,
      exchange: exchanging({ lookUp: leadingTo([address]) }),
    });
    expect(exchanged).toMatchObject({
      kind: "refused",
      message: expect.stringContaining(
        `\`rates.example\` resolves to \`${address}\`, ${what}, which is `,
      ) as string,
    });
    expect([server.connections(), sockets]).toEqual([0, []]);
  });

  it.each([
    ["first", ["127.0.0.1", "1.1.1.1"]],
    ["last", ["1.1.1.1", "2606:4700::1111", "127.0.0.1"]],
  ])("refuses a host that also has allowed addresses, %s", async (_where, addresses) => {
    const [server, sockets] = [await httpServer(), watchSockets()];
    const exchanged = await ask(`http://rates.example:${server.port}/`, {
      allow_private: false,
      exchange: exchanging({ lookUp: leadingTo(addresses) }),
    });
    expect(exchanged).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("`127.0.0.1`, a loopback address") as string,
    });
    expect([server.connections(), sockets]).toEqual([0, []]);
  });

  it("refuses `localhost` as the system resolves it", async () => {
    const [server, sockets] = [await httpServer(), watchSockets()];
    expect(await ask(`http://localhost:${server.port}/`, { allow_private: false })).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("a loopback address") as string,
    });
    expect([server.connections(), sockets]).toEqual([0, []]);
  });

  it("is not reached by a host that resolves differently the second time", async () => {
    const [good, bad] = [await httpServer(), await httpServer()];
    const sockets = watchSockets();
    const lookUp = leadingTo(["127.0.0.1"], ["169.254.169.254"]);
    const exchange = exchanging({ lookUp });
    expect(await ask(`http://rates.example:${good.port}/`, { exchange })).toEqual({
      kind: "answer",
      data: null,
    });
    expect(lookUp.asked).toEqual(["rates.example"]);
    expect(sockets.map(({ remoteAddress }) => remoteAddress)).toEqual(["127.0.0.1"]);
    expect(await ask(`http://rates.example:${good.port}/`, { exchange })).toMatchObject({ kind: "refused" });
    expect([good.heard.length, bad.connections(), sockets.length]).toEqual([1, 0, 1]);
  });

  it("is not reached over an earlier connection to the host", async () => {
    const server = await httpServer();
    const sockets = watchSockets();
    const exchange = exchanging({ lookUp: leadingTo(["127.0.0.1"], ["::1"]) });
    await ask(`http://rates.example:${server.port}/`, { exchange });
    expect(await ask(`http://rates.example:${server.port}/`, { exchange })).toMatchObject({
      kind: "network",
    });
    expect([server.heard.length, sockets.length]).toEqual([1, 2]);
  });
});

describe("an allowed address", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["0x7f.1", "127.0.0.1"],
    ["[::ffff:127.0.0.1]", "::ffff:127.0.0.1"],
    ["rates.example", "127.0.0.1"],
  ])("is called: %s", async (host, address) => {
    const [server, sockets] = [await httpServer(), watchSockets()];
    const exchange = exchanging({ lookUp: leadingTo(["127.0.0.1"]) });
    expect(await ask(`http://${host}:${server.port}/`, { exchange })).toEqual({ kind: "answer", data: null });
    expect(sockets.map(({ remoteAddress }) => remoteAddress)).toEqual([address]);
  });

  it("is called where the address before it does not respond", async () => {
    const server = await httpServer();
    const exchange = exchanging({ lookUp: leadingTo(["::1", "127.0.0.1"]) });
    const exchanged = await ask(`http://rates.example:${server.port}/`, { exchange });
    expect([exchanged, server.heard.length]).toEqual([{ kind: "answer", data: null }, 1]);
    expect(server.heard[0]?.headers.host).toBe(`rates.example:${server.port}`);
  });
});

describe("a host name", () => {
  it.each([
    ["ENOTFOUND", "host `rates.example` not found"],
    ["EAI_AGAIN", "the name server did not respond for `rates.example`"],
    ["EAI_FAIL", "host `rates.example` could not be resolved"],
  ])("that cannot be resolved is a network failure: %s", async (code, message) => {
    const exchange = exchanging({ lookUp: () => Promise.reject(Object.assign(new Error("dns"), { code })) });
    expect(await ask("http://rates.example/", { exchange })).toEqual({ kind: "network", message });
  });

  it("without an address is a network failure", async () => {
    const exchange = exchanging({ lookUp: leadingTo([]) });
    expect(await ask("http://rates.example/", { exchange })).toEqual({
      kind: "network",
      message: "`rates.example` has no address",
    });
  });

  it("that is not resolved in time is a timeout", async () => {
    const exchange = exchanging({ lookUp: () => new Promise(() => undefined) });
    const signal = AbortSignal.timeout(20);
    expect(await ask("http://rates.example/", { exchange, signal })).toEqual({ kind: "timeout" });
  });

  it("is not looked up after the time is over", async () => {
    const lookUp = leadingTo(["127.0.0.1"]);
    const exchange = exchanging({ lookUp });
    expect(await ask("http://rates.example/", { exchange, signal: AbortSignal.abort() })).toEqual({
      kind: "timeout",
    });
    expect(lookUp.asked).toEqual([]);
  });
});

describe("a request that cannot be sent", () => {
  it.each([
    ["ftp://127.0.0.1/", "it must start with https:// or http://"],
    ["file:///etc/passwd", "it must start with https:// or http://"],
    ["http://user:canary@127.0.0.1/", "it must not contain a user name or password: use `auth`"],
    ["http://127.0.0.1/#canary", "it must not have a `#` part, which is never sent"],
    ["canary", "it is not a URL such as https://example.com/score"],
  ])("because of its URL is refused: %s", async (url, fault) => {
    const sockets = watchSockets();
    expect(await ask(url)).toEqual({ kind: "refused", message: `invalid URL: ${fault}` });
    expect(sockets).toEqual([]);
  });

  it.each([
    ["Host", "evil.example", "header `Host` cannot be set"],
    ["content-length", "0", "header `content-length` cannot be set"],
    ["Transfer-Encoding", "chunked", "header `Transfer-Encoding` cannot be set"],
    ["connection", "upgrade", "header `connection` cannot be set"],
    ["Accept-Encoding", "gzip", "header `Accept-Encoding` cannot be set"],
    ["x y", "1", "`x y` is not a valid header name"],
    ["", "1", "`` is not a valid header name"],
    ["x\r\ny", "1", "`x\\r\\ny` is not a valid header name"],
    [
      "x-kind",
      "a\r\nx-other: canary",
      "header `x-kind` contains characters that are not allowed in a header",
    ],
    ["x-kind", "a\u0000", "header `x-kind` contains characters that are not allowed in a header"],
    ["x-kind", "€", "header `x-kind` contains characters that are not allowed in a header"],
  ])("because of its headers is refused: %j: %j", async (name, value, message) => {
    const [server, sockets] = [await httpServer(), watchSockets()];
    expect(await ask(server.url, { headers: { [name]: value } })).toEqual({ kind: "refused", message });
    expect([server.connections(), sockets]).toEqual([0, []]);
  });
});
