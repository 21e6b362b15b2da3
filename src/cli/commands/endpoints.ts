import type { Command } from "commander";
import { stopwatch, systemClock } from "../../clock.js";
import type { Library } from "../../definition/library.js";
import type { UsedEndpoint } from "../../enrichment/endpoint-status.js";
import { DecisionError } from "../../errors.js";
import type { EndpointReset, EndpointStatus } from "../../model/endpoint.js";
import type { Shelf } from "../../model/store.js";
import { didYouMean } from "../../text.js";
import { endpointsView, resetView } from "../../present/endpoints-view.js";
import { present } from "../../present/format.js";
import { microsecondsOf } from "../../record/timestamp.js";
import { fetchProgress } from "../progress.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import type { ReadableWorld } from "../world.js";
import { note, openReadableWorld, warnIfStoreMissing, warnAboutDefinitions } from "../world.js";

interface EndpointsFlags extends StoreFlags {
  readonly check?: boolean;
}

interface ResetFlags extends StoreFlags {
  readonly all?: boolean;
  readonly cache?: boolean;
}

type Done = (code: ExitCode) => void;

/** Where decisions fetch data from. */
export function addEndpointsCommand(parent: Command, io: Io, done: Done): void {
  const endpoints = parent
    .command("endpoints")
    .argument("[endpoint...]", "the endpoints' names; else all of them")
    .option("--check", "ask those with `method: get` now, once, whatever their circuits say");
  addCommonFlags(addStoreFlags(endpoints))
    .summary("see how the endpoints are doing that decisions fetch from")
    .description(
      "Lists the endpoints that are declared: their circuits, failures in a row, kept answers and last fetch, " +
        "and which environment variables they need. --check asks them, changes no circuit, and exits with 6 " +
        "where one does not answer.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision endpoints
  $ agent-33 decision endpoints credit_bureau --check
  $ agent-33 decision endpoints reset credit_bureau --cache`,
    )
    .helpCommand(false)
    .action(async (names: readonly string[], flags: EndpointsFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      warnIfStoreMissing(flags, io);
      const known = await openReadableWorld(flags, io);
      const declared = namedEndpoints(names, known);
      if (declared.length === 0 && !flags.quiet) note(io, "no endpoint is declared here");
      const statuses = await statusesOf(declared, known, io);
      const shown = flags.check ? await checkEndpoints(declared, statuses, { flags, io }) : statuses;
      io.out.write(await present(endpointsView(shown), format, await styleFor(flags, io)));
      warnAboutDefinitions(flags, io, known.definitions.diagnostics);
      done(shown.some(({ check }) => check?.ok === false) ? 6 : 0);
    });
  addReset(endpoints, io);
}

function addReset(endpoints: Command, io: Io): void {
  const reset = endpoints
    .command("reset")
    .argument("[endpoint...]", "the endpoints' names")
    .option("--all", "every endpoint that is declared")
    .option("--cache", "forget their kept answers too");
  addCommonFlags(addStoreFlags(reset))
    .summary("close circuits and forget failures")
    .description(
      "Closes the circuits of endpoints and forgets their failures, so that they are asked at once.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision endpoints reset credit_bureau
  $ agent-33 decision endpoints reset --all --cache`,
    )
    .action(async (names: readonly string[], flags: ResetFlags) => {
      assertSelection(names, flags);
      const format = formatFor(flags, io, { answer: "one" });
      warnIfStoreMissing(flags, io);
      const known = await openReadableWorld(flags, io);
      const { resetEndpoint } = await import("../../enrichment/endpoint-status.js");
      const forgetting = { shelves: shelvesOf(known), removeResponses: flags.cache ?? false };
      const done: EndpointReset[] = [];
      for (const each of namedEndpoints(names, known)) done.push(await resetEndpoint(each, forgetting));
      if (done.length === 0 && !flags.quiet) note(io, "no endpoint is declared here");
      io.out.write(await present(resetView(done), format, await styleFor(flags, io)));
    });
}

function assertSelection(names: readonly string[], { all = false }: ResetFlags): void {
  if (names.length > 0 !== all) return;
  const what = all ? "names and --all exclude each other" : "which endpoints are meant is missing";
  throw new DecisionError("usage", what, { hint: "give their names, or --all for every one" });
}

/** Those that are named, or all. */
function namedEndpoints(names: readonly string[], { definitions }: ReadableWorld): readonly UsedEndpoint[] {
  const { endpoints, summaries } = definitions;
  for (const name of names) {
    if (!endpoints.some((each) => each.name === name)) throw unknownEndpoint(name, definitions);
  }
  const meant = names.length === 0 ? endpoints : endpoints.filter(({ name }) => names.includes(name));
  return meant.map((each) => ({
    ...each,
    used_by: summaries
      .filter(({ fetches = [] }) => fetches.some(({ endpoint }) => endpoint === each.name))
      .map(({ id }) => id),
  }));
}

function unknownEndpoint(name: string, { endpoints, diagnostics: problems }: Library): DecisionError {
  const names = endpoints.map((each) => each.name);
  const elsewhere =
    problems.length > 0
      ? "not all files can be used: run `agent-33 decision validate`"
      : "run `agent-33 decision endpoints` to see those that are declared";
  return new DecisionError("usage", `no endpoint called \`${name}\``, {
    hint: didYouMean(name, names) ?? elsewhere,
  });
}

async function statusesOf(
  declared: readonly UsedEndpoint[],
  known: ReadableWorld,
  { env }: Io,
): Promise<readonly EndpointStatus[]> {
  const { endpointStatuses } = await import("../../enrichment/endpoint-status.js");
  return endpointStatuses(declared, { shelves: shelvesOf(known), env, now: microsecondsOf(systemClock()) });
}

function shelvesOf({ records: { store } }: ReadableWorld): {
  readonly breakers: Shelf;
  readonly responses: Shelf;
} {
  return { breakers: store.shelf("breakers"), responses: store.shelf("responses") };
}

/** Asks them all at once. */
async function checkEndpoints(
  declared: readonly UsedEndpoint[],
  statuses: readonly EndpointStatus[],
  { flags, io }: { readonly flags: StoreFlags; readonly io: Io },
): Promise<readonly EndpointStatus[]> {
  const { checkEndpoint: reachEndpoint } = await import("../../enrichment/endpoint-status.js");
  const { lazyExchange: openExchange } = await import("../../enrichment/exchange.js");
  const exchange = openExchange({ env: io.env });
  const onRequest = fetchProgress(flags, io);
  const checks = declared.map(async ({ name, endpoint }) => {
    const over = onRequest?.(name);
    return reachEndpoint(endpoint, { exchange, stopwatch }).finally(over);
  });
  const found = await Promise.all(checks);
  return statuses.map((status, index) => ({ ...status, ...(found[index] && { check: found[index] }) }));
}
