import type { Endpoint } from "../../model/endpoint.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { findSecrets } from "../checks/check-endpoints.js";
import { templateReads } from "../checks/check-fetches.js";
import type { LocatedEndpoint } from "../definition-file.js";
import { readsMasked } from "../definition-reads.js";
import type { DiagnosticText } from "../diagnostics.js";
import { diagnosticAt, locateFinding } from "../diagnostics.js";
import { parseDuration } from "../duration.js";
import { textsAt } from "../expressions.js";
import type { DeclaredFetch } from "../fetches.js";
import { destinationsOf, uniqueFetches } from "../fetches.js";
import type { LocatedDefinition } from "../read-definitions.js";

export interface ReviewOptions {
  readonly classifyAddress: ClassifyAddress;
  /** Whether there are other files that may use the endpoints. */
  readonly isPart: boolean;
}

/** Returns what is special about an IP address; undefined for a public one. */
export type ClassifyAddress = (address: string) => SpecialAddress | undefined;

export interface SpecialAddress {
  /** As in "a loopback address". */
  readonly what: string;
  /** Whether `allow_private` permits requests to it. */
  readonly mayBeAllowed: boolean;
}

/** Returns the warnings about endpoints, and about how decisions use them. */
export function reviewEndpoints(
  declared: readonly LocatedEndpoint[],
  definitions: readonly LocatedDefinition[],
  { classifyAddress, isPart }: ReviewOptions,
): readonly Diagnostic[] {
  const used = new Set(
    definitions.flatMap(({ summary }) => summary.fetches ?? []).map((each) => each.endpoint),
  );
  const alone = declared.flatMap(({ name, endpoint, file, line, column }) => {
    const warnings = [
      ...reviewHost(name, endpoint, classifyAddress),
      ...findSecrets(name, endpoint),
      ...reviewRetryPauses(name, endpoint),
      ...(isPart || used.has(name) ? [] : [{ message: `no decision fetches from \`${name}\`` }]),
    ];
    return warnings.map((text) => diagnosticAt({ file, line, column }, { severity: "warning", ...text }));
  });
  const cached = new Set(declared.flatMap(({ name, endpoint }) => (endpoint.cache ? [name] : [])));
  return [...alone, ...definitions.flatMap((each) => reviewMaskedFetches(each, cached))];
}

/** Warns of fetches that a mask has an unexpected effect on. */
function reviewMaskedFetches(
  { file, definition, source }: LocatedDefinition,
  cached: ReadonlySet<string>,
): readonly Diagnostic[] {
  const masks = definition.logging?.mask ?? [];
  if (masks.length === 0) return [];
  const fetches = uniqueFetches(definition);
  const warnings = [
    ...fetches
      .filter(({ endpoint }) => cached.has(endpoint))
      .map((fetch) => ({ fetch, text: uncachedAnswers(fetch, masks) })),
    ...fetches.map((fetch) => ({ fetch, text: returnedMaskedValue(fetch, masks) })),
  ];
  const place = { file, within: ["decision"], decision_id: definition.id };
  return warnings.flatMap(({ fetch, text }) => {
    if (text === undefined) return [];
    const path = [...fetch.path, "endpoint"];
    return [locateFinding({ path, severity: "warning", ...text }, source, place)];
  });
}

/** Answers that depend on masked values are not cached, although the endpoint asks for it. */
function uncachedAnswers(fetch: DeclaredFetch, masks: readonly string[]): DiagnosticText | undefined {
  const masked = [...paramReads(fetch), ...destinationsOf(fetch)].find((path) => readsMasked(path, masks));
  if (masked === undefined) return undefined;
  return {
    message: `answers of \`${fetch.endpoint}\` are not cached for this decision, because \`${masked}\` is masked`,
  };
}

/** An endpoint that receives a masked value may return it where nothing is masked. */
function returnedMaskedValue(fetch: DeclaredFetch, masks: readonly string[]): DiagnosticText | undefined {
  const sent = paramReads(fetch).find((path) => readsMasked(path, masks));
  const unmasked = destinationsOf(fetch).find((path) => !readsMasked(path, masks));
  if (sent === undefined || unmasked === undefined || fetch.mapping !== undefined) return undefined;
  return {
    message: `\`${fetch.endpoint}\` receives the masked \`${sent}\` and may return it in \`${unmasked}\`, which is not masked`,
    hint: `mask \`${unmasked}\` too, or select fields with \`mapping\``,
  };
}

const paramReads = (fetch: DeclaredFetch): readonly string[] =>
  textsAt(fetch.params, ["**"]).flatMap(({ text }) => templateReads(text));

const defaults = { timeout: "5s", attempts: 3, base: "100ms", max: "2s" } as const;

/** Warns of retries whose pauses alone may take longer than the timeout. */
function reviewRetryPauses(name: string, endpoint: Endpoint): readonly DiagnosticText[] {
  const { retry, timeout = defaults.timeout } = endpoint;
  if (retry === undefined) return [];
  const { attempts = defaults.attempts, base = defaults.base, max = defaults.max } = retry;
  const first = parseDuration(base) ?? 0;
  const longest = parseDuration(max) ?? 0;
  let total = 0;
  for (let pause = 0; pause < attempts - 1; pause++) total += Math.min(longest, first * 2 ** pause);
  if (total < (parseDuration(timeout) ?? 0)) return [];
  return [
    {
      message: `the retry pauses of \`${name}\` may take ${total / 1e6}s, but its timeout is ${timeout}`,
      hint: "use a longer `timeout`, fewer `attempts` or shorter pauses",
    },
  ];
}

/** Warns of the host of an endpoint, as far as its URL tells. */
function reviewHost(
  name: string,
  { url, auth, allow_private: allowed = false }: Endpoint,
  classifyAddress: ClassifyAddress,
): readonly DiagnosticText[] {
  const { protocol, hostname } = new URL(url);
  const special = specialHost(hostname, classifyAddress);
  const warnings: DiagnosticText[] = [];
  if (special !== undefined && !(allowed && special.mayBeAllowed)) {
    const message = `requests to \`${name}\` will be refused: \`${hostname}\` is ${special.what}`;
    warnings.push(
      special.mayBeAllowed ? { message, hint: "set `allow_private: true` to allow them" } : { message },
    );
  }
  if (protocol === "http:" && auth !== undefined && special?.mayBeAllowed !== true) {
    warnings.push({ message: `the secret of \`${name}\` is sent without encryption`, hint: "use https" });
  }
  return warnings;
}

/** Among host names, only `localhost` is known without a lookup. */
function specialHost(hostname: string, classifyAddress: ClassifyAddress): SpecialAddress | undefined {
  if (/^(?:.+\.)?localhost\.?$/.test(hostname)) return { what: "this machine", mayBeAllowed: true };
  const address = hostname.replace(/^\[(.*)\]$/s, "$1");
  return /^[\d.]+$/.test(address) || address.includes(":") ? classifyAddress(address) : undefined;
}
