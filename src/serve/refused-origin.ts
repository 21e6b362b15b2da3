/** Where a request says that it goes to, and which page sent it. */
export interface Sent {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

export interface AllowedOrigins {
  /** Host names, whatever the port; undefined: any. */
  readonly hosts: readonly string[] | undefined;
  /** Such as `https://app.example`. */
  readonly origins: readonly string[];
  /** Whether pages of this machine may ask, too. */
  readonly loopback: boolean;
}

export const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

const hostAndPort = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;
const pageOrigin = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/** Whether it is one host, with or without a port. */
export const isHost = (text: string): boolean => hostAndPort.test(text);

/**
 * Why a request is not answered: a page that a browser shows could have sent it, under a name that leads to this
 * machine. Undefined: it is.
 */
export function refusedOrigin(
  { host, origin }: Sent,
  { hosts, origins, loopback }: AllowedOrigins,
): string | undefined {
  const name = hostAndPort.exec(host ?? "")?.[1]?.toLowerCase();
  if (hosts !== undefined && (name === undefined || !hosts.includes(name))) {
    return "this host is not served here";
  }
  if (origin === undefined || origins.includes(origin)) return undefined;
  const page = pageOrigin.exec(origin)?.[1]?.toLowerCase();
  if (loopback && page !== undefined && loopbackNames.includes(page)) return undefined;
  return "pages of this origin may not ask";
}
