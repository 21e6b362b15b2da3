import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { parseDuration } from "../../definition/duration.js";
import type { TokenOptions } from "../../serve/auth/authenticate.js";
import type { RateLimit, RateLimits } from "../../serve/http/rate-limits.js";
import type { AllowedOrigins } from "../../serve/check-origin.js";
import { isValidAllowedHost, loopbackNames, parseWebOrigin } from "../../serve/check-origin.js";
import type { ExitCode } from "../exit-codes.js";
import type { DecideFlags } from "../flags.js";
import { addApprovalFlag, addDurabilityFlag, addStoreFlags, addUnknownToolsFlag } from "../flags.js";
import type { Io } from "../io.js";

export function addServeCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("serve")
    .option("--host <host>", "address to listen on (default: AGENT33_HOST or 127.0.0.1)")
    .option("--port <port>", "port to listen on; 0 picks a free one (default: AGENT33_PORT or 3333)")
    .option("--jwks <file|url>", "public keys to verify tokens with (default: AGENT33_JWKS)")
    .option("--issuer <iss>", "required issuer of tokens (default: AGENT33_ISSUER)")
    .option("--audience <aud>", "required audience of tokens (default: AGENT33_AUDIENCE)")
    .option("--algorithms <list>", "allowed signature algorithms, such as ES256,EdDSA")
    .option("--clock-skew <duration>", "allowed clock skew of tokens", "30s")
    .option("--require-scopes", "reject tokens without scopes (by default they allow everything)")
    .option(
      "--rate-per-caller <rate>",
      "rate limit per caller, such as 100/1s, or none (default: 1000/1s with tokens, else none)",
    )
    .option("--rate-per-org <rate>", "rate limit per organisation (default: 5000/1s with tokens, else none)")
    .option("--max-body <bytes>", "maximum size of a request body", "1048576")
    .option("--max-in-flight <n>", "maximum number of concurrent requests", "1024")
    .option("--request-timeout <duration>", "maximum time to receive a request", "10s")
    .option("--drain-delay <duration>", "time to keep accepting requests at shutdown, while not ready", "0")
    .option("--grace <duration>", "maximum time to finish requests at shutdown", "8s")
    .option("--allow-host <names>", "further host names of the server, separated by commas")
    .option("--allow-origin <origins>", "web origins that may send requests, such as https://app.example")
    .option("--public-metrics", "serve /metrics without a token")
    .option("--mcp", "serve MCP at /mcp too (streamable HTTP)")
    .option("--decisions <dir>", "directory of definitions")
    .option("-q, --quiet", "log warnings and errors only");
  addApprovalFlag(addUnknownToolsFlag(addDurabilityFlag(addStoreFlags(command))))
    .summary("serve decisions over HTTP")
    .description(
      "Serve the same functions as the command line over HTTP: POST /decide, /decisions/ID/evaluate, /decisions/ID/dry-run, " +
        "/check, /results and /precedents; GET /decisions, /decisions/ID, /records, /records/ID, /records/ID/explain, " +
        "/orgs/ORG/domains/DOMAIN/actions, /openapi.json, /metrics, /healthz and /readyz. Without --jwks only " +
        "this machine can connect. Changed definitions are reloaded when saved, or at once on SIGHUP; invalid changes are " +
        "rejected. SIGTERM shuts down gracefully.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision serve
  $ agent-33 decision serve --port 8080 --mcp
  $ agent-33 decision serve --host 0.0.0.0 --audience agent-33 \\
      --issuer https://id.example --jwks https://id.example/jwks.json`,
    )
    .action(async (flags: Omit<ServeFlags, "color">) => {
      const allFlags = { ...flags, color: false };
      const options = serveOptions(allFlags, io);
      const { runServer } = await import("../run-server.js");
      done(await runServer(options, allFlags, io));
    });
}

export interface ServeFlags extends DecideFlags {
  readonly host?: string;
  readonly port?: string;
  readonly jwks?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly algorithms?: string;
  readonly clockSkew: string;
  readonly requireScopes?: boolean;
  readonly ratePerCaller?: string;
  readonly ratePerOrg?: string;
  readonly maxBody: string;
  readonly maxInFlight: string;
  readonly requestTimeout: string;
  readonly grace: string;
  readonly drainDelay: string;
  readonly allowHost?: string;
  readonly allowOrigin?: string;
  readonly publicMetrics?: boolean;
  readonly mcp?: boolean;
}

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined: no authentication. */
  readonly tokens: TokenOptions | undefined;
  readonly rateLimits: RateLimits;
  readonly maxBodyBytes: number;
  readonly maxInFlight: number;
  /** In milliseconds. */
  readonly requestTimeout: number;
  /** In milliseconds. */
  readonly grace: number;
  /** In milliseconds. */
  readonly drainDelay: number;
  readonly allowedOrigins: AllowedOrigins;
  readonly publicMetrics: boolean;
  readonly mcp: boolean;
}

