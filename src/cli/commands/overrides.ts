import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { parseInstant } from "../../expression/instant.js";
import { windowText } from "../../present/definition-rows.js";
import type { Colour, View } from "../../present/format.js";
import { present } from "../../present/format.js";
import { readableTime } from "../../present/record-text.js";
import { parseLimit, parseTimeField } from "../../record/record-query.js";
import { parseDuration } from "../../definition/duration.js";
import type { Library } from "../../definition/library.js";
import type { OverrideStatus } from "../../record/override-status.js";
import { overrideStatuses } from "../../record/override-status.js";
import { addCommonFlags, addStoreFlags, addTimeRangeFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { noteHiddenColumns } from "../output.js";
import type { PatternFlags } from "../override-patterns.js";
import { defaultMinimum, showPatterns } from "../override-patterns.js";
import type { ReadableWorld } from "../world.js";
import { note, openReadableWorld, warnIfStoreMissing, warnAboutDefinitions } from "../world.js";
import { didYouMean, oneLine } from "../../text.js";

interface OverridesFlags extends PatternFlags {
  readonly patterns?: boolean;
  readonly at?: string;
  readonly expiring?: string;
  readonly limit?: string;
}

const defaultLimit = "20";

export function addOverridesCommand(parent: Command, io: Io): void {
  const command = parent
    .command("overrides")
    .option("--decision-id <id>", "filter by decision")
    .option("--policy <name>", "show the overrides of this policy")
    .option("--at <time>", "show status and uses at this time, such as 2026-12-31 or 7d (7 days ago)")
    .option("--expiring <duration>", "show overrides that expire within this duration, such as 30d")
    .option("--limit <n>", `maximum number of records per override, newest first (default ${defaultLimit})`)
    .option("--patterns", "show which overrides flip which policies, for which inputs; suggest changes")
    .option("--override <name>", "with --patterns: show this override only")
    .option(
      "--min <n>",
      `with --patterns: suggest a change from this many flips on (default ${defaultMinimum})`,
    )
    .option("--out <file>", "with --patterns: write the changed definition, for `backtest --against`");
  addCommonFlags(addStoreFlags(addTimeRangeFlags(command)))
    .summary("list overrides and their uses")
    .description(
      "List every override of every policy with its time window, uses, remaining uses, last use and records. With " +
        "--patterns, count in the log how often each override flipped the denials of each policy and for which values " +
        "of the inputs that it reads, and suggest the change of the policy that makes a frequent override unnecessary.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision overrides
  $ agent-33 decision overrides --policy customer_inclusion --at 2026-12-31
  $ agent-33 decision overrides --expiring 30d --format json
  $ agent-33 decision overrides --patterns --since 30d
  $ agent-33 decision overrides --patterns --policy small_refunds --out new.yaml`,
    )
    .action(async (flags: OverridesFlags) => {
      assertFlagsFit(flags);
      if (flags.patterns) return showPatterns(flags, io);
      const format = formatFor(flags, io, { answer: "many" });
      warnIfStoreMissing(flags, io);
      const now = parseAt(flags.at);
      const isExpiring = expiryFilter(flags.expiring, now);
      const records = parseLimit(flags.limit ?? defaultLimit, "--limit");
      const world = await openReadableWorld(flags, io);
      const { policy } = flags;
      if (policy !== undefined) assertPolicyKnown(policy, world.definitions);
      const all = await overridesIn(world, { decisionId: flags.decisionId, now, records });
      const shown = all.filter(
        (each) => (policy === undefined || each.overrides.includes(policy)) && isExpiring(each),
      );
      if (shown.length === 0 && !flags.quiet) {
        note(io, all.length === 0 ? "no overrides found" : "no matching overrides");
      }
      const style = await styleFor(flags, io);
      const hidden = format === "table" ? hiddenColumns(shown.map(overrideCells), style.columns) : [];
      io.out.write(await present(overridesView(shown, new Set(hidden)), format, style));
      noteHiddenColumns(hidden, flags, io);
      warnAboutDefinitions(flags, io, world.definitions.diagnostics);
    });
}

const patternFlags = ["override", "min", "out", "since", "until"] as const;
const listFlags = ["at", "expiring", "limit"] as const;

function assertFlagsFit(flags: OverridesFlags): void {
  const unfit = (flags.patterns ? listFlags : patternFlags).find((name) => flags[name] !== undefined);
  if (unfit === undefined) return;
  throw new DecisionError(
    "usage",
    `--${unfit} ${flags.patterns ? "cannot be combined with" : "needs"} --patterns`,
    {
      hint: flags.patterns ? "use --since and --until for a time range" : "add --patterns",
    },
  );
}

/** Returns milliseconds since 1970. */
function parseAt(text: string | undefined): number {
  const now = Date.now();
  return text === undefined ? now : Math.floor(parseTimeField("--at", text, now * 1000) / 1000);
}

function assertPolicyKnown(name: string, { summaries }: Pick<Library, "summaries">): void {
  const known = summaries.flatMap(({ policies = [] }) => policies);
  if (known.includes(name)) return;
  throw new DecisionError("usage", `no policy called \`${name}\``, {
    hint: didYouMean(name, known) ?? "run `agent-33 decision show ID` to see the policies of a decision",
  });
}

interface OverrideQuery {
  readonly decisionId: string | undefined;
  readonly now: number;
  readonly records: number;
}

async function overridesIn(
  { definitions, records: { log } }: ReadableWorld,
  { decisionId, now, records }: OverrideQuery,
): Promise<readonly OverrideStatus[]> {
  const ids = definitions.summaries.filter(({ tools }) => tools !== undefined).map(({ id }) => id);
  const loaded = await Promise.all(
    (decisionId === undefined ? ids : [decisionId]).map((id) => definitions.findForInspection(id)),
  );
  const statuses = await Promise.all(
    loaded.map(({ definition }) => {
      if (definition.type === "policy") return overrideStatuses(definition, { log, now, records });
      throw new DecisionError("usage", `\`${definition.id}\` is not a policy, so it has no overrides`);
    }),
  );
  return statuses.flat();
}

function expiryFilter(text: string | undefined, now: number): (each: OverrideStatus) => boolean {
  if (text === undefined) return () => true;
  const duration = parseDuration(text);
  if (duration === undefined) {
    throw new DecisionError("usage", `--expiring must be a duration (got \`${text}\`)`, {
      hint: "such as 30d, 12h or 2w",
    });
  }
  const latest = now + duration / 1000;
  return ({ expires_at, status }) =>
    expires_at !== null && status !== "expired" && (parseInstant(expires_at) ?? Infinity) <= latest;
}

function overridesView(overrides: readonly OverrideStatus[], hidden: ReadonlySet<string>): View {
  return {
    value: overrides,
    items: overrides,
    plain: () => overrides.map((each) => overrideCells(each).join("\t")).join("\n"),
    table: async (style) => {
      if (overrides.length === 0) return "";
      const { grid } = await import("../../present/grid.js");
      const rows = overrides.map((each) => {
        const [decision = "", name = "", version = "", , ...others] = overrideCells(each);
        return [decision, name, version, style.paint(statusColours[each.status], each.status), ...others];
      });
      const columns = columnTitles
        .filter((title) => !hidden.has(title))
        .map((title) => ({ title, ...(title === "window" && { flexible: true as const }) }));
      const shown = rows.map((row) => row.filter((_, index) => !hidden.has(columnTitles[index] ?? "")));
      return grid(columns, shown, style);
    },
  };
}

const columnTitles = [
  "decision",
  "override",
  "version",
  "status",
  "window",
  "uses",
  "last used (UTC)",
  "record",
];

/** Columns that are dropped on a narrow terminal, in this order. */
const dropOrder = ["record", "version", "window", "last used (UTC)", "decision"];

/** Returns the titles of the columns that have no room. */
function hiddenColumns(rows: readonly (readonly string[])[], width: number): readonly string[] {
  const widths = columnTitles.map((title, index) =>
    rows.reduce((most, row) => Math.max(most, row[index]?.length ?? 0), title.length),
  );
  let total = widths.reduce((sum, each) => sum + each + 2, -2);
  const hidden: string[] = [];
  for (const title of dropOrder) {
    if (total <= width) break;
    total -= (widths[columnTitles.indexOf(title)] ?? 0) + 2;
    hidden.push(title);
  }
  return hidden;
}

const statusColours: Readonly<Record<OverrideStatus["status"], Colour>> = {
  live: "green",
  pending: "cyan",
  expired: "dim",
  used_up: "yellow",
};

function overrideCells(each: OverrideStatus): readonly string[] {
  const { max_applications: max, uses, org_uses: ofOrgs, last_used: last } = each;
  const limited = max === null ? String(uses) : `${uses - ofOrgs} of ${max}`;
  return [
    each.decision_id,
    each.name,
    each.version,
    each.status,
    windowText(each),
    max === null || ofOrgs === 0 ? limited : `${limited}, ${ofOrgs} by organisations`,
    last === null ? "never" : readableTime(last).slice(0, 19),
    each.records[0] ?? "",
  ].map(oneLine);
}
