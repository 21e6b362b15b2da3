import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { parseDuration } from "../../definition/duration.js";
import type { TokenOptions } from "../../serve/auth/authenticate.js";
import type { RateLimit, RateLimits } from "../../serve/http/rate-limits.js";
import type { AllowedOrigins } from "../../serve/check-origin.js";
import { isValidAllowedHost, loopbackNames, parseWebOrigin } from "../../serve/check-origin.js";
import type { ExitCode } from "../exit-codes.js";
import type { DecideFlags } from "../flags.js";
import { addApprovalFlag, addDurabilityFlag, addStoreFlags } from "../flags.js";
import type { Io } from "../io.js";

export function addServeCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("serve")
    .option("--host <host>", "where to listen (else AGENT33_HOST, or 127.0.0.1)")
    .option("--port <port>", "the port; 0 takes a free one (else AGENT33_PORT, or 3333)")
    .option("--jwks <file|url>", "the public keys that tokens are signed with (else AGENT33_JWKS)")
    .option("--issuer <iss>", "who signs the tokens (else AGENT33_ISSUER)")
    .option("--audience <aud>", "whom the tokens are for (else AGENT33_AUDIENCE)")
    .option("--algorithms <list>", "the only algorithms that count, such as ES256,EdDSA")
    .option("--clock-skew <duration>", "by how much clocks may differ", "30s")
    .option("--require-scopes", "a token without scopes permits nothing; else it permits everything")
    .option("--rate-per-caller <rate>", "such as 100/1s or none (with tokens 1000/1s, else none)")
    .option("--rate-per-org <rate>", "the same for each organisation (with tokens 5000/1s, else none)")
    .option("--max-body <bytes>", "the largest body that is read", "1048576")
    .option("--max-in-flight <n>", "so many requests are answered at a time", "1024")
    .option("--request-timeout <duration>", "within which a request must have come", "10s")
    .option("--grace <duration>", "how long what is under way may take when it is told to end", "8s")
    .option("--allow-host <names>", "further names that it is reached by")
    .option("--allow-origin <origins>", "pages that may ask from a browser, such as https://app.example")
    .option("--public-metrics", "tell metrics to those without a token, too")
    .option("--mcp", "let agents in at /mcp, too (streamable HTTP)")
    .option("--decisions <dir>", "the directory of definitions")
    .option("-q, --quiet", "log only what goes wrong");
  addApprovalFlag(addDurabilityFlag(addStoreFlags(command)))
    .summary("answer over HTTP")
    .description(
      "Answers over HTTP what the command line answers: POST /decide, /decisions/ID/evaluate, /decisions/ID/dry-run, " +
        "/check, /results and /precedents; GET /decisions, /records, /records/ID/explain, " +
        "/orgs/ORG/domains/DOMAIN/actions, /openapi.json, /metrics, /healthz and /readyz. Without --jwks it listens to " +
        "this machine alone. Changed definitions are taken up as they are saved, at once on SIGHUP; what would break " +
        "something is not. SIGTERM lets it finish what it has begun.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision serve
  $ agent-33 decision serve --port 8080 --mcp
  $ agent-33 decision serve --host 0.0.0.0 --jwks https://id.example/jwks.json --issuer https://id.example --audience agent-33`,
    )
    .action(async (flags: Omit<ServeFlags, "color">) => {
      const asked = { ...flags, color: false };
      const options = serveOptions(asked, io);
      const { runServer } = await import("../run-server.js");
      done(await runServer(options, asked, io));
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
  readonly allowHost?: string;
  readonly allowOrigin?: string;
  readonly publicMetrics?: boolean;
  readonly mcp?: boolean;
}

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined: nobody is asked for a token. */
  readonly tokens: TokenOptions | undefined;
  readonly rateLimits: RateLimits;
  readonly maxBodyBytes: number;
  readonly maxInFlight: number;
  /** In milliseconds, as the grace is. */
  readonly requestTimeout: number;
  readonly grace: number;
  readonly allowedOrigins: AllowedOrigins;
  readonly publicMetrics: boolean;
  readonly mcp: boolean;
}

