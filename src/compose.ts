import { systemClock } from "./clock.js";
import type { DecisionRequest, World } from "./decide/decide.js";
import { decide } from "./decide/decide.js";
import type { OnDecided } from "./decide/follow.js";
import { follow } from "./decide/follow.js";
import type { CheckRequest, CheckResult } from "./decide/check.js";
import { check } from "./decide/check.js";
import type { ToolResult, ToolResultRequest } from "./decide/tool-result.js";
import { recordToolResult } from "./decide/tool-result.js";
import type { Environment } from "./enrichment/auth.js";
import type { DataEnrichmentClient } from "./enrichment/client.js";
import { createClient } from "./enrichment/client.js";
import type { EndpointFetcher } from "./enrichment/fetcher.js";
import { DecisionError } from "./errors.js";
import type { Endpoints } from "./model/endpoint.js";
import type { Result } from "./model/result.js";
import type { Shelf, Store } from "./model/store.js";
import { microsecondsOf } from "./record/timestamp.js";
import { newRecordId } from "./record/record-id.js";
import { Records } from "./record/records.js";
import type { OpenedDefinitions } from "./store/definitions.js";
import { openDefinitions } from "./store/definitions.js";
import type { StoreConfiguration } from "./store/open-store.js";
import { openStore } from "./store/open-store.js";
import { version } from "./version.js";

export interface Configuration extends FetchingConfiguration {
  /** The directory of definitions. */
  readonly decisions: string;
  /** Where definitions are kept as they were understood; undefined: nowhere. */
  readonly cacheHome?: string | undefined;
  /** Where decisions are recorded and cached; undefined: nowhere, and records have no ids. */
  readonly store?: StoreConfiguration | undefined;
  /** There: only definitions are decided by that were approved with one of these keys. */
  readonly approval?: ApprovalConfiguration | undefined;
}

export interface FetchingConfiguration {
  /** Holds the secrets that endpoints name; absent: the environment of the process. */
  readonly env?: Environment | undefined;
  /** Hears that the network is asked; what it gives hears that that is over. */
  readonly onAsking?: ((endpoint: string) => () => void) | undefined;
  /** Hears of what went wrong without touching a decision. */
  readonly onTrouble?: ((message: string) => void) | undefined;
}

export interface ApprovalConfiguration {
  /** Public keys: `ed25519:…`, or files of them in PEM. */
  readonly trustedKeys: readonly string[];
}

/** The world that decisions are made in. */
export interface Composed extends World {
  readonly definitions: OpenedDefinitions;
  readonly decide: (request: DecisionRequest) => Promise<Result>;
  /** Makes a decision, and those that it leads to. */
  readonly follow: (request: DecisionRequest, onDecided?: OnDecided) => Promise<Result>;
  /** Asks every policy decision for a tool whether it may be called. */
  readonly check: (request: CheckRequest) => Promise<CheckResult>;
  /** Records how a call went that was asked about. */
  readonly recordToolResult: (request: ToolResultRequest) => Promise<ToolResult>;
  readonly close: () => Promise<void>;
}

export async function compose(configuration: Configuration): Promise<Composed> {
  refuseUnusable(configuration);
  const { store, onTrouble, approval, decisions } = configuration;
  const records = store === undefined ? undefined : await composeRecords(store, onTrouble);
  const definitions = await composeDefinitions(configuration);
  if (approval === undefined) return composeWith(records, definitions, configuration);
  return composeApproved(records, definitions, { decisions, ...approval, fetching: configuration });
}

/** Said at once to those whose compiler does not say it. */
function refuseUnusable({ decisions, store, approval }: Configuration): void {
  const isStore =
    store === undefined ||
    store === "memory" ||
    (typeof (store as unknown) === "object" && typeof (store.directory as unknown) === "string");
  const isApproval = approval === undefined || Array.isArray(approval.trustedKeys);
  if (typeof (decisions as unknown) === "string" && isStore && isApproval) return;
  throw new DecisionError(
    "usage",
    "`compose` is told the directory of definitions, where records are kept, and which keys are trusted",
    {
      hint: 'as in { decisions: "decisions", store: { directory: "records" } }; "memory" keeps them in memory',
    },
  );
}

