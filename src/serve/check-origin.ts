export interface AllowedOrigins {
  /** Names and addresses without a port; IPv6 with or without brackets. Undefined: any. */
  readonly hosts: readonly string[] | undefined;
  /** As a browser sends them: scheme, host, and the port unless it is the usual one. */
  readonly origins: readonly string[];
  /** Whether pages of this machine may ask, whatever their port. */
  readonly loopback?: boolean;
}

export const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** `Host` and `Origin` as they were sent; a header that came twice is given joined by a comma, as HTTP has it. */
interface RequestOrigin {
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/** A name or an address, and perhaps a port: nothing else that a URL could begin with. */
const hostShape = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?)(?::(\d{1,5}))?$/i;

/** Whether it is one host, with or without a port. */
export const isHost = (text: string): boolean => hostShape.test(text);

/** The same for whoever writes it down: IPv6 needs no brackets there. */
export const isValidAllowedHost = (text: string): boolean =>
  canonicalHostname(withBrackets(text)) !== undefined;

/** Why a request is refused, and what could be done. */
interface OriginRefusal {
  readonly message: string;
  readonly hint: string;
}

/**
 * Why a request is refused, if it is: a page that has its own name resolve to this machine sends that name as `Host`,
 * and any page in a browser sends its `Origin`. Programs send no origin.
 */
export function checkOrigin(
  { origin, host }: RequestOrigin,
  { hosts, origins, loopback = false }: AllowedOrigins,
): OriginRefusal | undefined {
  const whyHost = hosts === undefined ? undefined : checkHost(host, hosts);
  if (whyHost !== undefined) return whyHost;
  if (origin === undefined) return undefined;
  const from = parseWebOrigin(origin);
  if (from === undefined) return { message: "the origin is malformed or opaque", hint: opaqueOriginHint };
  if (origins.some((each) => parseWebOrigin(each) === from)) return undefined;
  if (loopback && loopbackNames.includes(/^https?:\/\/(.+?)(?::\d+)?$/.exec(from)?.[1] ?? ""))
    return undefined;
  return {
    message: `the origin \`${from}\` is not allowed`,
    hint: `whoever runs the server can allow it with --allow-origin ${from}`,
  };
}

const opaqueOriginHint = "only pages that a web server serves can ask; files and sandboxes cannot";

function checkHost(host: string | undefined, hosts: readonly string[]): OriginRefusal | undefined {
  const hint = "name the server in the header `host`, as in its URL";
  if (host === undefined || host === "") return { message: "the request has no host", hint };
  const name = canonicalHostname(host);
  if (name === undefined) return { message: "the host is malformed", hint };
  if (hosts.some((each) => canonicalHostname(withBrackets(each)) === name)) return undefined;
  return {
    message: `the host \`${name}\` is not ours`,
    hint: `whoever runs the server can allow it with --allow-host ${name}`,
  };
}

/** So many names are remembered; whoever sends others has them looked at anew. */
const maxCached = 1000;

/** The same for all requests: nearly all of them are sent to the same name. */
export function originChecker(allowed: AllowedOrigins): (sent: RequestOrigin) => OriginRefusal | undefined {
  const known = new Map<string, OriginRefusal | undefined>();
  return (sent) => {
    const key = sent.origin === undefined ? (sent.host ?? "") : `${sent.host ?? ""}\n${sent.origin}`;
    const before = known.get(key);
    if (before !== undefined || known.has(key)) return before;
    const why = checkOrigin(sent, allowed);
    if (known.size < maxCached) known.set(key, why);
    return why;
  };
}

/** In the one way that it is written in URLs. */
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
 * An origin as browsers write it. It has no path, no name and no password; that of a file or a sandbox is `null`, and
 * could be anybody's.
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
