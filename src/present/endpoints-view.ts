import type { Colour, Style, View } from "./format.js";
import { readableTime } from "./record-text.js";
import { formatCount, oneLine } from "./text.js";
import type { EndpointReset, EndpointStatus } from "../model/endpoint.js";

/** How endpoints are doing. */
export function endpointsView(endpoints: readonly EndpointStatus[]): View {
  return {
    value: { endpoints },
    items: endpoints,
    plain: () => endpoints.map((each) => plainCells(each).map(oneLine).join("\t")).join("\n"),
    table: (style) => endpoints.map((each) => describeEndpoint(each, style)).join("\n\n"),
  };
}

/** Line by line, as neither URLs nor errors fit into columns. */
function describeEndpoint(status: EndpointStatus, { paint }: Style): string {
  const { name, method, url, circuit, rate_limit: limit, used_by } = status;
  const field = (title: string, text: string, colour?: Colour): readonly string[] => {
    if (text === "") return [];
    const shown = colour === undefined ? oneLine(text) : paint(colour, oneLine(text));
    return [`  ${paint("dim", title.padEnd(9))} ${shown}`];
  };
  return [
    `${paint("bold", oneLine(name))}  ${paint(circuitColours[circuit.state], circuitText(status))}`,
    ...field("url", `${method} ${url}`),
    ...field("failures", circuit.failures === 0 ? "" : `${formatCount(circuit.failures)} in a row`),
    ...field("kept", cacheText(status)),
    ...field("limit", limit === undefined ? "" : `${formatCount(limit.count)} requests in ${limit.per}`),
    ...field("last", lastText(status)),
    ...field("needs", needsText(status), hasMissingSecret(status) ? "yellow" : undefined),
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
  return until === undefined ? state : `${state} until ${secondsOf(until)}`;
}

/** An endpoint without a cache keeps none. */
function cacheText({ cache: { ttl, fresh, stale } }: EndpointStatus): string {
  return ttl === undefined ? "" : `${formatCount(fresh)} fresh, ${formatCount(stale)} stale`;
}

function lastText({ last }: EndpointStatus): string {
  if (last === null) return "never asked";
  const when = `${secondsOf(last.at)}, ${formatCount(Math.round(last.milliseconds))} ms`;
  return last.error === undefined ? when : `${when}: ${last.error.message}`;
}

function checkText({ check }: EndpointStatus): string {
  if (check === undefined) return "";
  if (check.ok === null) return `– not asked: ${check.not_asked}`;
  const took = `${formatCount(Math.round(check.milliseconds))} ms`;
  if (!check.ok) return `✗ ${check.error ?? "it does not answer"}`;
  return `✓ ${check.status === undefined ? "answers" : `answers ${check.status}`}, ${took}`;
}

function checkColour({ check }: EndpointStatus): Colour | undefined {
  if (check === undefined) return undefined;
  return check.ok === null ? "dim" : check.ok ? "green" : "red";
}

/** Which secrets it needs, never what they are. */
const needsText = ({ needs }: EndpointStatus): string =>
  needs.map(({ variable, set }) => `${variable} (${set ? "set" : "not set"})`).join(", ");

const hasMissingSecret = ({ needs }: EndpointStatus): boolean => needs.some(({ set }) => !set);

const secondsOf = (timestamp: string): string => `${readableTime(timestamp).slice(0, 19)} UTC`;

/** Name, method, URL, circuit, until when it is open, failures, fresh, stale, last time, latency, error, check, needs. */
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

/** What was forgotten of them. */
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
  const failures = `${formatCount(failures_were)} failure${failures_were === 1 ? "" : "s"}`;
  const answers =
    answers_removed === undefined
      ? ""
      : `, ${formatCount(answers_removed)} kept answer${answers_removed === 1 ? "" : "s"} removed`;
  return `${oneLine(name)} is CLOSED (was ${circuit_was}, ${failures})${answers}`;
}
