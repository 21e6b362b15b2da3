import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { listenOn } from "../../src/cli/run-server.js";
import { main } from "../../src/cli/main.js";
import type { ServeFlags } from "../../src/cli/commands/serve.js";
import { serveOptions } from "../../src/cli/commands/serve.js";
import { DecisionError } from "../../src/errors.js";
import { fakeIo } from "./fake-io.js";

const usual: ServeFlags = {
  color: false,
  clockSkew: "30s",
  maxBody: "1048576",
  maxInFlight: "1024",
  requestTimeout: "10s",
  grace: "8s",
  drainDelay: "0",
};

const tokens = { jwks: "keys.json", issuer: "https://id.example", audience: "agent-33" };

const optionsFor = (flags: Partial<ServeFlags>, env: Readonly<Record<string, string>> = {}): object =>
  serveOptions({ ...usual, ...flags }, fakeIo({ env }));

describe("the options of a server", () => {
  it("are safe where nothing is said", () => {
    expect(optionsFor({})).toEqual({
      host: "127.0.0.1",
      port: 3333,
      tokens: undefined,
      rateLimits: { caller: undefined, org: undefined },
      maxBodyBytes: 1024 * 1024,
      maxInFlight: 1024,
      requestTimeout: 10_000,
      grace: 8_000,
      drainDelay: 0,
      allowedOrigins: {
        hosts: ["localhost", "127.0.0.1", "[::1]", "127.0.0.1"],
        origins: [],
        loopback: true,
      },
      publicMetrics: false,
      mcp: false,
    });
  });

  it.each<{ name: string; flags?: Partial<ServeFlags>; env?: Record<string, string>; means: object }>([
    { name: "a port", flags: { port: "0" }, means: { port: 0 } },
    { name: "a port of the environment", env: { AGENT33_PORT: "8080" }, means: { port: 8080 } },
    {
      name: "a port of the flag first",
      flags: { port: "1" },
      env: { AGENT33_PORT: "2" },
      means: { port: 1 },
    },
    {
      name: "an empty variable",
      env: { AGENT33_PORT: "", AGENT33_HOST: "" },
      means: { port: 3333, host: "127.0.0.1" },
    },
    { name: "the other loopback", flags: { host: "::1" }, means: { host: "::1" } },
    { name: "any loopback", flags: { host: "127.8.9.1" }, means: { host: "127.8.9.1" } },
    {
      name: "tokens",
      flags: { ...tokens, host: "0.0.0.0" },
      means: {
        host: "0.0.0.0",
        tokens: { ...tokens, algorithms: [], clockSkewSeconds: 30, requireScopes: false },
        rateLimits: { caller: { count: 1000, per: 1000 }, org: { count: 5000, per: 1000 } },
        allowedOrigins: { hosts: undefined, origins: [], loopback: false },
      },
    },
    {
      name: "tokens of the environment",
      env: { AGENT33_JWKS: "k", AGENT33_ISSUER: "i", AGENT33_AUDIENCE: "a" },
      means: { tokens: { jwks: "k", issuer: "i", audience: "a" } },
    },
    {
      name: "what tokens must be like",
      flags: { ...tokens, algorithms: "ES256, EdDSA,", clockSkew: "0", requireScopes: true },
      means: { tokens: { algorithms: ["ES256", "EdDSA"], clockSkewSeconds: 0, requireScopes: true } },
    },
    {
      name: "rates",
      flags: { ratePerCaller: "6000/1m", ratePerOrg: "10/s" },
      means: { rateLimits: { caller: { count: 6000, per: 60_000 }, org: { count: 10, per: 1000 } } },
    },
    {
      name: "no rates",
      flags: { ...tokens, ratePerCaller: "none", ratePerOrg: "none" },
      means: { rateLimits: { caller: undefined, org: undefined } },
    },
    {
      name: "names and origins",
      flags: { ...tokens, allowHost: "API.example", allowOrigin: "https://app.example,https://b.example" },
      means: {
        allowedOrigins: {
          hosts: ["localhost", "127.0.0.1", "[::1]", "127.0.0.1", "api.example"],
          origins: ["https://app.example", "https://b.example"],
        },
      },
    },
    {
      name: "origins in any spelling, and hosts with a port or without brackets",
      flags: {
        allowHost: "api.example:443,fe80::1",
        allowOrigin: "HTTPS://App.example:443, http://[::1]:80",
      },
      means: {
        allowedOrigins: {
          hosts: ["localhost", "127.0.0.1", "[::1]", "127.0.0.1", "api.example:443", "fe80::1"],
          origins: ["https://app.example", "http://[::1]"],
        },
      },
    },
    {
      name: "times",
      flags: { requestTimeout: "1500ms", grace: "1m", drainDelay: "5s" },
      means: { requestTimeout: 1500, grace: 60_000, drainDelay: 5_000 },
    },
  ])("may say $name", ({ flags = {}, env = {}, means }) => {
    expect(optionsFor(flags, env)).toMatchObject(means);
  });

  it.each<{ flags?: Partial<ServeFlags>; env?: Record<string, string>; says: string }>([
    { flags: { host: "0.0.0.0" }, says: "cannot listen on `0.0.0.0` without authentication" },
    { flags: { host: "::" }, says: "cannot listen on `::` without authentication" },
    { flags: { host: "" }, says: "without authentication" },
    { flags: { host: "127.0.0.1.evil.example" }, says: "without authentication" },
    { env: { AGENT33_HOST: "10.0.0.1" }, says: "cannot listen on `10.0.0.1` without authentication" },
    ...["-1", "65536", "x", "", "1e3", "80.5", " 80", "0x50"].map((port) => ({
      flags: { port },
      says: "--port must be a whole number from 0 to 65535",
    })),
    { env: { AGENT33_PORT: "http" }, says: "(got `http`)" },
    { flags: { jwks: "k" }, says: "--jwks, --issuer and --audience must be used together" },
    { flags: { issuer: "i", audience: "a" }, says: "must be used together" },
    { flags: { ...tokens, clockSkew: "6m" }, says: "--clock-skew must be a duration up to 300s" },
    ...["6m", "soon", "", "-1s"].map((clockSkew) => ({
      flags: { clockSkew },
      says: "--clock-skew must be a duration up to 300s",
    })),
    ...["app.example", "https://app.example/", "https://", "*", "null", "https://a@b", "https://a b"].map(
      (origin) => ({
        flags: { allowOrigin: `https://good.example,${origin}` },
        says: `--allow-origin must be a web origin (got \`${origin}\`)`,
      }),
    ),
    ...["https://api.example", "api.example/", "*", "*.example", "a b", "api.example:99999"].map((host) => ({
      flags: { allowHost: host },
      says: `--allow-host must be a host name (got \`${host}\`)`,
    })),
    ...["0/1s", "1", "1/", "/1s", "-1/1s", "1/0s", "x/1s", "1/x", "1.5/1s", "1e3/1s"].map((rate) => ({
      flags: { ratePerCaller: rate },
      says: `--rate-per-caller must be a number of requests per duration (got \`${rate}\`)`,
    })),
    { flags: { ratePerOrg: "many" }, says: "--rate-per-org must be" },
    { flags: { maxBody: "10" }, says: "--max-body must be a whole number from 1024 to 67108864" },
    { flags: { maxInFlight: "0" }, says: "--max-in-flight must be a whole number from 1" },
    { flags: { requestTimeout: "0" }, says: "--request-timeout must be a duration" },
    { flags: { requestTimeout: "10" }, says: "--request-timeout must be a duration" },
    { flags: { grace: "2h" }, says: "--grace must be a duration up to 3600s" },
    { flags: { drainDelay: "2h" }, says: "--drain-delay must be a duration up to 3600s" },
  ])("may not say $flags $env", ({ flags = {}, env = {}, says }) => {
    const parse = (): object => optionsFor(flags, env);
    expect(parse).toThrow(DecisionError);
    expect(parse).toThrow(says);
  });
});

