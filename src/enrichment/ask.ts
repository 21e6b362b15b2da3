import { urlFault } from "../definition/endpoint-url.js";
import type { Endpoint } from "../model/endpoint.js";
import { answerOf } from "./answer.js";
import { credentialsFor } from "./auth.js";
import { openConnections } from "./connections.js";
import type { Exchange, Exchanged } from "./exchange.js";
import { headerFault } from "./header-fault.js";
import type { Hiding } from "./hide-secrets.js";
import { hideSecrets } from "./hide-secrets.js";
import type { ExchangeOptions } from "./open-exchange.js";
import { requestFor } from "./request.js";
import type { Resolved } from "./resolve.js";
import { lookUpInSystem, resolve } from "./resolve.js";
import { send } from "./send.js";

/** Asks endpoints: looks first whether each may be asked, and lets no secret come back. */
export function asking({ env, lookUp = lookUpInSystem, authorities }: ExchangeOptions): Exchange {
  const connections = openConnections(authorities);
  return async ({ endpoint, params, signal }) => {
    const fault = urlFault(endpoint.url);
    if (fault !== undefined) return refused(`its URL cannot be used: ${fault}`);
    const credentials = credentialsFor(endpoint.auth, env);
    if (!credentials.ok) return refused(credentials.message);
    const unsendable = unsendableIn({ ...endpoint.headers, ...credentials.headers });
    if (unsendable !== undefined) return refused(unsendable);
    const request = requestFor(endpoint, params, credentials.headers);
    const hiding = hideSecrets(credentials.secrets);
    const allowPrivate = endpoint.allow_private === true;
    const found = await unlessAborted(resolve(request.url.hostname, lookUp, { allowPrivate }), signal);
    if (found.kind !== "addresses") return hidden(found, hiding);
    const received = await send(request, { addresses: found.addresses, connections, signal });
    return hidden(received.kind === "received" ? answerOf(received) : received, hiding);
  };
}

const refused = (message: string): Exchanged => ({ kind: "refused", message });

function unsendableIn(headers: NonNullable<Endpoint["headers"]>): string | undefined {
  const faults = Object.entries(headers).map(([name, value]) => headerFault(name, value));
  return faults.find((fault) => fault !== undefined);
}

/** A look-up cannot be ended, but need not be waited for. */
function unlessAborted(
  found: Promise<Resolved>,
  signal: AbortSignal,
): Promise<Resolved | { kind: "timeout" }> {
  if (signal.aborted) return Promise.resolve({ kind: "timeout" });
  return new Promise((done, failed) => {
    const abort = (): void => done({ kind: "timeout" });
    signal.addEventListener("abort", abort, { once: true });
    found.then(done, failed).finally(() => signal.removeEventListener("abort", abort));
  });
}

function hidden(exchanged: Exchanged, hiding: Hiding): Exchanged {
  switch (exchanged.kind) {
    case "answer":
      return { ...exchanged, data: hiding.data(exchanged.data) };
    case "status": {
      const { retryAfter } = exchanged;
      return { ...exchanged, ...(retryAfter !== undefined && { retryAfter: hiding.text(retryAfter) }) };
    }
    case "timeout":
      return exchanged;
    case "refused":
    case "network":
    case "broken":
      return { ...exchanged, message: hiding.text(exchanged.message) };
  }
}
