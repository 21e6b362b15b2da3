import { describe, expect, it } from "vitest";
import type { VerifiedToken } from "../../../src/serve/auth/open-authenticator.js";
import { verifiedTokenCache } from "../../../src/serve/auth/open-authenticator.js";

const verified = (subject: string): VerifiedToken => ({
  caller: { subject, issuer: "i", scopes: [], delegated: false, actors: [] },
  exp: 1,
});

describe("verified tokens", () => {
  it("keep the most recently used tokens up to the limit", () => {
    const edition = {};
    const tokens = verifiedTokenCache(2);
    tokens.find(edition, "a");
    tokens.add(edition, "a", verified("a"));
    tokens.add(edition, "b", verified("b"));
    expect(tokens.find(edition, "a")).toEqual(verified("a"));
    tokens.add(edition, "c", verified("c"));
    const left = ["a", "b", "c"].filter((token) => tokens.find(edition, token) !== undefined);
    expect(left).toEqual(["a", "c"]);
  });

  it("are dropped when the keys change", () => {
    const [before, after] = [{}, {}];
    const tokens = verifiedTokenCache(2);
    tokens.find(before, "a");
    tokens.add(before, "a", verified("a"));
    expect(tokens.find(after, "a")).toBeUndefined();
    expect(tokens.find(before, "a")).toBeUndefined();
  });

  it("are not added if the keys changed during verification", () => {
    const [before, after] = [{}, {}];
    const tokens = verifiedTokenCache(2);
    tokens.find(before, "a");
    tokens.find(after, "b");
    tokens.add(before, "a", verified("a"));
    expect(tokens.find(after, "a")).toBeUndefined();
  });
});