/** Parses flags and environment. Throws if a value is invalid, or the server would be exposed without authentication. */
export function serveOptions(flags: ServeFlags, { env }: Io): ServeOptions {
  const host = flags.host ?? (env["AGENT33_HOST"] || "127.0.0.1");
  const tokens = tokenOptions(flags, env);
  if (tokens === undefined && !isLoopback(host)) throw unprotectedHost(host);
  return {
    host,
    port: parsePort(flags, env),
    tokens,
    rateLimits: parseRates(flags, tokens !== undefined),
    maxBodyBytes: parseInteger("--max-body", flags.maxBody, { min: 1024, max: 64 * 1024 * 1024 }),
    maxInFlight: parseInteger("--max-in-flight", flags.maxInFlight, { min: 1, max: 100_000 }),
    requestTimeout: parseMilliseconds("--request-timeout", flags.requestTimeout),
    grace: parseMilliseconds("--grace", flags.grace),
    drainDelay: parseMilliseconds("--drain-delay", flags.drainDelay, { min: 0, max: 3_600_000 }),
    allowedOrigins: allowedOrigins(flags, host, tokens !== undefined),
    publicMetrics: flags.publicMetrics ?? false,
    mcp: flags.mcp ?? false,
  };
}

function parsePort({ port }: ServeFlags, env: Io["env"]): number {
  const bounds = { min: 0, max: 65_535 };
  if (port !== undefined) return parseInteger("--port", port, bounds);
  return parseInteger("AGENT33_PORT", env["AGENT33_PORT"] || "3333", bounds);
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

const unprotectedHost = (host: string): DecisionError =>
  new DecisionError("usage", `cannot listen on \`${host}\` without authentication`, {
    hint: "use --jwks, --issuer and --audience, or remove --host",
  });

function tokenOptions(flags: ServeFlags, env: Io["env"]): TokenOptions | undefined {
  const skew = parseMilliseconds("--clock-skew", flags.clockSkew, { min: 0, max: 300_000 });
  const jwks = flags.jwks ?? (env["AGENT33_JWKS"] || undefined);
  const issuer = flags.issuer ?? (env["AGENT33_ISSUER"] || undefined);
  const audience = flags.audience ?? (env["AGENT33_AUDIENCE"] || undefined);
  if (jwks === undefined && issuer === undefined && audience === undefined) {
    if (flags.requireScopes !== true && flags.algorithms === undefined) return undefined;
    throw new DecisionError("usage", "--require-scopes and --algorithms require --jwks", {
      hint: "add --jwks, --issuer and --audience",
    });
  }
  if (jwks === undefined || issuer === undefined || audience === undefined) {
    throw new DecisionError("usage", "--jwks, --issuer and --audience must be used together", {
      hint: "add the missing ones; each can also be set with AGENT33_JWKS, AGENT33_ISSUER or AGENT33_AUDIENCE",
    });
  }
  return {
    jwks,
    issuer,
    audience,
    algorithms: parseList(flags.algorithms),
    clockSkewSeconds: skew / 1000,
    requireScopes: flags.requireScopes ?? false,
  };
}

/** With authentication there are default limits, so that one caller cannot use all capacity. */
function parseRates({ ratePerCaller, ratePerOrg }: ServeFlags, hasTokens: boolean): RateLimits {
  return {
    caller: parseRate("--rate-per-caller", ratePerCaller ?? (hasTokens ? "1000/1s" : "none")),
    org: parseRate("--rate-per-org", ratePerOrg ?? (hasTokens ? "5000/1s" : "none")),
  };
}

function parseRate(flag: string, text: string): RateLimit | undefined {
  if (text === "none") return undefined;
  const [, count = "", per = ""] = /^(\d{1,9})\/(.+)$/.exec(text) ?? [];
  const microseconds = parseDuration(/^\d/.test(per) ? per : `1${per}`);
  if (Number(count) >= 1 && microseconds !== undefined && microseconds >= 1_000) {
    return { count: Number(count), per: microseconds / 1000 };
  }
  throw new DecisionError("usage", `${flag} must be a number of requests per duration (got \`${text}\`)`, {
    hint: `such as ${flag} 100/1s, 6000/1m, or none`,
  });
}

function allowedOrigins(flags: ServeFlags, host: string, hasTokens: boolean): AllowedOrigins {
  const hosts = parseList(flags.allowHost).map(parseHost);
  const own = host.includes(":") ? `[${host}]` : host;
  return {
    // A web page of another site cannot send a token, so any host name is safe then.
    hosts: hasTokens && hosts.length === 0 ? undefined : [...loopbackNames, own.toLowerCase(), ...hosts],
    origins: parseList(flags.allowOrigin).map(parseOrigin),
    loopback: !hasTokens,
  };
}

function parseHost(text: string): string {
  if (isValidAllowedHost(text)) return text.toLowerCase();
  throw new DecisionError("usage", `--allow-host must be a host name (got \`${text}\`)`, {
    hint: "such as --allow-host decisions.example",
  });
}

function parseOrigin(text: string): string {
  const origin = parseWebOrigin(text);
  if (origin !== undefined) return origin;
  throw new DecisionError("usage", `--allow-origin must be a web origin (got \`${text}\`)`, {
    hint: "scheme and host without a path, such as --allow-origin https://app.example.org",
  });
}

const parseList = (text: string | undefined): readonly string[] =>
  (text ?? "").split(",").flatMap((each) => each.trim() || []);

interface Bounds {
  readonly min: number;
  readonly max: number;
}

function parseInteger(flag: string, text: string, { min, max }: Bounds): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new DecisionError("usage", `${flag} must be a whole number from ${min} to ${max} (got \`${text}\`)`);
}

function parseMilliseconds(
  flag: string,
  text: string,
  { min, max }: Bounds = { min: 1, max: 3_600_000 },
): number {
  const duration = (parseDuration(text) ?? NaN) / 1000;
  if (text === "0" && min === 0) return 0;
  if (duration >= min && duration <= max) return duration;
  throw new DecisionError("usage", `${flag} must be a duration up to ${max / 1000}s (got \`${text}\`)`, {
    hint: `such as ${flag} 10s`,
  });
}
