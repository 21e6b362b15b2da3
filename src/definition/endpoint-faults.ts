import { isForbiddenKey } from "../expression/path.js";
import type { Auth, Endpoint, Endpoints } from "../model/endpoint.js";
import { urlFault } from "./endpoint-url.js";
import type { SchemaFault } from "./schema-problems.js";
import type { Path } from "./yaml-source.js";

/** What is wrong with endpoints that fit the schema; places are relative to the document. */
export function endpointFaults(endpoints: Endpoints): readonly SchemaFault[] {
  return Object.entries(endpoints).flatMap(([name, endpoint]) => {
    const path = ["endpoints", name];
    return [
      ...(isForbiddenKey(name)
        ? [{ path: ["endpoints"], key: name, message: `\`${name}\` cannot be a name` }]
        : []),
      ...urlFaults(endpoint, path),
      ...emptyDurations(endpoint, path),
      ...headerFaults(endpoint, path),
    ];
  });
}

function urlFaults({ url }: Endpoint, path: Path): readonly SchemaFault[] {
  const fault = urlFault(url);
  return fault === undefined ? [] : [{ path: [...path, "url"], message: `the URL cannot be used: ${fault}` }];
}

/** A time of nothing in which something is to happen. */
function emptyDurations(endpoint: Endpoint, path: Path): readonly SchemaFault[] {
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
    const message = `\`${String(at.at(-1))}\` must be longer than nothing (got ${JSON.stringify(text)})`;
    const hint = at[0] === "cache" ? "leave `cache` out to keep no answers" : undefined;
    return [{ path: [...path, ...at], message, hint }];
  });
}

/** What every request has anyway, and what would lead it elsewhere. */
const ownHeaders = [
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

function headerFaults({ headers = {}, auth }: Endpoint, path: Path): readonly SchemaFault[] {
  const ofAuth = auth === undefined ? undefined : authHeader(auth);
  const seen = new Set<string>();
  const faults = Object.keys(headers).flatMap((key) => {
    const name = key.toLowerCase();
    const isSeen = seen.has(name);
    seen.add(name);
    const at = { path: [...path, "headers"], key };
    if (isSeen) return [{ ...at, message: `the header \`${key}\` is there twice` }];
    if (ownHeaders.includes(name)) return [{ ...at, message: `the header \`${key}\` cannot be set` }];
    if (name !== ofAuth?.toLowerCase()) return [];
    return [
      { ...at, message: `the header \`${key}\` is set by \`auth\` already`, hint: "leave one of them out" },
    ];
  });
  if (ofAuth === undefined || !ownHeaders.includes(ofAuth.toLowerCase())) return faults;
  return [
    ...faults,
    { path: [...path, "auth", "header"], message: `the header \`${ofAuth}\` cannot be set` },
  ];
}

/** The header that tells who asks. */
export function authHeader(auth: Auth): string {
  return auth.type === "api_key" ? (auth.header ?? "X-API-Key") : "Authorization";
}
