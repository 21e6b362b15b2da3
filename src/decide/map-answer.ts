import type { WrittenFetch } from "../definition/fetches.js";
import { deepest } from "../digest/frozen-copy.js";
import { isObject } from "../expression/equal.js";
import type { Fetched } from "../model/endpoint.js";
import type { Json } from "../model/json.js";

export interface MappedAnswer {
  /** A failure where the data have nothing of what is wanted. */
  readonly answer: Fetched;
  /** What goes where in the context. */
  readonly values: readonly { readonly at: string; readonly value: Json }[];
  readonly warnings: readonly string[];
}

/** What of an answer goes into the context, and what is to be said about it. */
export function mapAnswer({ endpoint, into, mapping }: WrittenFetch, answer: Fetched): MappedAnswer {
  if (!answer.ok) return failing(endpoint, answer);
  if (answer.data === null) return failing(endpoint, nothing);
  const stale = answer.from === "stale_cache" ? [staleness(endpoint, answer.fetched_at)] : [];
  if (mapping === undefined) {
    const values = into === undefined ? [] : [{ at: into, value: answer.data }];
    return values.every(isWithinReach) ? { answer, values, warnings: stale } : failing(endpoint, tooDeep);
  }
  const found = Object.entries(mapping).map(([from, to]) => ({
    from,
    at: into === undefined ? to : `${into}.${to}`,
    value: valueAt(answer.data, from),
  }));
  const values = found.flatMap(({ at, value }) => (value === undefined ? [] : [{ at, value }]));
  const missing = found.filter(({ value }) => value === undefined).map(({ from }) => `\`${from}\``);
  if (values.length === 0) {
    const message = `its answer has no ${missing.join(", ")}`;
    return failing(endpoint, { ok: false, error: { code: "request_failed", message } });
  }
  if (!values.every(isWithinReach)) return failing(endpoint, tooDeep);
  const lacking = missing.length === 0 ? [] : [`the answer of \`${endpoint}\` has no ${missing.join(", ")}`];
  return { answer, values, warnings: [...stale, ...lacking] };
}

/** No content, or null: there is nothing that anybody could go by. */
const nothing: Failed = {
  ok: false,
  error: { code: "request_failed", message: "its answer is empty" },
};

const tooDeep: Failed = {
  ok: false,
  error: { code: "request_failed", message: "its answer is nested too deeply" },
};

/** A context with it in can be taken like any other. */
function isWithinReach({ at, value }: { readonly at: string; readonly value: Json }): boolean {
  return isShallow(value, deepest - at.split(".").length);
}

const isShallow = (value: Json, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((each: Json) => isShallow(each, levels - 1)));

type Failed = Exclude<Fetched, { readonly ok: true }>;

const failing = (endpoint: string, answer: Failed): MappedAnswer => ({
  answer,
  values: [],
  warnings: [whyNot(endpoint, answer)],
});

function whyNot(endpoint: string, answer: Failed): string {
  if ("left_out" in answer) return `\`${endpoint}\` was not asked, as a dry run only reads`;
  return `no data came from \`${endpoint}\`: ${answer.error.message}`;
}

const staleness = (endpoint: string, at: string): string =>
  `the data of \`${endpoint}\` are from ${at}: its circuit is open`;

/** Own properties and list items only. */
function valueAt(data: Json, path: string): Json | undefined {
  let value: Json | undefined = data;
  for (const step of path.split(".")) {
    if (Array.isArray(value))
      value = /^(?:0|[1-9]\d*)$/.test(step) ? (value as Json[])[Number(step)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}
