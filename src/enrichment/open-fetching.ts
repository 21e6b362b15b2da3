import { stopwatch, systemClock } from "../clock.js";
import type { Environment } from "./auth.js";
import type { FetcherOptions, OpenedFetcher } from "./fetcher.js";
import { openFetcher } from "./fetcher.js";
import { openExchange } from "./open-exchange.js";

export type FetchingOptions = Pick<FetcherOptions, "shelves" | "onAsking" | "onTrouble"> & {
  /** Holds the secrets that endpoints name. */
  readonly env: Environment;
};

/** A fetcher that asks the network. */
export function openFetching({ env, ...options }: FetchingOptions): OpenedFetcher {
  return openFetcher({
    ...options,
    exchange: openExchange({ env }),
    now: () => stopwatch() * 1000,
    sleep,
    random: Math.random,
    clock: systemClock,
  });
}

/** No timer can be set for longer. */
const longestTimer = 2 ** 31 - 1;

function sleep(microseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(Math.ceil(microseconds / 1000), longestTimer));
    signal?.addEventListener("abort", wake);
    if (signal?.aborted) wake();
  });
}