describe("decision serve", () => {
  const run = async (...words: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
    const io = fakeIo({ env: { AGENT33_DECISIONS: "decisions", NO_COLOR: "1" } });
    return { code: await main(["decision", "serve", ...words], io), ...io.written };
  };

  it("does not listen on other addresses without authentication", async () => {
    expect(await run("--host", "0.0.0.0")).toEqual({
      code: 2,
      out: "",
      err:
        "error: cannot listen on `0.0.0.0` without authentication\n" +
        "hint: use --jwks, --issuer and --audience, or remove --host\n",
    });
  });

  it.each([
    { name: "a file that is not there", jwks: "/nowhere/keys.json", says: "no such file" },
    { name: "a file without keys", jwks: "package.json", says: "`package.json`" },
    { name: "a URL that is not safe", jwks: "http://id.example/keys", says: "id.example" },
  ])("reports unusable keys at start: $name", async ({ jwks, says }) => {
    const { code, out, err } = await run("--port", "0", "--jwks", jwks, "--issuer", "i", "--audience", "a");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(says);
    expect(err).toMatch(/^error: .*\nhint: .*\n$/);
  });

  it("reports an unknown algorithm at start", async () => {
    const { code, err } = await run(
      ...["--port", "0", "--jwks", "k", "--issuer", "i", "--audience", "a", "--algorithms", "HS256"],
    );
    expect(code).toBe(2);
    expect(err).toContain("`HS256` is not secure");
  });

  it("prints a hint if the port is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, out, err } = await run("--port", String(port));
    other.close();
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      `error: cannot listen on \`127.0.0.1\`, port ${port}: address already in use\n` +
        "hint: stop the other process, or choose another port with --port; 0 picks a free one\n",
    );
  });

  it.each(["EACCES", "EADDRNOTAVAIL", "ENOTFOUND"])(
    "fails with a hint if the server cannot listen: %s",
    async (code) => {
      const listen = (): Promise<AddressInfo> => Promise.reject(Object.assign(new Error("no"), { code }));
      await expect(listenOn({ listen }, { host: "h", port: 1 })).rejects.toMatchObject({
        code: "network_failed",
        hint: expect.stringContaining("choose") as string,
      });
    },
  );
});
