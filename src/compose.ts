import { systemClock } from "./clock.js";
import type { DecisionRequest, World } from "./decide/decide.js";
import { decide } from "./decide/decide.js";
import type { LineageOptions, OnScope } from "./decide/request.js";
import type { OnDecided } from "./decide/follow.js";
import type { CheckRequest, CheckResult, UnknownTools } from "./decide/check.js";
import type { ToolResult, ToolResultRequest } from "./decide/tool-result.js";
import { maxPrecedentRefs } from "./decide/request.js";
import type { Environment } from "./enrichment/auth.js";
import type { EndpointFetcher } from "./enrichment/fetcher.js";
import { DecisionError } from "./errors.js";
import type { CustomVoters, Evaluator } from "./evaluate/scored/plug-ins.js";
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

export interface Configuration extends Omit<WorldOptions, "voters"> {
  /** The custom evaluators that `scored` decisions name. */
  readonly evaluators?: readonly Evaluator[] | undefined;
  /** The directory of definitions. */
  readonly decisions: string;
  /** The directory for cached parsed definitions; undefined: no cache. */
  readonly cacheHome?: string | undefined;
  /**
   * Where decisions are recorded and cached; undefined: nothing is recorded, and results have no record id. A store that
   * is opened already stays open when the world is closed.
   */
  readonly store?: StoreConfiguration | Store | undefined;
  /** If set, only definitions approved with one of these keys are used. */
  readonly approval?: ApprovalConfiguration | undefined;
}

/** How decisions are made. */
export interface WorldOptions extends FetchingConfiguration {
  /** The custom evaluators that `scored` decisions name. */
  readonly voters?: CustomVoters | undefined;
  /** The answer of `check` about a tool that no policy matches; absent: allowed, unless there is no policy at all. */
  readonly unknownTools?: UnknownTools | undefined;
  /** What is recorded of the lineage of decisions; absent: all of it. */
  readonly lineage?: LineageOptions | undefined;
  /** Called with the values that each decision is made with, masked. */
  readonly onScope?: OnScope | undefined;
}

export interface FetchingConfiguration {
  /** The secrets that endpoints name; absent: `process.env`. */
  readonly env?: Environment | undefined;
  /** Called before a request is sent; the returned function is called when it ends. */
  readonly onRequest?: ((endpoint: string) => () => void) | undefined;
  /** Called with warnings that do not affect a decision. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

export interface ApprovalConfiguration {
  /** Public keys: `ed25519:…`, or files of them in PEM. */
  readonly trustedKeys: readonly string[];
}

/** The key of a gate. */
export interface GateKey {
  readonly org_id: string;
  readonly domain: string;
  readonly action: string;
  readonly world_model_version?: number | undefined;
}

/** A composed world: definitions, store and network, with the operations on them. */
export interface Composed extends World {
  readonly definitions: OpenedDefinitions;
  readonly decide: (request: DecisionRequest) => Promise<Result>;
  /** Makes a decision and those that it leads to. */
  readonly follow: (request: DecisionRequest, onDecided?: OnDecided) => Promise<Result>;
  /** Returns the id of the gate of an action; without a version, that of the highest. */
  readonly findGate: (key: GateKey) => Promise<string>;
  /** Checks a tool call against every policy decision for the tool. */
  readonly check: (request: CheckRequest) => Promise<CheckResult>;
  /** Records the result of a tool call. */
  readonly recordToolResult: (request: ToolResultRequest) => Promise<ToolResult>;
  readonly close: () => Promise<void>;
}

export async function compose(configuration: Configuration): Promise<Composed> {
  assertConfiguration(configuration);
  const { store, onWarning, approval, decisions, evaluators } = configuration;
  const voters = evaluators && (await import("./evaluate/scored/plug-ins.js")).registerEvaluators(evaluators);
  const records = store === undefined ? undefined : await composeRecords(store, onWarning);
  const definitions = await composeDefinitions(configuration);
  const world =
    approval === undefined
      ? composeWith(records, definitions, { ...configuration, voters })
      : await composeApproved(records, definitions, {
          decisions,
          ...approval,
          options: { ...configuration, voters },
        });
  return isOpenStore(store) ? { ...world, close: () => Promise.resolve() } : world;
}

/** Checks the configuration for callers without TypeScript. */
function assertConfiguration({ decisions, store, approval, unknownTools, lineage }: Configuration): void {
  const isStore =
    store === undefined ||
    store === "memory" ||
    isOpenStore(store) ||
    (typeof (store as unknown) === "object" && typeof (store.directory as unknown) === "string");
  const isApproval = approval === undefined || Array.isArray(approval.trustedKeys);
  if (unknownTools !== undefined && !["deny", "allow"].includes(unknownTools)) {
    throw new DecisionError(
      "usage",
      `\`unknownTools\` must be \`deny\` or \`allow\` (got \`${unknownTools as string}\`)`,
    );
  }
  if (lineage !== undefined) assertLineageOptions(lineage);
  if (typeof (decisions as unknown) === "string" && isStore && isApproval) return;
  throw new DecisionError(
    "usage",
    "`compose` needs a directory of definitions; `store` and `approval` are optional",
    {
      hint: 'for example { decisions: "decisions", store: { directory: "records" } }; store: "memory" keeps records in memory',
    },
  );
}

