import { invalidUrlReason } from "../definition/checks/check-endpoints.js";
import type { Endpoint } from "../model/endpoint.js";
import { credentialsFor } from "./auth.js";
import type { Exchange, ExchangeOptions, ExchangeOutcome } from "./exchange.js";
import { headerFault, requestFor } from "./request.js";
import type { ResolvedHost } from "./resolve-host.js";
import { lookUpInSystem, resolveHost } from "./resolve-host.js";
import { parseResponse } from "./response.js";
import type { SecretMask } from "./secret-mask.js";
import { createSecretMask } from "./secret-mask.js";
import { openConnections, send } from "./send.js";

/** Creates an exchange over HTTP. It refuses forbidden addresses and masks secrets in everything it returns. */
export function createHttpExchange({ env, lookUp = lookUpInSystem, authorities }: ExchangeOptions): Exchange {
  const connections = openConnections(authorities);
  return async ({ endpoint, params, signal }) => {
    const fault = invalidUrlReason(endpoint.url);
    if (fault !== undefined) return refused(`invalid URL: ${fault}`);
    const credentials = credentialsFor(endpoint.auth, env);
    if (!credentials.ok) return refused(credentials.message);
    const invalidHeader = findHeaderFault({ ...endpoint.headers, ...credentials.headers });
    if (invalidHeader !== undefined) return refused(invalidHeader);
    const request = requestFor(endpoint, params, credentials.headers);
    const mask = createSecretMask(credentials.secrets);
    const allowPrivate = endpoint.allow_private === true;
    const host = await unlessAborted(signal, () =>
      resolveHost(request.url.hostname, lookUp, { allowPrivate }),
    );
    if (host.kind !== "addresses") return maskOutcome(host, mask);
    const response = await send(request, { addresses: host.addresses, connections, signal });
    return maskOutcome(response.kind === "received" ? parseResponse(response) : response, mask);
  };
}

const refused = (message: string): ExchangeOutcome => ({ kind: "refused", message });

function findHeaderFault(headers: NonNullable<Endpoint["headers"]>): string | undefined {
  const faults = Object.entries(headers).map(([name, value]) => headerFault(name, value));
  return faults.find((fault) => fault !== undefined);
}

/** Stops waiting when the signal is aborted. The look-up itself cannot be cancelled. */
function unlessAborted(
  signal: AbortSignal,
  lookUp: () => Promise<ResolvedHost>,
): Promise<ResolvedHost | { readonly kind: "timeout" }> {
  if (signal.aborted) return Promise.resolve({ kind: "timeout" });
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve({ kind: "timeout" });
    signal.addEventListener("abort", abort, { once: true });
    void lookUp()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}

function maskOutcome(outcome: ExchangeOutcome, mask: SecretMask): ExchangeOutcome {
  switch (outcome.kind) {
    case "answer":
      return { ...outcome, data: mask.data(outcome.data) };
    case "status": {
      const { retryAfter } = outcome;
      return { ...outcome, ...(retryAfter !== undefined && { retryAfter: mask.text(retryAfter) }) };
    }
    case "timeout":
      return outcome;
    case "refused":
    case "network":
    case "broken":
      return { ...outcome, message: mask.text(outcome.message) };
  }
}
