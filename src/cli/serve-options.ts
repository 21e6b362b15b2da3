import { DecisionError } from "../errors.js";
import { parseDuration } from "../record/moment.js";
import type { TokenOptions } from "../serve/auth/authenticate.js";
import type { Rate, Rates } from "../serve/http/rate-limits.js";
import type { AllowedOrigins } from "../serve/refused-origin.js";
import { isAllowableHost, loopbackNames, webOrigin } from "../serve/refused-origin.js";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";

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
  readonly rates: Rates;
  readonly largestBody: number;
  readonly mostInFlight: number;
  /** In milliseconds, as the grace is. */
  readonly requestTimeout: number;
  readonly grace: number;
  readonly allowed: AllowedOrigins;
  readonly publicMetrics: boolean;
  readonly mcp: boolean;
}

/** What flags and environment say; throws where that would not be safe, or is not clear. */
export function serveOptions(flags: ServeFlags, { env }: Io): ServeOptions {
  const host = flags.host ?? (env["AGENT33_HOST"] || "127.0.0.1");
  const tokens = tokenOptions(flags, env);
  if (tokens === undefined && !isLoopback(host)) throw exposed(host);
  return {
    host,
    port: portOf(flags, env),
    tokens,
    rates: ratesOf(flags, tokens !== undefined),
    largestBody: whole("--max-body", flags.maxBody, { least: 1024, most: 64 * 1024 * 1024 }),
    mostInFlight: whole("--max-in-flight", flags.maxInFlight, { least: 1, most: 100_000 }),
    requestTimeout: milliseconds("--request-timeout", flags.requestTimeout),
    grace: milliseconds("--grace", flags.grace),
    allowed: allowedOrigins(flags, host, tokens !== undefined),
    publicMetrics: flags.publicMetrics ?? false,
    mcp: flags.mcp ?? false,
  };
}

function portOf({ port }: ServeFlags, env: Io["env"]): number {
  const bounds = { least: 0, most: 65_535 };
  if (port !== undefined) return whole("--port", port, bounds);
  return whole("AGENT33_PORT", env["AGENT33_PORT"] || "3333", bounds);
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

const exposed = (host: string): DecisionError =>
  new DecisionError(
    "usage",
    `without tokens nobody but this machine may ask, and \`${host}\` is more than that`,
    {
      hint: "give --jwks, --issuer and --audience, or leave --host out",
    },
  );

function tokenOptions(flags: ServeFlags, env: Io["env"]): TokenOptions | undefined {
  const skew = milliseconds("--clock-skew", flags.clockSkew, { least: 0, most: 300_000 });
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
    algorithms: listed(flags.algorithms),
    clockSkewSeconds: skew / 1000,
    requireScopes: flags.requireScopes ?? false,
  };
}

/** Where callers are known, none of them may take up everything. */
function ratesOf({ ratePerCaller, ratePerOrg }: ServeFlags, hasTokens: boolean): Rates {
  return {
    caller: rateOf("--rate-per-caller", ratePerCaller ?? (hasTokens ? "1000/1s" : "none")),
    org: rateOf("--rate-per-org", ratePerOrg ?? (hasTokens ? "5000/1s" : "none")),
  };
}

function rateOf(flag: string, text: string): Rate | undefined {
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
  const hosts = listed(flags.allowHost).map(hostOf);
  const own = host.includes(":") ? `[${host}]` : host;
  return {
    // Whoever has a token was not led here by a page of somebody else.
    hosts: hasTokens && hosts.length === 0 ? undefined : [...loopbackNames, own.toLowerCase(), ...hosts],
    origins: listed(flags.allowOrigin).map(originOf),
    loopback: !hasTokens,
  };
}

function hostOf(text: string): string {
  if (isAllowableHost(text)) return text.toLowerCase();
  throw new DecisionError("usage", `--allow-host must be the name of a host (got \`${text}\`)`, {
    hint: "such as --allow-host decisions.example",
  });
}

function originOf(text: string): string {
  const origin = webOrigin(text);
  if (origin !== undefined) return origin;
  throw new DecisionError("usage", `--allow-origin must be the origin of a page (got \`${text}\`)`, {
    hint: "scheme and host, and nothing after them, such as --allow-origin https://app.example.org",
  });
}

const listed = (text: string | undefined): readonly string[] =>
  (text ?? "").split(",").flatMap((each) => each.trim() || []);

interface Bounds {
  readonly least: number;
  readonly most: number;
}

function whole(flag: string, text: string, { least, most }: Bounds): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw new DecisionError(
    "usage",
    `${flag} must be a whole number from ${least} to ${most} (got \`${text}\`)`,
  );
}

function milliseconds(
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
