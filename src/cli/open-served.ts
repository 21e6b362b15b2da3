import type { Composed } from "../compose.js";
import { composeApproved, composeDefinitions, composeWith } from "../compose.js";
import type { Records } from "../record/records.js";
import { definitionStamp } from "../store/definition-stamp.js";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import { settingsFiles } from "./read-settings.js";
import { approvalSettings, decisionsDirectory } from "./settings.js";
import { cacheHome } from "./user-directory.js";
import type { Known } from "./world.js";
import { fetchingFor, openOwnRecords, openSeenLocks } from "./world.js";

/** What a server needs, which goes on while definitions change. */
export interface Served {
  readonly records: Records;
  /** The world with the definitions as they are now. */
  readonly open: () => Promise<Composed & Known>;
  /** Changes whenever the definitions do. */
  readonly stamp: () => string;
  readonly mustBeApproved: boolean;
}

export async function openServed(flags: DecideFlags, io: Io): Promise<Served> {
  const files = settingsFiles(io);
  const records = await openOwnRecords(flags, io, files);
  const { value: decisions } = decisionsDirectory(flags.decisions, io, files);
  const approval = approvalSettings(flags, io, files);
  const fetching = fetchingFor(flags, io);
  const seenLocks = approval.required ? await openSeenLocks(flags, io, { files, records }) : undefined;
  return {
    records,
    mustBeApproved: approval.required,
    stamp: () => definitionStamp(decisions),
    async open() {
      const definitions = await composeDefinitions({ decisions, cacheHome: cacheHome(io.env) });
      // Now, as the files of those that nobody has asked for yet may be others by the time somebody does.
      for (const id of definitions.ids) await definitions.lookUp(id);
      if (seenLocks === undefined) return composeWith(records, definitions, fetching);
      const trustedKeys = approval.trustedKeys();
      return composeApproved(records, definitions, { decisions, trustedKeys, fetching, seenLocks });
    },
  };
}
