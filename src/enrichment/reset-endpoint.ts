import type { PlacedEndpoint } from "../definition/declared-endpoints.js";
import type { EndpointReset } from "../model/endpoint-status.js";
import type { Json } from "../model/json.js";
import type { Shelf, ShelfEntry } from "../model/store.js";
import type { EndpointState } from "./endpoint-state.js";
import { stateIn, stateKey } from "./endpoint-state.js";

interface Forgetting {
  readonly shelves: { readonly breakers: Shelf; readonly responses: Shelf };
  /** Kept answers too. */
  readonly answers: boolean;
}

/** Closes its circuit and forgets its failures; where nothing is known of it, nothing is written. */
export async function resetEndpoint(
  declared: Pick<PlacedEndpoint, "name" | "endpoint">,
  { shelves, answers }: Forgetting,
): Promise<EndpointReset> {
  const { circuit, failures } = await closeCircuit(declared, shelves.breakers);
  const reset = { name: declared.name, circuit_was: circuit, failures_were: failures };
  return answers
    ? { ...reset, answers_removed: await removeAnswers(declared.name, shelves.responses) }
    : reset;
}

async function closeCircuit(
  { name, endpoint }: Pick<PlacedEndpoint, "name" | "endpoint">,
  breakers: Shelf,
): Promise<EndpointState> {
  const key = stateKey(name, endpoint);
  const known = await breakers.get(key);
  let was = stateIn(known?.value);
  if (known !== undefined) {
    await breakers.update(key, (entry) => {
      if (entry === undefined) return undefined;
      was = stateIn(entry.value);
      return { ...entry, value: asClosed(was) as unknown as Json };
    });
  }
  return was;
}

/** Also those that it gave as it was configured before. */
async function removeAnswers(name: string, responses: Shelf): Promise<number> {
  const isOurs = ({ group = "" }: ShelfEntry): boolean => group.startsWith(`${name} `);
  for await (const entry of responses.entries()) if (isOurs(entry)) return responses.remove(isOurs);
  return 0;
}

/** What was sent still counts for its rate limit. */
function asClosed({ sent, last }: EndpointState): EndpointState {
  return {
    circuit: "CLOSED",
    failures: 0,
    successes: 0,
    ...(sent !== undefined && { sent }),
    ...(last !== undefined && { last }),
  };
}
