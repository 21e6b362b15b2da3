import type { Store } from "../model/store.js";
import type { JsonlOptions } from "./drivers/jsonl/store.js";
import { openJsonlStore } from "./drivers/jsonl/store.js";

/** The location and the options of a store. */
export type StoreConfiguration = Omit<JsonlOptions, "clock" | "newId" | "files"> | "memory";

/** Opens the configured store. A driver other than the default is imported only when it is chosen. */
export async function openStore(
  configuration: StoreConfiguration,
  tools: Pick<JsonlOptions, "clock" | "newId">,
): Promise<Store> {
  if (configuration !== "memory") return openJsonlStore({ ...configuration, ...tools });
  const { openMemoryStore } = await import("./drivers/memory.js");
  return openMemoryStore();
}
