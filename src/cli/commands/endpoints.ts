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
import type { AllowEmptyFlag, StoreFlags } from "../flags.js";
import {
  addAllowEmptyFlag,
  addCommonFlags,
  addStoreFlags,
  failUnlessAllowed,
  formatFor,
  styleFor,
} from "../flags.js";
import type { Io } from "../io.js";
import type { ReadableWorld } from "../world.js";
import { note, openReadableWorld, warnIfStoreMissing, warnAboutDefinitions } from "../world.js";

interface EndpointsFlags extends StoreFlags, AllowEmptyFlag {
  readonly check?: boolean;
}

interface ResetFlags extends StoreFlags {
  readonly all?: boolean;
  readonly cache?: boolean;
}

type Done = (code: ExitCode) => void;

export function addEndpointsCommand(parent: Command, io: Io, done: Done): void {
  const endpoints = parent
    .command("endpoints")
    .argument("[endpoint...]", "names of endpoints (default: all)")
    .option("--check", "send one request to each endpoint with `method: get`, even if its circuit is open");
  addCommonFlags(addStoreFlags(addAllowEmptyFlag(endpoints)))
    .summary("show the status of endpoints")
    .description(
      "List the declared endpoints with the state of the circuit breaker, consecutive failures, cached responses, last " +
        "fetch and required environment variables. --check sends a request to each, changes no circuit breaker, and exits " +
        "with code 6 if one does not respond.",
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
      const world = await openReadableWorld(flags, io);
      const declared = namedEndpoints(names, world);
      if (declared.length === 0 && !flags.quiet) note(io, "no endpoints declared");
      const statuses = await statusesOf(declared, world, io);
      const shown = flags.check ? await checkEndpoints(declared, statuses, { flags, io }) : statuses;
      io.out.write(await present(endpointsView(shown), format, await styleFor(flags, io)));
      warnAboutDefinitions(flags, io, world.definitions.diagnostics);
      if (flags.check && shown.every(({ check }) => check === undefined))
        failUnlessAllowed(flags, "there is no endpoint with `method: get`");
      done(shown.some(({ check }) => check?.ok === false) ? 6 : 0);
    });
  addReset(endpoints, io);
}

function addReset(endpoints: Command, io: Io): void {
  const reset = endpoints
    .command("reset")
    .argument("[endpoint...]", "names of endpoints")
    .option("--all", "reset every declared endpoint")
    .option("--cache", "clear cached responses too");
  addCommonFlags(addStoreFlags(reset))
    .summary("close circuit breakers and clear failures")
    .description(
      "Close the circuit breakers of endpoints and clear their failures, so that the next decision fetches again.",
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
      const world = await openReadableWorld(flags, io);
      const { resetEndpoint } = await import("../../enrichment/endpoint-status.js");
      const options = { shelves: shelvesOf(world), removeResponses: flags.cache ?? false };
      const resets: EndpointReset[] = [];
      for (const each of namedEndpoints(names, world)) resets.push(await resetEndpoint(each, options));
      if (resets.length === 0 && !flags.quiet) note(io, "no endpoints declared");
      io.out.write(await present(resetView(resets), format, await styleFor(flags, io)));
    });
}

function assertSelection(names: readonly string[], { all = false }: ResetFlags): void {
  if (names.length > 0 !== all) return;
  const message = all ? "names and --all cannot be combined" : "specify endpoints to reset";
  throw new DecisionError("usage", message, { hint: "use names, or --all for every endpoint" });
}

/** Returns the endpoints with these names, or all. */
function namedEndpoints(names: readonly string[], { definitions }: ReadableWorld): readonly UsedEndpoint[] {
  const { endpoints, summaries } = definitions;
  for (const name of names) {
    if (!endpoints.some((each) => each.name === name)) throw unknownEndpoint(name, definitions);
  }
  const selected = names.length === 0 ? endpoints : endpoints.filter(({ name }) => names.includes(name));
  return selected.map((each) => ({
    ...each,
    used_by: summaries
      .filter(({ fetches = [] }) => fetches.some(({ endpoint }) => endpoint === each.name))
      .map(({ id }) => id),
  }));
}

function unknownEndpoint(name: string, { endpoints, diagnostics }: Library): DecisionError {
  const names = endpoints.map((each) => each.name);
  const fallback =
    diagnostics.length > 0
      ? "some definition files are invalid: run `agent-33 decision validate`"
      : "run `agent-33 decision endpoints` to list the declared endpoints";
  return new DecisionError("usage", `no endpoint called \`${name}\``, {
    hint: didYouMean(name, names) ?? fallback,
  });
}

async function statusesOf(
  declared: readonly UsedEndpoint[],
  world: ReadableWorld,
  { env }: Io,
): Promise<readonly EndpointStatus[]> {
  const { endpointStatuses } = await import("../../enrichment/endpoint-status.js");
  return endpointStatuses(declared, { shelves: shelvesOf(world), env, now: microsecondsOf(systemClock()) });
}

function shelvesOf({ records: { store } }: ReadableWorld): {
  readonly breakers: Shelf;
  readonly responses: Shelf;
} {
  return { breakers: store.shelf("breakers"), responses: store.shelf("responses") };
}

/** Sends a request to all endpoints at once. */
async function checkEndpoints(
  declared: readonly UsedEndpoint[],
  statuses: readonly EndpointStatus[],
  { flags, io }: { readonly flags: StoreFlags; readonly io: Io },
): Promise<readonly EndpointStatus[]> {
  const { checkEndpoint } = await import("../../enrichment/endpoint-status.js");
  const { lazyExchange } = await import("../../enrichment/exchange.js");
  const exchange = lazyExchange({ env: io.env });
  const showFetch = fetchProgress(flags, io);
  const checks = declared.map(async ({ name, endpoint }) => {
    const hide = showFetch?.(name);
    return checkEndpoint(endpoint, { exchange, stopwatch }).finally(hide);
  });
  const results = await Promise.all(checks);
  return statuses.map((status, index) => ({ ...status, ...(results[index] && { check: results[index] }) }));
}
