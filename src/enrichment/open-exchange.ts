import type { Environment } from "./auth.js";
import type { Exchange } from "./exchange.js";
import type { LookUp } from "./resolve.js";

export interface ExchangeOptions {
  /** Holds the secrets that endpoints name. */
  readonly env: Environment;
  /** Absent: as the system does. */
  readonly lookUp?: LookUp;
  /** Certificates of the authorities that are trusted, in PEM; absent: those that Node trusts. */
  readonly authorities?: string;
}

/** The way to endpoints; what it needs of Node is loaded with the first request. */
export function openExchange(options: ExchangeOptions): Exchange {
  let opened: Promise<Exchange> | undefined;
  return async (asked) => {
    opened ??= import("./ask.js").then(({ asking }) => asking(options));
    return (await opened)(asked);
  };
}
