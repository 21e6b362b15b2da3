import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { parseInstant } from "../../expression/instant.js";
import { present } from "../../present/format.js";
import { overridesView } from "../../present/overrides-view.js";
import { parseDuration } from "../../record/moment.js";
import type { OverrideStatus } from "../../record/overrides.js";
import { overrideStatuses } from "../../record/overrides.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { limitOf } from "../../record/asked-query.js";
import type { Known } from "../world.js";
import { note, openKnown, warnOfMissingStore, warnOfProblems } from "../world.js";

interface OverridesFlags extends StoreFlags {
  readonly decisionId?: string;
  readonly expiring?: string;
  readonly limit?: string;
}

const shownRecords = "20";

export function addOverridesCommand(parent: Command, io: Io): void {
  const command = parent
    .command("overrides")
    .option("--decision-id <id>", "only those of this decision")
    .option("--expiring <duration>", "only those that expire so soon, such as 30d")
    .option("--limit <n>", `so many of the records that used each, newest first (else ${shownRecords})`);
  addCommonFlags(addStoreFlags(command))
    .summary("list the overrides, what is left of them and who used them")
    .description("Lists every override of every policy: its window, uses, uses left, last use and records.")
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision overrides
  $ agent-33 decision overrides --expiring 30d --format json`,
    )
    .action(async (flags: OverridesFlags) => {
      const format = formatFor(flags, io, { answer: "many" });
      warnOfMissingStore(flags, io);
      const isMeant = expiringBy(flags.expiring, Date.now());
      const records = limitOf(flags.limit ?? shownRecords, "--limit");
      const known = await openKnown(flags, io);
      const all = await overridesIn(known, { only: flags.decisionId, now: Date.now(), records });
      const shown = all.filter(isMeant);
      if (shown.length === 0 && !flags.quiet) {
        note(io, all.length === 0 ? "no policy has an override" : "no override expires so soon");
      }
      io.out.write(await present(overridesView(shown), format, await styleFor(flags, io)));
      warnOfProblems(flags, io, known.definitions.problems);
    });
}

interface Asked {
  readonly only: string | undefined;
  readonly now: number;
  readonly records: number;
}

async function overridesIn(
  { definitions, records: { log } }: Known,
  { only, now, records }: Asked,
): Promise<readonly OverrideStatus[]> {
  const ids = definitions.summaries.filter(({ tools }) => tools !== undefined).map(({ id }) => id);
  const loaded = await Promise.all((only === undefined ? ids : [only]).map((id) => definitions.lookUp(id)));
  const statuses = await Promise.all(
    loaded.map(({ definition }) => {
      if (definition.type === "policy") return overrideStatuses(definition, { log, now, records });
      throw new DecisionError("usage", `\`${definition.id}\` is no policy, so it has no overrides`);
    }),
  );
  return statuses.flat();
}

function expiringBy(text: string | undefined, now: number): (each: OverrideStatus) => boolean {
  if (text === undefined) return () => true;
  const duration = parseDuration(text);
  if (duration === undefined) {
    throw new DecisionError("usage", `--expiring must be a duration (got \`${text}\`)`, {
      hint: "such as 30d, 12h or 2w",
    });
  }
  const last = now + duration / 1000;
  return ({ expires_at, status }) =>
    expires_at !== null && status !== "expired" && (parseInstant(expires_at) ?? Infinity) <= last;
}
