import type { Endpoint } from "../model/endpoint.js";
import type { Problem } from "../model/problem.js";
import type { PlacedEndpoint } from "./declared-endpoints.js";
import { parseDuration } from "./duration.js";
import { textsAt } from "./expressions.js";
import { destinationsOf, fetchesOf } from "./fetches.js";
import { hostDoubts } from "./host-doubts.js";
import type { LookAtAddress } from "./host-doubts.js";
import { readsMasked } from "./mask-pointers.js";
import { templateReads } from "./param-faults.js";
import type { LocatedDefinition } from "./read-definitions.js";
import { writtenSecrets } from "./written-secrets.js";

interface InFile {
  readonly file: string;
  readonly located: LocatedDefinition;
}

export interface Reviewing {
  readonly lookAtAddress: LookAtAddress;
  /** Others that were not read may use them. */
  readonly isPart: boolean;
}

/** What a reviewer would ask about endpoints, and about how decisions use them. */
export function reviewEndpoints(
  declared: readonly PlacedEndpoint[],
  all: readonly InFile[],
  { lookAtAddress, isPart }: Reviewing,
): readonly Problem[] {
  const used = new Set(
    all.flatMap(({ located }) => located.summary.fetches ?? []).map(({ endpoint }) => endpoint),
  );
  const alone = declared.flatMap(({ name, endpoint, file, line, column }) => {
    const doubts = [
      ...hostDoubts(name, endpoint, lookAtAddress),
      ...writtenSecrets(name, endpoint),
      ...pauseDoubts(name, endpoint),
      ...(isPart || used.has(name) ? [] : [{ message: `no decision fetches from \`${name}\`` }]),
    ];
    return doubts.map((doubt): Problem => ({ file, line, column, severity: "warning", ...doubt }));
  });
  return [...alone, ...all.flatMap((each) => [...notKept(each, declared), ...repeated(each)])];
}

/** Masked values that are sent, and may come back where nothing is masked. */
function repeated({ file, located }: InFile): readonly Problem[] {
  const { definition, source } = located;
  const masks = definition.logging?.mask ?? [];
  if (masks.length === 0) return [];
  return fetchesOf(definition).flatMap((fetch): readonly Problem[] => {
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
export type Doubt = Pick<Problem, "message" | "hint">;

const defaults = { timeout: "5s", attempts: 3, base: "100ms", max: "2s" } as const;

/** Retries that time may well run out for. */
function pauseDoubts(name: string, { retry, timeout = defaults.timeout }: Endpoint): readonly Doubt[] {
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
function notKept({ file, located }: InFile, declared: readonly PlacedEndpoint[]): readonly Problem[] {
  const { definition, source } = located;
  const masks = definition.logging?.mask ?? [];
  if (masks.length === 0) return [];
  const keeping = new Set(declared.flatMap(({ name, endpoint }) => (endpoint.cache ? [name] : [])));
  return fetchesOf(definition).flatMap((fetch): readonly Problem[] => {
    if (!keeping.has(fetch.endpoint)) return [];
    const reads = textsAt(fetch.params, ["**"]).flatMap(({ text }) => templateReads(text));
    const secret = [...reads, ...destinationsOf(fetch)].find((path) => readsMasked(path, masks));
    if (secret === undefined) return [];
    const { line, column } = source.locate(["decision", ...fetch.path, "endpoint"]);
    const message = `the answers of \`${fetch.endpoint}\` are not kept for it, as \`${secret}\` is masked`;
    return [{ file, line, column, severity: "warning", message, decision_id: definition.id }];
  });
}
