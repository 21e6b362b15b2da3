import type { FetchingConfiguration } from "./compose.js";
import { composeFetcher, isOpenStore, once, openSystemStore } from "./compose.js";
import type { DataEnrichmentClient } from "./enrichment/client.js";
import { createClient } from "./enrichment/client.js";
import type { Endpoints } from "./model/endpoint.js";
import type { Store } from "./model/store.js";
import type { StoreConfiguration } from "./store/open-store.js";

export interface DataEnrichmentOptions extends Pick<FetchingConfiguration, "env" | "onWarning"> {
  /** Endpoints as in a definition file. */
  readonly endpoints: Endpoints;
  /** Where answers and circuit states are kept; absent: in memory. */
  readonly store?: StoreConfiguration | Store;
}

/** Creates a client that fetches from endpoints in your own program, as `enrich` does. */
export function dataEnrichmentClient(options: DataEnrichmentOptions): DataEnrichmentClient {
  const { store = "memory" } = options;
  const fetcher = once(async () =>
    composeFetcher(isOpenStore(store) ? store : await openSystemStore(store), options),
  );
  return createClient(options.endpoints, fetcher);
}
