import { credentialsFor } from "./auth.js";
import type { Exchange, ExchangeOutcome, ExchangeOptions } from "./exchange.js";
import { headerFault, requestFor } from "./request.js";
import type { ResolvedHost } from "./resolve-host.js";
import { lookUpInSystem, resolveHost } from "./resolve-host.js";
import { parseResponse } from "./response.js";
import type { SecretMask } from "./secret-mask.js";
import { createSecretMask } from "./secret-mask.js";
import { openConnections, send } from "./send.js";
import { invalidUrlReason } from "../definition/checks/check-endpoints.js";
import type { Endpoint } from "../model/endpoint.js";

/** Asks endpoints: looks first whether each may be asked, and lets no secret come back. */
export function createHttpExchange({ env, lookUp = lookUpInSystem, authorities }: ExchangeOptions): Exchange {
  const connections = openConnections(authorities);
  return async ({ endpoint, params, signal }) => {
    const fault = invalidUrlReason(endpoint.url);
    if (fault !== undefined) return refused(`its URL cannot be used: ${fault}`);
    const credentials = credentialsFor(endpoint.auth, env);
    if (!credentials.ok) return refused(credentials.message);
    const unsendable = findHeaderFault({ ...endpoint.headers, ...credentials.headers });
    if (unsendable !== undefined) return refused(unsendable);
    const request = requestFor(endpoint, params, credentials.headers);
    const hiding = createSecretMask(credentials.secrets);
    const allowPrivate = endpoint.allow_private === true;
    const found = await unlessAborted(signal, () =>
      resolveHost(request.url.hostname, lookUp, { allowPrivate }),
    );
    if (found.kind !== "addresses") return maskSecretsIn(found, hiding);
    const received = await send(request, { addresses: found.addresses, connections, signal });
    return maskSecretsIn(received.kind === "received" ? parseResponse(received) : received, hiding);
  };
}

const refused = (message: string): ExchangeOutcome => ({ kind: "refused", message });

function findHeaderFault(headers: NonNullable<Endpoint["headers"]>): string | undefined {
  const faults = Object.entries(headers).map(([name, value]) => headerFault(name, value));
  return faults.find((fault) => fault !== undefined);
}

/** A look-up cannot be ended, but need not be waited for. */
function unlessAborted(
  signal: AbortSignal,
  find: () => Promise<ResolvedHost>,
): Promise<ResolvedHost | { readonly kind: "timeout" }> {
  if (signal.aborted) return Promise.resolve({ kind: "timeout" });
  return new Promise((done, failed) => {
    const abort = (): void => done({ kind: "timeout" });
    signal.addEventListener("abort", abort, { once: true });
    void find()
      .then(done, failed)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}

function maskSecretsIn(exchanged: ExchangeOutcome, hiding: SecretMask): ExchangeOutcome {
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