/** The world with all that it knows already opened. */
export function composeWith<Remembered extends Records | undefined>(
  records: Remembered,
  definitions: OpenedDefinitions,
  fetching: FetchingConfiguration = {},
): Composed & { readonly records: Remembered } {
  const fetcher = once(() => composeFetcher(records?.store, fetching));
  const world = { definitions, clock: systemClock, newId, records, fetcher };
  return {
    ...world,
    decide: (request) => decide(request, world),
    follow: (request, onDecided) => follow(request, world, onDecided),
    check: (request) => check(request, world),
    recordToolResult: (request) => recordToolResult(request, world),
    close: async () => records?.store.close(),
  };
}

interface ApprovedBy extends ApprovalConfiguration, Pick<Configuration, "decisions"> {
  readonly fetching: FetchingConfiguration;
  /** Where the newest locks are remembered; absent: with the records. */
  readonly seenLocks?: Shelf;
}

/** The same where definitions must be approved; what is asked in earnest is remembered to have been by this lock. */
export async function composeApproved<Remembered extends Records | undefined>(
  records: Remembered,
  opened: OpenedDefinitions,
  { decisions: directory, trustedKeys, fetching, seenLocks }: ApprovedBy,
): Promise<Composed & { readonly records: Remembered }> {
  const { openApprovedDefinitions: approvedDefinitions } = await import("./store/approved-definitions.js");
  const shelf = seenLocks ?? (records && seenLocksIn(records.store));
  const { definitions, markLockSeen: remember } = await approvedDefinitions(opened, {
    directory,
    trustedKeys,
    shelf,
  });
  const composed = composeWith(records, definitions, fetching);
  const remembering =
    <Asked extends { readonly dry_run?: boolean }, More extends readonly unknown[], Answer>(
      ask: (request: Asked, ...more: More) => Promise<Answer>,
    ) =>
    async (request: Asked, ...more: More): Promise<Answer> => {
      if (!request.dry_run) await remember();
      return ask(request, ...more);
    };
  return {
    ...composed,
    decide: remembering(composed.decide),
    follow: remembering(composed.follow),
    check: remembering(composed.check),
  };
}

/** What a store remembers of locks. */
export const seenLocksIn = (store: Store): Shelf => store.shelf("approvals");

export function composeDefinitions({
  decisions,
  cacheHome,
}: Pick<Configuration, "decisions" | "cacheHome">): Promise<OpenedDefinitions> {
  return openDefinitions({ directory: decisions, cacheHome, version });
}

/** What is remembered, without the definitions. */
export async function composeRecords(
  store: StoreConfiguration,
  onTrouble: (message: string) => void = () => undefined,
): Promise<Records> {
  const newNote = (): { record_id: string; timestamp: string } => {
    const timestamp = systemClock();
    return { record_id: newId(timestamp), timestamp };
  };
  return new Records(await openStore(store, { clock: systemClock, newId }), {
    newNote,
    onWarning: onTrouble,
  });
}

/** What fetches from endpoints; most decisions do without, so it is loaded for those that do not. */
async function composeFetcher(
  store: Store | undefined,
  { env = process.env, onAsking, onTrouble }: FetchingConfiguration,
): Promise<EndpointFetcher> {
  const { createNetworkFetcher } = await import("./enrichment/fetcher.js");
  const kept = store ?? (await openStore("memory", { clock: systemClock, newId }));
  const shelves = { breakers: kept.shelf("breakers"), responses: kept.shelf("responses") };
  return createNetworkFetcher({ shelves, env, onRequest: onAsking, onWarning: onTrouble });
}

export interface DataEnrichmentOptions extends Pick<FetchingConfiguration, "env" | "onTrouble"> {
  /** As a definition file has them. */
  readonly endpoints: Endpoints;
  /** Where answers and circuits are kept; absent: in memory. */
  readonly store?: StoreConfiguration;
}

/** Fetches in one's own program what definitions fetch by `enrich`. */
export function dataEnrichmentClient(options: DataEnrichmentOptions): DataEnrichmentClient {
  const { store = "memory" } = options;
  const fetcher = once(async () =>
    composeFetcher(await openStore(store, { clock: systemClock, newId }), options),
  );
  return createClient(options.endpoints, fetcher);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

const newId = (timestamp: string): string => newRecordId(microsecondsOf(timestamp), Math.random);
