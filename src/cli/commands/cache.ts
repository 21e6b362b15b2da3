import type { Command } from "commander";
import { systemClock } from "../../clock.js";
import { DecisionError } from "../../errors.js";
import { formatBytes, formatCount } from "../../present/text.js";
import type { View } from "../../present/format.js";
import { present } from "../../present/format.js";
import type { CacheStatus } from "../../record/answer-cache.js";
import { cacheStatus } from "../../record/answer-cache.js";
import { microsecondsOf } from "../../record/timestamp.js";
import { confirm } from "../io.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { note, openReadableWorld, openRecords, assertStoreExists } from "../world.js";

interface ClearFlags extends StoreFlags {
  readonly yes?: boolean;
}

type Done = (code: ExitCode) => void;

export function addCacheCommand(parent: Command, io: Io, done: Done): void {
  const cache = parent
    .command("cache")
    .summary("show and clear cached results")
    .description("Show and clear the cached results of decisions with `cache: { enabled: true }`.")
    .helpCommand(false);
  addStatus(cache, io);
  addInvalidate(cache, io);
  addClear(cache, io, done);
}

function addStatus(cache: Command, io: Io): void {
  addCommonFlags(addStoreFlags(cache.command("status")))
    .summary("show the size and hit rate of the cache")
    .description(
      "Show how many results are cached and expired, the hits and misses, and the size and location of the cache.",
    )
    .addHelpText(
      "after",
      "\nExamples:\n  $ agent-33 decision cache status\n  $ agent-33 decision cache status --json",
    )
    .action(async (flags: StoreFlags) => {
      const records = await openRecords(flags, io);
      const status: CacheStatus = await cacheStatus(records.store, microsecondsOf(systemClock()));
      await show(cacheStatusView(status), flags, io);
    });
}

function addInvalidate(cache: Command, io: Io): void {
  addCommonFlags(addStoreFlags(cache.command("invalidate").argument("<id>", "id of the decision")))
    .summary("remove the cached results of a decision")
    .description("Remove every cached result of a decision and print the number of removed entries.")
    .addHelpText("after", "\nExamples:\n  $ agent-33 decision cache invalidate expense-approval")
    .action(async (id: string, flags: StoreFlags) => {
      assertStoreExists(flags, io);
      const { store } = await openRecords(flags, io);
      const removed = await store.shelf("cache").remove(({ group }) => group === id);
      if (removed === 0) await assertDefined(id, flags, io);
      await show(cacheRemovalView(removed, id), flags, io);
    });
}

/** Throws for an unknown id, which has no cached results either. Without definitions, no id is known. */
async function assertDefined(id: string, flags: StoreFlags, io: Io): Promise<void> {
  try {
    await (await openReadableWorld(flags, io)).definitions.findForInspection(id);
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code === "definition_not_found") throw error;
  }
}

function addClear(cache: Command, io: Io, done: Done): void {
  addCommonFlags(addStoreFlags(cache.command("clear").option("-y, --yes", "do not ask for confirmation")))
    .summary("remove all cached results")
    .description(
      "Remove every cached result of every decision. Asks for confirmation on a terminal; otherwise --yes is required.",
    )
    .addHelpText("after", "\nExamples:\n  $ agent-33 decision cache clear --yes")
    .action(async (flags: ClearFlags) => {
      assertStoreExists(flags, io);
      const { store } = await openRecords(flags, io);
      if (!confirm("Remove all cached results?", flags, io)) {
        note(io, "nothing removed");
        done(2);
        return;
      }
      await show(cacheRemovalView(await store.shelf("cache").remove(() => true)), flags, io);
    });
}

async function show(view: View, flags: StoreFlags, io: Io): Promise<void> {
  io.out.write(await present(view, formatFor(flags, io, { answer: "one" }), await styleFor(flags, io)));
}

function cacheStatusView(status: CacheStatus): View {
  const { entries, live, expired, hits, misses, size, where, decisions } = status;
  const lookups = hits + misses;
  return {
    value: status,
    plain: () =>
      Object.entries({ entries, live, expired, hits, misses, size, where })
        .map(([name, value]) => `${name}\t${value}`)
        .join("\n"),
    table: ({ paint }) => {
      const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(8))} ${value}`;
      const rate =
        lookups === 0 ? "" : ` (${((hits / lookups) * 100).toFixed(1)} % of ${formatCount(lookups)})`;
      return [
        `${paint("bold", `${formatCount(live)} result${live === 1 ? "" : "s"} cached`)}${expired === 0 ? "" : `, ${formatCount(expired)} expired`}`,
        "",
        field("hits", `${formatCount(hits)}${rate}`),
        field("misses", formatCount(misses)),
        field("size", formatBytes(size)),
        field("where", where),
        ...decisions.map((each, index) =>
          field(
            index === 0 ? "of" : "",
            `${each.decision_id}  ${formatCount(each.live)} of ${formatCount(each.entries)} live`,
          ),
        ),
      ].join("\n");
    },
  };
}

function cacheRemovalView(removed: number, decisionId?: string): View {
  const suffix = decisionId === undefined ? "" : ` of ${decisionId}`;
  return {
    value: decisionId === undefined ? { removed } : { decision_id: decisionId, removed },
    plain: () => String(removed),
    table: () => `${formatCount(removed)} cached result${removed === 1 ? "" : "s"}${suffix} removed`,
  };
}
