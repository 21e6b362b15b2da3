import { describe, expect, it } from "vitest";
import { checkOrigin } from "../../src/serve/check-origin.js";

const allowed = {
  hosts: ["localhost", "127.0.0.1", "::1", "decisions.example"],
  origins: ["https://app.example", "http://localhost:3000"],
};

const host = "127.0.0.1:8033";

describe("the origin of a request", () => {
  it.each([
    { name: "a program", host },
    { name: "a name without a port", host: "localhost" },
    { name: "any port", host: "localhost:65535" },
    { name: "a name in capitals", host: "LOCALHOST:8033" },
    { name: "a name with the dot of the root", host: "decisions.example.:443" },
    { name: "IPv6", host: "[::1]:8033" },
    { name: "IPv6 written at length", host: "[0:0:0:0:0:0:0:1]" },
    { name: "an allowed origin", host, origin: "https://app.example" },
    { name: "an allowed origin with its usual port", host, origin: "https://app.example:443" },
    { name: "an allowed origin in capitals", host, origin: "HTTPS://APP.EXAMPLE" },
    { name: "an allowed origin with a port", host, origin: "http://localhost:3000" },
  ])("is accepted: $name", ({ host, origin }: { host: string; origin?: string }) => {
    expect(checkOrigin({ host, origin }, allowed)).toBeUndefined();
  });

  it.each([
    { name: "no host", host: undefined },
    { name: "an empty host", host: "" },
    { name: "a rebound name", host: "evil.example:8033" },
    { name: "a name that begins as ours", host: "localhost.evil.example" },
    { name: "a name that ends as ours", host: "evil-localhost" },
    { name: "a name within ours", host: "sub.decisions.example" },
    { name: "a user before the host", host: "localhost@evil.example" },
    { name: "our name as a user", host: "localhost:80@evil.example" },
    { name: "a path behind the host", host: "localhost/evil" },
    { name: "two hosts", host: "localhost, evil.example" },
    { name: "a space before the host", host: " localhost" },
    { name: "a port that is none", host: "localhost:http" },
    { name: "a port too great", host: "localhost:65536" },
    { name: "an empty port", host: "localhost:" },
    { name: "another loopback address", host: "127.0.0.2" },
    { name: "all addresses", host: "0.0.0.0:8033" },
    { name: "an address as a number", host: "2130706434" },
    { name: "IPv6 without brackets", host: "::1" },
    { name: "IPv4 within IPv6", host: "[::ffff:7f00:2]" },
    { name: "a broken address", host: "[::1" },
    { name: "a name with a percent sign", host: "local%68ost" },
    { name: "a name of other letters", host: "ⓛocalhost" },
    { name: "a line break", host: "localhost\r\nx: y" },
  ])("is refused: $name", ({ host }: { host: string | undefined }) => {
    expect(checkOrigin({ host, origin: undefined }, allowed)?.message).toMatch(/host/);
  });

  it.each([
    { name: "an opaque one", origin: "null" },
    { name: "an empty one", origin: "" },
    { name: "another site", origin: "https://evil.example" },
    { name: "another scheme", origin: "http://app.example" },
    { name: "another port", origin: "https://app.example:8443" },
    { name: "the same host where no origin is allowed", origin: "http://127.0.0.1:8033" },
    { name: "a name that ends as an allowed one", origin: "https://evil-app.example" },
    { name: "a name that begins as an allowed one", origin: "https://app.example.evil.example" },
    { name: "a name within an allowed one", origin: "https://x.app.example" },
    { name: "a user before the host", origin: "https://app.example@evil.example" },
    { name: "a password", origin: "https://a:b@app.example" },
    { name: "a path", origin: "https://app.example/" },
    { name: "a query", origin: "https://app.example?x" },
    { name: "a fragment", origin: "https://app.example#x" },
    { name: "a backslash", origin: "https://app.example\\evil" },
    { name: "two of them", origin: "https://app.example, https://evil.example" },
    { name: "a file", origin: "file://" },
    { name: "an extension", origin: "chrome-extension://abcdef" },
    { name: "no scheme", origin: "app.example" },
    { name: "a wildcard", origin: "*" },
    { name: "a tab", origin: "https://app\t.example" },
  ])("is rejected although the host is allowed: $name", ({ origin }) => {
    expect(checkOrigin({ host, origin }, allowed)?.message).toMatch(/origin/);
  });

  it("is rejected if nothing is allowed", () => {
    const none = { hosts: [], origins: ["null", "*"] };
    expect(checkOrigin({ host, origin: undefined }, none)?.message).toMatch(/host/);
    expect(checkOrigin({ host, origin: "null" }, { ...none, hosts: ["127.0.0.1"] })?.message).toMatch(
      /origin/,
    );
  });
});
