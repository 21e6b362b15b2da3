import type { EndpointReset, EndpointStatus } from "../model/endpoint.js";
import type { Colour, Style, View } from "./format.js";
import { fieldLine } from "./format.js";
import { readableSeconds } from "./record-text.js";
import { formatCount, plural } from "./text.js";
import { oneLine } from "../text.js";

/** Shows the status of endpoints. */
export function endpointsView(endpoints: readonly EndpointStatus[]): View {
  return {
    value: { endpoints },
    items: endpoints,
    plain: () => endpoints.map((each) => plainCells(each).map(oneLine).join("\t")).join("\n"),
    table: (style) => endpoints.map((each) => describeEndpoint(each, style)).join("\n\n"),
  };
}

/** Uses one line per field: URLs and errors do not fit into columns. */
function describeEndpoint(status: EndpointStatus, style: Style): string {
  const { paint } = style;
  const { name, method, url, circuit, rate_limit: limit, used_by } = status;
  const field = (title: string, text: string, colour?: Colour): readonly string[] => {
    if (text === "") return [];
    const line = oneLine(text);
    return [fieldLine(title, colour === undefined ? line : paint(colour, line), style)];
  };
  return [
    `${paint("bold", oneLine(name))}  ${paint(circuitColours[circuit.state], circuitText(status))}`,
    ...field("url", `${method} ${url}`),
    ...field("failures", circuit.failures === 0 ? "" : `${formatCount(circuit.failures)} consecutive`),
    ...field("cached", cacheText(status)),
    ...field("limit", limit === undefined ? "" : `${formatCount(limit.count)} requests per ${limit.per}`),
    ...field("last", lastText(status)),
    ...field("secrets", needsText(status), hasMissingSecret(status) ? "yellow" : undefined),
    ...field("used by", used_by.join(", ")),
    ...field("check", checkText(status), checkColour(status)),
  ].join("\n");
}

const circuitColours: Readonly<Record<EndpointStatus["circuit"]["state"], Colour>> = {
  CLOSED: "green",
  OPEN: "red",
  HALF_OPEN: "yellow",
};

function circuitText({ circuit: { state, open_until: until } }: EndpointStatus): string {
  return until === undefined ? state : `${state} until ${readableSeconds(until)}`;
}

function cacheText({ cache: { ttl, adapter, fresh, stale } }: EndpointStatus): string {
  if (adapter === "memory") return "by each process for itself";
  return ttl === undefined ? "" : `${formatCount(fresh)} fresh, ${formatCount(stale)} stale`;
}

function lastText({ last }: EndpointStatus): string {
  if (last === null) return "never called";
  const when = `${readableSeconds(last.at)}, ${formatCount(Math.round(last.milliseconds))} ms`;
  return last.error === undefined ? when : `${when}: ${last.error.message}`;
}

function checkText({ check }: EndpointStatus): string {
  if (check === undefined) return "";
  if (check.ok === null) return `– not called: ${check.not_asked}`;
  const took = `${formatCount(Math.round(check.milliseconds))} ms`;
  if (!check.ok) return `✗ ${check.error ?? "no response"}`;
  return `✓ ${check.status === undefined ? "responds" : `responds with HTTP status ${check.status}`}, ${took}`;
}

function checkColour({ check }: EndpointStatus): Colour | undefined {
  if (check === undefined) return undefined;
  return check.ok === null ? "dim" : check.ok ? "green" : "red";
}

/** Names the environment variables of the secrets, never their values. */
const needsText = ({ needs }: EndpointStatus): string =>
  needs.map(({ variable, set }) => `${variable} (${set ? "set" : "not set"})`).join(", ");

const hasMissingSecret = ({ needs }: EndpointStatus): boolean => needs.some(({ set }) => !set);

/** Name, method, URL, circuit, open until, failures, fresh, stale, last fetch, latency, error, check, secrets. */
function plainCells(status: EndpointStatus): readonly string[] {
  const { name, method, url, circuit, cache, last } = status;
  return [
    name,
    method,
    url,
    circuit.state,
    circuit.open_until ?? "",
    String(circuit.failures),
    String(cache.fresh),
    String(cache.stale),
    last?.at ?? "",
    last === null ? "" : String(last.milliseconds),
    last?.error?.message ?? "",
    checkText(status),
    needsText(status),
  ];
}

/** Shows which endpoints were reset. */
export function resetView(endpoints: readonly EndpointReset[]): View {
  return {
    value: { endpoints },
    items: endpoints,
    plain: () =>
      endpoints
        .map(({ name, circuit_was, failures_were, answers_removed }) =>
          [name, circuit_was, failures_were, answers_removed ?? ""].join("\t"),
        )
        .join("\n"),
    table: () => endpoints.map(resetLine).join("\n"),
  };
}

function resetLine({ name, circuit_was, failures_were, answers_removed }: EndpointReset): string {
  const failures = plural(failures_were, "failure");
  const responses =
    answers_removed === undefined ? "" : `, ${plural(answers_removed, "cached response")} removed`;
  return `${oneLine(name)} is CLOSED (was ${circuit_was}, ${failures})${responses}`;
}