/** What flags and environment say; throws where that would not be safe, or is not clear. */
export function serveOptions(flags: ServeFlags, { env }: Io): ServeOptions {
  const host = flags.host ?? (env["AGENT33_HOST"] || "127.0.0.1");
  const tokens = tokenOptions(flags, env);
  if (tokens === undefined && !isLoopback(host)) throw unprotectedHost(host);
  return {
    host,
    port: parsePort(flags, env),
    tokens,
    rateLimits: parseRates(flags, tokens !== undefined),
    maxBodyBytes: parseInteger("--max-body", flags.maxBody, { least: 1024, most: 64 * 1024 * 1024 }),
    maxInFlight: parseInteger("--max-in-flight", flags.maxInFlight, { least: 1, most: 100_000 }),
    requestTimeout: parseMilliseconds("--request-timeout", flags.requestTimeout),
    grace: parseMilliseconds("--grace", flags.grace),
    allowedOrigins: allowedOrigins(flags, host, tokens !== undefined),
    publicMetrics: flags.publicMetrics ?? false,
    mcp: flags.mcp ?? false,
  };
}

function parsePort({ port }: ServeFlags, env: Io["env"]): number {
  const bounds = { least: 0, most: 65_535 };
  if (port !== undefined) return parseInteger("--port", port, bounds);
  return parseInteger("AGENT33_PORT", env["AGENT33_PORT"] || "3333", bounds);
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

const unprotectedHost = (host: string): DecisionError =>
  new DecisionError(
    "usage",
    `without tokens nobody but this machine may ask, and \`${host}\` is more than that`,
    {
      hint: "give --jwks, --issuer and --audience, or leave --host out",
    },
  );

function tokenOptions(flags: ServeFlags, env: Io["env"]): TokenOptions | undefined {
  const skew = parseMilliseconds("--clock-skew", flags.clockSkew, { least: 0, most: 300_000 });
  const jwks = flags.jwks ?? (env["AGENT33_JWKS"] || undefined);
  const issuer = flags.issuer ?? (env["AGENT33_ISSUER"] || undefined);
  const audience = flags.audience ?? (env["AGENT33_AUDIENCE"] || undefined);
  if (jwks === undefined && issuer === undefined && audience === undefined) {
    if (flags.requireScopes !== true && flags.algorithms === undefined) return undefined;
    throw new DecisionError(
      "usage",
      "without keys no tokens are asked for, so nothing can be asked of them",
      {
        hint: "give --jwks, --issuer and --audience, too",
      },
    );
  }
  if (jwks === undefined || issuer === undefined || audience === undefined) {
    throw new DecisionError("usage", "--jwks, --issuer and --audience belong together", {
      hint: "a token counts only if it is signed with one of the keys, by this issuer, and for this audience",
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

/** Where callers are known, none of them may take up everything. */
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
  throw new DecisionError("usage", `${flag} must be so many per time (got \`${text}\`)`, {
    hint: `such as ${flag} 100/1s, 6000/1m, or none`,
  });
}

function allowedOrigins(flags: ServeFlags, host: string, hasTokens: boolean): AllowedOrigins {
  const hosts = parseList(flags.allowHost).map(parseHost);
  const own = host.includes(":") ? `[${host}]` : host;
  return {
    // Whoever has a token was not led here by a page of somebody else.
    hosts: hasTokens && hosts.length === 0 ? undefined : [...loopbackNames, own.toLowerCase(), ...hosts],
    origins: parseList(flags.allowOrigin).map(parseOrigin),
    loopback: !hasTokens,
  };
}

function parseHost(text: string): string {
  if (isValidAllowedHost(text)) return text.toLowerCase();
  throw new DecisionError("usage", `--allow-host must be the name of a host (got \`${text}\`)`, {
    hint: "such as --allow-host decisions.example",
  });
}

function parseOrigin(text: string): string {
  const origin = parseWebOrigin(text);
  if (origin !== undefined) return origin;
  throw new DecisionError("usage", `--allow-origin must be the origin of a page (got \`${text}\`)`, {
    hint: "scheme and host, and nothing after them, such as --allow-origin https://app.example.org",
  });
}

const parseList = (text: string | undefined): readonly string[] =>
  (text ?? "").split(",").flatMap((each) => each.trim() || []);

interface Bounds {
  readonly least: number;
  readonly most: number;
}

function parseInteger(flag: string, text: string, { least, most }: Bounds): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw new DecisionError(
    "usage",
    `${flag} must be a whole number from ${least} to ${most} (got \`${text}\`)`,
  );
}

function parseMilliseconds(
  flag: string,
  text: string,
  { least, most }: Bounds = { least: 1, most: 3_600_000 },
): number {
  const duration = (parseDuration(text) ?? NaN) / 1000;
  if (text === "0" && least === 0) return 0;
  if (duration >= least && duration <= most) return duration;
  throw new DecisionError("usage", `${flag} must be a duration up to ${most / 1000}s (got \`${text}\`)`, {
    hint: `such as ${flag} 10s`,
  });
}
