import type { Store } from "../model/store.js";
import type { JsonlOptions } from "./drivers/jsonl/store.js";
import { openJsonlStore } from "./drivers/jsonl/store.js";

/** Where a store is, and how it keeps things. */
export type StoreConfiguration = Omit<JsonlOptions, "clock" | "newId" | "files"> | "memory";

/** The store that was asked for; a driver is loaded when it is chosen. */
export async function openStore(
  configuration: StoreConfiguration,
  tools: Pick<JsonlOptions, "clock" | "newId">,
): Promise<Store> {
  if (configuration !== "memory") return openJsonlStore({ ...configuration, ...tools });
  const { openMemoryStore } = await import("./drivers/memory.js");
  return openMemoryStore();
}