function assertLineageOptions(options: LineageOptions): void {
  const { enabled = true, storePrecedents = true, maxPrecedentRefs: most = 1, ...unknown } = options;
  const [name] = Object.keys(unknown);
  const areSwitches = [enabled, storePrecedents].every((each: unknown) => typeof each === "boolean");
  const isInRange = Number.isInteger(most) && most >= 1 && most <= maxPrecedentRefs;
  if (areSwitches && isInRange && name === undefined) return;
  throw new DecisionError(
    "usage",
    name === undefined ? "an option of `lineage` has a wrong value" : `\`lineage\` has no option \`${name}\``,
    {
      hint: `\`enabled\` and \`storePrecedents\` are true or false, \`maxPrecedentRefs\` is a whole number from 1 to ${maxPrecedentRefs}`,
    },
  );
}

/** Whether it is a store of the caller rather than the place of one. */
export const isOpenStore = (store: Configuration["store"]): store is Store =>
  typeof store === "object" && "log" in store && typeof store.shelf === "function";

/** Composes a world from an opened store and opened definitions. */
export function composeWith<Recorded extends Records | undefined>(
  records: Recorded,
  definitions: OpenedDefinitions,
  { unknownTools, voters, lineage, onScope, ...fetching }: WorldOptions = {},
): Composed & { readonly records: Recorded } {
  const fetcher = once(() => composeFetcher(records?.store, fetching));
  const world = {
    definitions,
    clock: systemClock,
    newId,
    records,
    fetcher,
    unknownTools,
    voters,
    lineage,
    onScope,
  };
  return {
    ...world,
    decide: (request) => decide(request, world),
    follow: async (request, onDecided) => {
      const { follow } = await import("./decide/follow.js");
      return follow(request, world, onDecided);
    },
    findGate: async ({ org_id: org, domain, action, world_model_version: version }) => {
      const { findGate } = await import("./definition/gate-key.js");
      return findGate({ org, domain, action, version }, definitions);
    },
    check: async (request) => {
      const { check } = await import("./decide/check.js");
      return check(request, world);
    },
    recordToolResult: async (request) => {
      const { recordToolResult } = await import("./decide/tool-result.js");
      return recordToolResult(request, world);
    },
    close: async () => records?.store.close(),
  };
}

interface ApprovedBy extends ApprovalConfiguration, Pick<Configuration, "decisions"> {
  readonly options: WorldOptions;
  /** Where the newest locks are recorded; absent: in the store. */
  readonly seenLocks?: Shelf;
}

/** Composes a world that uses approved definitions only. Every decision that is not a dry run records the lock it used, so that an older lock is refused later. */
export async function composeApproved<Recorded extends Records | undefined>(
  records: Recorded,
  opened: OpenedDefinitions,
  { decisions: directory, trustedKeys, options, seenLocks }: ApprovedBy,
): Promise<Composed & { readonly records: Recorded }> {
  const { openApprovedDefinitions } = await import("./store/approved-definitions.js");
  const shelf = seenLocks ?? (records && seenLocksIn(records.store));
  const { definitions, markLockSeen } = await openApprovedDefinitions(opened, {
    directory,
    trustedKeys,
    shelf,
  });
  const composed = composeWith(records, definitions, options);
  const recordingLock =
    <Request extends { readonly dry_run?: boolean }, More extends readonly unknown[], Answer>(
      operation: (request: Request, ...more: More) => Promise<Answer>,
    ) =>
    async (request: Request, ...more: More): Promise<Answer> => {
      if (!request.dry_run) await markLockSeen();
      return operation(request, ...more);
    };
  return {
    ...composed,
    decide: recordingLock(composed.decide),
    follow: recordingLock(composed.follow),
    check: recordingLock(composed.check),
  };
}

/** The shelf of a store for seen locks. */
export const seenLocksIn = (store: Store): Shelf => store.shelf("approvals");

export function composeDefinitions({
  decisions,
  cacheHome,
}: Pick<Configuration, "decisions" | "cacheHome">): Promise<OpenedDefinitions> {
  return openDefinitions({ directory: decisions, cacheHome, version });
}

/** Opens the records of a store. */
export async function composeRecords(
  store: StoreConfiguration | Store,
  onWarning: (message: string) => void = () => undefined,
): Promise<Records> {
  const newNote = (): { record_id: string; timestamp: string } => {
    const timestamp = systemClock();
    return { record_id: newId(timestamp), timestamp };
  };
  const opened = isOpenStore(store)
    ? store
    : await openSystemStore(store === "memory" ? store : { onWarning, ...store });
  return new Records(opened, { newNote, onWarning });
}

/** Opens a store with the clock of the system. */
export const openSystemStore = (store: StoreConfiguration): Promise<Store> =>
  openStore(store, { clock: systemClock, newId });

/** Creates the fetcher. It is loaded lazily, because most decisions fetch nothing. */
export async function composeFetcher(
  store: Store | undefined,
  { env = process.env, onRequest, onWarning }: FetchingConfiguration,
): Promise<EndpointFetcher> {
  const { createNetworkFetcher } = await import("./enrichment/fetcher.js");
  const kept = store ?? (await openSystemStore("memory"));
  const shelves = { breakers: kept.shelf("breakers"), responses: kept.shelf("responses") };
  return createNetworkFetcher({ shelves, env, onRequest, onWarning });
}

export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

const newId = (timestamp: string): string => newRecordId(microsecondsOf(timestamp), Math.random);
