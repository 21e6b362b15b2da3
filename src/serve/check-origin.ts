export interface AllowedOrigins {
  /** Host names and addresses without a port; IPv6 with or without brackets. Undefined: any host. */
  readonly hosts: readonly string[] | undefined;
  /** As sent by browsers: scheme, host, and the port unless it is the default one. */
  readonly origins: readonly string[];
  /** Whether pages from loopback addresses are allowed, on any port. */
  readonly loopback?: boolean;
}

export const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** The headers `Host` and `Origin`. Duplicates of a header are joined by a comma, as HTTP defines. */
interface RequestOrigin {
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/** A host name or address with an optional port. */
const hostShape = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?)(?::(\d{1,5}))?$/i;

export const isHost = (text: string): boolean => hostShape.test(text);

/** Like `isHost`, for the values of --allow-host, where IPv6 needs no brackets. */
export const isValidAllowedHost = (text: string): boolean =>
  canonicalHostname(withBrackets(text)) !== undefined;

interface OriginRefusal {
  readonly message: string;
  readonly hint: string;
}

/**
 * Returns why a request is refused. A foreign `Host` shows DNS rebinding: a web page whose name resolves to this
 * machine. A foreign `Origin` shows a request from another web page. Programs send no origin.
 */
export function checkOrigin(
  { origin, host }: RequestOrigin,
  { hosts, origins, loopback = false }: AllowedOrigins,
): OriginRefusal | undefined {
  const hostRefusal = hosts === undefined ? undefined : checkHost(host, hosts);
  if (hostRefusal !== undefined) return hostRefusal;
  if (origin === undefined) return undefined;
  const pageOrigin = parseWebOrigin(origin);
  if (pageOrigin === undefined)
    return { message: "the origin is malformed or opaque", hint: opaqueOriginHint };
  if (origins.some((each) => parseWebOrigin(each) === pageOrigin)) return undefined;
  if (loopback && loopbackNames.includes(/^https?:\/\/(.+?)(?::\d+)?$/.exec(pageOrigin)?.[1] ?? ""))
    return undefined;
  return {
    message: `the origin \`${pageOrigin}\` is not allowed`,
    hint: `the server option --allow-origin ${pageOrigin} allows it`,
  };
}

const opaqueOriginHint =
  "send the request from a page of a web server; local files and sandboxed frames are not allowed";

function checkHost(host: string | undefined, hosts: readonly string[]): OriginRefusal | undefined {
  const hint = "send the host of the server's URL in the header `host`";
  if (host === undefined || host === "") return { message: "the request has no host", hint };
  const name = canonicalHostname(host);
  if (name === undefined) return { message: "the host is malformed", hint };
  if (hosts.some((each) => canonicalHostname(withBrackets(each)) === name)) return undefined;
  return {
    message: `the host \`${name}\` is not allowed`,
    hint: `the server option --allow-host ${name} allows it`,
  };
}

/** Hosts and origins beyond this number are checked without the cache. */
const maxCached = 1000;

/** Returns `checkOrigin` with a cache, because nearly all requests have the same host and origin. */
export function originChecker(
  allowed: AllowedOrigins,
): (request: RequestOrigin) => OriginRefusal | undefined {
  const cache = new Map<string, OriginRefusal | undefined>();
  return (request) => {
    const key =
      request.origin === undefined ? (request.host ?? "") : `${request.host ?? ""}\n${request.origin}`;
    const cached = cache.get(key);
    if (cached !== undefined || cache.has(key)) return cached;
    const refusal = checkOrigin(request, allowed);
    if (cache.size < maxCached) cache.set(key, refusal);
    return refusal;
  };
}

/** Returns the host name as URLs write it; undefined: it is malformed. */
function canonicalHostname(host: string): string | undefined {
  const [, name, port] = hostShape.exec(host) ?? [];
  if (name === undefined || Number(port ?? 0) > 65535) return undefined;
  try {
    return new URL(`http://${name.replace(/\.$/, "")}`).hostname;
  } catch {
    return undefined;
  }
}

const withBrackets = (host: string): string => (/^[0-9a-f.]*:[0-9a-f:.]*$/i.test(host) ? `[${host}]` : host);

/**
 * Returns an origin as browsers write it. It has no path, user name or password. Local files and sandboxed frames send
 * `null`, which identifies no page, so it is not accepted.
 */
export function parseWebOrigin(text: string): string | undefined {
  const [, scheme, host] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\\\s]+)$/i.exec(text) ?? [];
  if (scheme === undefined || host === undefined || canonicalHostname(host) === undefined) return undefined;
  try {
    const { protocol, host: canonical } = new URL(text);
    return `${protocol}//${canonical}`;
  } catch {
    return undefined;
  }
}
