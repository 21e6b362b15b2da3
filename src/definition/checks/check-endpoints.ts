import type { DiagnosticText, Finding } from "../diagnostics.js";
import type { Path } from "../yaml-source.js";
import { isForbiddenKey } from "../../expression/path.js";
import type { Auth, Endpoint, Endpoints } from "../../model/endpoint.js";

/** Checks endpoints that fit the schema; paths are relative to the document. */
export function checkEndpoints(endpoints: Endpoints): readonly Finding[] {
  return Object.entries(endpoints).flatMap(([name, endpoint]) => {
    const path = ["endpoints", name];
    return [
      ...(isForbiddenKey(name)
        ? [{ path: ["endpoints"], key: name, message: `\`${name}\` cannot be a name` }]
        : []),
      ...checkUrl(endpoint, path),
      ...checkDurations(endpoint, path),
      ...checkHeaders(endpoint, path),
    ];
  });
}

function checkUrl({ url }: Endpoint, path: Path): readonly Finding[] {
  const finding = invalidUrlReason(url);
  return finding === undefined
    ? []
    : [{ path: [...path, "url"], message: `the URL cannot be used: ${finding}` }];
}

/** Durations of 0 make no sense here. */
function checkDurations(endpoint: Endpoint, path: Path): readonly Finding[] {
  const { timeout, cache, rate_limit: limit, circuit_breaker: breaker } = endpoint;
  const written: readonly (readonly [Path, string | undefined])[] = [
    [["timeout"], timeout],
    [["cache", "ttl"], cache?.ttl],
    [["rate_limit", "per"], limit?.per],
    [["circuit_breaker", "timeout"], breaker?.timeout],
    [["retry", "base"], endpoint.retry?.base],
    [["retry", "max"], endpoint.retry?.max],
  ];
  return written.flatMap(([at, text]) => {
    if (text === undefined || /[1-9]/.test(text)) return [];
    const message = `\`${String(at.at(-1))}\` must be longer than 0 (got ${JSON.stringify(text)})`;
    const hint = at[0] === "cache" ? "remove `cache` to disable caching" : undefined;
    return [{ path: [...path, ...at], message, hint }];
  });
}

/** Headers that the HTTP client sets, and those that would change where a request goes. */
const reservedHeaders = [
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

function checkHeaders({ headers = {}, auth }: Endpoint, path: Path): readonly Finding[] {
  const ofAuth = auth === undefined ? undefined : authHeader(auth);
  const seen = new Set<string>();
  const findings = Object.keys(headers).flatMap((key) => {
    const name = key.toLowerCase();
    const isSeen = seen.has(name);
    seen.add(name);
    const at = { path: [...path, "headers"], key };
    if (isSeen) return [{ ...at, message: `the header \`${key}\` is used twice` }];
    if (reservedHeaders.includes(name)) return [{ ...at, message: `the header \`${key}\` cannot be set` }];
    if (name !== ofAuth?.toLowerCase()) return [];
    return [
      { ...at, message: `the header \`${key}\` is already set by \`auth\``, hint: "remove one of them" },
    ];
  });
  if (ofAuth === undefined || !reservedHeaders.includes(ofAuth.toLowerCase())) return findings;
  return [
    ...findings,
    { path: [...path, "auth", "header"], message: `the header \`${ofAuth}\` cannot be set` },
  ];
}

/** The header that authenticates a request. */
function authHeader(auth: Auth): string {
  return auth.type === "api_key" ? (auth.header ?? "X-API-Key") : "Authorization";
}

const urlPattern = /^https?:\/\/[^/?#\\\s]+[^\\\s]*$/i;

/** Returns why the URL of an endpoint is invalid; never contains the URL, which may include a password. */
export function invalidUrlReason(url: string): string | undefined {
  if (/\{\{|\$\{/.test(url)) return "it is not a template: use `params` for values that vary";
  if (/^[a-z][a-z0-9+.-]*:/i.test(url) && !/^https?:/i.test(url))
    return "it must start with https:// or http://";
  // A URL parser corrects what it can, so that a request might go to another host than a reader expects.
  if (!urlPattern.test(url) || !URL.canParse(url)) return "it is not a URL such as https://example.com/score";
  if (authorityOf(url).includes("@")) return "it must not contain a user name or password: use `auth`";
  if (url.includes("#")) return "it must not have a `#` part, which is never sent";
  return undefined;
}

const authorityOf = (url: string): string => /^[^:]+:\/\/([^/?#]*)/.exec(url)?.[1] ?? "";

const secretsHint = "use `auth` with an environment variable";

/** Finds values in an endpoint that look like secrets. The messages do not contain them. */
export function findSecrets(name: string, { url, headers = {}, auth }: Endpoint): readonly DiagnosticText[] {
  const inAuth = Object.entries(auth ?? {})
    .filter(([key, value]) => key.endsWith("_key") && looksLikeSecret(value))
    .map(([key]) => ({
      message: `\`${key}\` of \`${name}\` looks like a secret, not like the name of a variable`,
      hint: "put the secret into an environment variable, and write the name of the variable here",
    }));
  const inHeaders = Object.entries(headers)
    .filter(([key, value]) => value !== "" && (isSecretName(key) || hasSecretForm(value)))
    .map(([key]) => ({
      message: `the header \`${key}\` of \`${name}\` looks like a secret`,
      hint: secretsHint,
    }));
  const inUrl = [...new URL(url).searchParams]
    .filter(([key, value]) => value !== "" && (isSecretName(key) || hasSecretForm(value)))
    .map(([key]) => ({
      message: `\`${key}\` in the URL of \`${name}\` looks like a secret`,
      hint: secretsHint,
    }));
  return [...inAuth, ...inHeaders, ...inUrl];
}

/** Whether the name of an environment variable looks like a secret itself. */
export const looksLikeSecret = (name: string): boolean => hasSecretForm(name) || /[a-z]\d|\d[a-z]/.test(name);

const secretNames =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|(?:^|[-_])(?:token|secret|password|passwd|pwd|signature|credentials?)$|^key$|(?:api|access|auth|private|secret|subscription)[-_]?key$/i;

const isSecretName = (name: string): boolean => secretNames.test(name.replace(/([a-z])([A-Z])/g, "$1_$2"));

/** The formats of secrets of well-known services. */
const secretForms =
  /^(?:bearer|basic|token|apikey)\s+\S|^(?:sk|pk|rk)[-_]|^gh[pousr]_|^xox[a-z]-|^AKIA[0-9A-Z]{12}|^eyJ[\w-]+\./i;

const hasSecretForm = (value: string): boolean =>
  secretForms.test(value) || /^[0-9a-f]{32,}$/i.test(value) || isRandom(value);

/** A long text of upper-case letters, lower-case letters and digits. */
const isRandom = (value: string): boolean =>
  /^[\w+/=-]{20,}$/.test(value) && [/[a-z]/, /[A-Z]/, /(?:\d\D*){3}/].every((kind) => kind.test(value));
