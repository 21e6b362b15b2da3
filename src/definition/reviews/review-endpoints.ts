import type { LocatedEndpoint } from "../definition-file.js";
import { readsMasked } from "../definition-reads.js";
import { parseDuration } from "../duration.js";
import { findSecrets } from "../checks/check-endpoints.js";
import { textsAt } from "../expressions.js";
import { templateReads } from "../checks/check-fetches.js";
import { destinationsOf, uniqueFetches } from "../fetches.js";
import type { LocatedDefinition } from "../read-definitions.js";
import type { Endpoint } from "../../model/endpoint.js";
import type { Diagnostic } from "../../model/diagnostic.js";

interface InFile {
  readonly file: string;
  readonly located: LocatedDefinition;
}

interface ReviewOptions {
  readonly lookAtAddress: ClassifyAddress;
  /** Others that were not read may use them. */
  readonly isPart: boolean;
}

/** What a reviewer would ask about endpoints, and about how decisions use them. */
export function reviewEndpoints(
  declared: readonly LocatedEndpoint[],
  all: readonly InFile[],
  { lookAtAddress, isPart }: ReviewOptions,
): readonly Diagnostic[] {
  const used = new Set(
    all.flatMap(({ located }) => located.summary.fetches ?? []).map(({ endpoint }) => endpoint),
  );
  const alone = declared.flatMap(({ name, endpoint, file, line, column }) => {
    const doubts = [
      ...reviewHost(name, endpoint, lookAtAddress),
      ...findSecrets(name, endpoint),
      ...reviewRetryPauses(name, endpoint),
      ...(isPart || used.has(name) ? [] : [{ message: `no decision fetches from \`${name}\`` }]),
    ];
    return doubts.map((doubt): Diagnostic => ({ file, line, column, severity: "warning", ...doubt }));
  });
  return [
    ...alone,
    ...all.flatMap((each) => [...reviewUncachedAnswers(each, declared), ...reviewMaskedParams(each)]),
  ];
}

/** Masked values that are sent, and may come back where nothing is masked. */
function reviewMaskedParams({ file, located }: InFile): readonly Diagnostic[] {
  const { definition, source } = located;
  const masks = definition.logging?.mask ?? [];
  if (masks.length === 0) return [];
  return uniqueFetches(definition).flatMap((fetch): readonly Diagnostic[] => {
    const reads = textsAt(fetch.params, ["**"]).flatMap(({ text }) => templateReads(text));
    const sent = reads.find((path) => readsMasked(path, masks));
    const bare = destinationsOf(fetch).find((path) => !readsMasked(path, masks));
    if (sent === undefined || bare === undefined || fetch.mapping !== undefined) return [];
    const { line, column } = source.locate(["decision", ...fetch.path, "endpoint"]);
    const message = `\`${fetch.endpoint}\` is sent \`${sent}\`, which is masked, and may repeat it in \`${bare}\`, which is not`;
    const hint = "mask that too, or take only what is needed with `mapping`";
    return [{ file, line, column, severity: "warning", message, hint, decision_id: definition.id }];
  });
}

/** What is said about an endpoint. */
export type EndpointWarning = Pick<Diagnostic, "message" | "hint">;

const defaults = { timeout: "5s", attempts: 3, base: "100ms", max: "2s" } as const;

/** Retries that time may well run out for. */
function reviewRetryPauses(
  name: string,
  { retry, timeout = defaults.timeout }: Endpoint,
): readonly EndpointWarning[] {
  if (retry === undefined) return [];
  const { attempts = defaults.attempts, base = defaults.base, max = defaults.max } = retry;
  const least = parseDuration(base) ?? 0;
  const most = parseDuration(max) ?? 0;
  let pauses = 0;
  for (let pause = 0; pause < attempts - 1; pause++) pauses += Math.min(most, least * 2 ** pause);
  if (pauses < (parseDuration(timeout) ?? 0)) return [];
  return [
    {
      message: `the pauses between the attempts of \`${name}\` may take ${pauses / 1e6}s, and all of it only ${timeout}`,
      hint: "give it a longer `timeout`, fewer `attempts` or shorter pauses",
    },
  ];
}

/** Answers that are not kept although the endpoint says so. */
function reviewUncachedAnswers(
  { file, located }: InFile,
  declared: readonly LocatedEndpoint[],
): readonly Diagnostic[] {
  const { definition, source } = located;
  const masks = definition.logging?.mask ?? [];
  if (masks.length === 0) return [];
  const keeping = new Set(declared.flatMap(({ name, endpoint }) => (endpoint.cache ? [name] : [])));
  return uniqueFetches(definition).flatMap((fetch): readonly Diagnostic[] => {
    if (!keeping.has(fetch.endpoint)) return [];
    const reads = textsAt(fetch.params, ["**"]).flatMap(({ text }) => templateReads(text));
    const secret = [...reads, ...destinationsOf(fetch)].find((path) => readsMasked(path, masks));
    if (secret === undefined) return [];
    const { line, column } = source.locate(["decision", ...fetch.path, "endpoint"]);
    const message = `the answers of \`${fetch.endpoint}\` are not kept for it, as \`${secret}\` is masked`;
    return [{ file, line, column, severity: "warning", message, decision_id: definition.id }];
  });
}

/** What is special about an IP address; undefined: nothing, it is there for everybody. */
type ClassifyAddress = (address: string) => SpecialAddress | undefined;

interface SpecialAddress {
  /** As in "a loopback address". */
  readonly what: string;
  /** Whether `allow_private` lets it be asked nevertheless. */
  readonly mayBeAllowed: boolean;
}

/** What is to be said about where an endpoint is, as far as its URL tells. */
function reviewHost(
  name: string,
  { url, auth, allow_private: allowed = false }: Endpoint,
  lookAtAddress: ClassifyAddress,
): readonly EndpointWarning[] {
  const { protocol, hostname } = new URL(url);
  const special = specialHost(hostname, lookAtAddress);
  const doubts: EndpointWarning[] = [];
  if (special !== undefined && !(allowed && special.mayBeAllowed)) {
    const message = `\`${name}\` will be refused: \`${hostname}\` is ${special.what}`;
    doubts.push(
      special.mayBeAllowed ? { message, hint: "`allow_private: true` lets it be asked" } : { message },
    );
  }
  if (protocol === "http:" && auth !== undefined && special?.mayBeAllowed !== true) {
    const message = `\`${name}\` is sent its secret without encryption`;
    doubts.push({ message, hint: "use https" });
  }
  return doubts;
}

/** Of a name only that of this machine is known without looking it up. */
function specialHost(hostname: string, lookAtAddress: ClassifyAddress): SpecialAddress | undefined {
  if (/^(?:.+\.)?localhost\.?$/.test(hostname)) return { what: "this machine", mayBeAllowed: true };
  const address = hostname.replace(/^\[(.*)\]$/s, "$1");
  return /^[\d.]+$/.test(address) || address.includes(":") ? lookAtAddress(address) : undefined;
}
