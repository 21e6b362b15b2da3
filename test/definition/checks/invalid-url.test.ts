import { describe, expect, it } from "vitest";
import { invalidUrlReason } from "../../../src/definition/checks/check-endpoints.js";

const noUrl = "it is not a URL such as https://example.com/score";
const otherScheme = "it must start with https:// or http://";
const credentials = "it must not contain a user name or password: use `auth`";
const fragment = "it must not have a `#` part, which is never sent";
const template = "it is not a template: use `params` for values that vary";

describe("the URL of an endpoint", () => {
  it.each([
    "https://example.com",
    "http://example.com:8080/score?kind=full&at=a@b.example",
    "HTTPS://EXAMPLE.com/Score",
    "https://[2606:4700::1111]/",
    "https://bücher.example/preis",
    "https://example.com/users/@me",
  ])("may be %s", (url) => {
    expect(invalidUrlReason(url)).toBeUndefined();
  });

  it.each([
    ["", noUrl],
    ["example.com/score", noUrl],
    ["//example.com/score", noUrl],
    ["/etc/passwd", noUrl],
    ["https:example.com", noUrl],
    ["https:/example.com", noUrl],
    ["https:///example.com", noUrl],
    ["https://", noUrl],
    ["https://?score", noUrl],
    ["https:\\\\example.com", noUrl],
    ["https://example.com\\@127.0.0.1/", noUrl],
    ["https://exam\nple.com/", noUrl],
    ["https://exam\tple.com/", noUrl],
    [" https://example.com/", noUrl],
    ["https://example.com/ ", noUrl],
    ["https://exa mple.com/", noUrl],
    ["https://example.com:port/", noUrl],
    ["https://example.com:65536/", noUrl],
    ["https://1.2.3.4.5/", noUrl],
    ["https://256.0.0.1/", noUrl],
    ["https://[::1/", noUrl],
    ["https://[fe80::1%25eth0]/", noUrl],
    ["https://exam%00ple.com/", noUrl],
    ["ftp://example.com/score", otherScheme],
    ["file:///etc/passwd", otherScheme],
    ["gopher://example.com/", otherScheme],
    ["ws://example.com/", otherScheme],
    ["data:application/json,{}", otherScheme],
    ["javascript:alert(1)", otherScheme],
    ["unix:/var/run/docker.sock", otherScheme],
    ["localhost:3000/score", otherScheme],
    ["httpss://example.com/", otherScheme],
    ["https://user:password@example.com/", credentials],
    ["https://user@example.com/", credentials],
    ["https://:password@example.com/", credentials],
    ["https://@example.com/", credentials],
    ["https://example.com@127.0.0.1/", credentials],
    ["https://a@b@example.com/", credentials],
    ["https://example.com/#score", fragment],
    ["https://example.com/score?a=1#", fragment],
    ["https://example.com/{{ customer.id }}", template],
    ["https://${ region }.example.com/", template],
  ])("may not be %j", (url, reason) => {
    expect(invalidUrlReason(url)).toBe(reason);
  });
});
