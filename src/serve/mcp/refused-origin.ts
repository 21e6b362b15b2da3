export interface AllowedOrigins {
  /** Names and addresses without a port; IPv6 with or without brackets. */
  readonly hosts: readonly string[];
  /** As a browser sends them: scheme, host, and the port unless it is the usual one. */
  readonly origins: readonly string[];
}

/** `Host` and `Origin` as they were sent; a header that came twice is given joined by a comma, as HTTP has it. */
export interface SentOrigin {
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/** A name or an address, and perhaps a port: nothing else that a URL could begin with. */
const hostShape = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?)(?::(\d{1,5}))?$/i;

/**
 * Why a request is refused, if it is: a page that has its own name resolve to this machine sends that name as `Host`,
 * and any page in a browser sends its `Origin`. Programs send no origin.
 */
export function refusedOrigin(
  { origin, host }: SentOrigin,
  { hosts, origins }: AllowedOrigins,
): string | undefined {
  if (host === undefined || host === "") return "the request has no host";
  const name = hostname(host);
  if (name === undefined) return "the host is malformed";
  if (!hosts.some((each) => hostname(bracketed(each)) === name)) return `the host \`${name}\` is not ours`;
  if (origin === undefined) return undefined;
  const from = webOrigin(origin);
  if (from === undefined) return "the origin is malformed or opaque";
  if (origins.some((each) => webOrigin(each) === from)) return undefined;
  return `the origin \`${from}\` is not allowed`;
}

/** In the one way that it is written in URLs. */
function hostname(host: string): string | undefined {
  const [, name, port] = hostShape.exec(host) ?? [];
  if (name === undefined || Number(port ?? 0) > 65535) return undefined;
  try {
    return new URL(`http://${name.replace(/\.$/, "")}`).hostname;
  } catch {
    return undefined;
  }
}

const bracketed = (host: string): string => (/^[0-9a-f.]*:[0-9a-f:.]*$/i.test(host) ? `[${host}]` : host);

/** An origin has no path, no name and no password; that of a file or a sandbox is `null`, and could be anybody's. */
function webOrigin(text: string): string | undefined {
  const [, scheme, host] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\\\s]+)$/i.exec(text) ?? [];
  if (scheme === undefined || host === undefined || hostname(host) === undefined) return undefined;
  try {
    const { protocol, host: canonical } = new URL(text);
    return `${protocol}//${canonical}`;
  } catch {
    return undefined;
  }
}
