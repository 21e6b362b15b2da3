import type { Records } from "../record/records.js";
import type { StoreFlags } from "./flags.js";
import type { Io } from "./io.js";
import { openKnown } from "./world.js";

/** What was decided at some time is known, whatever has become of its definition. */
export async function refuseUnknown(
  id: string | undefined,
  { log }: Records,
  { flags, io }: { readonly flags: StoreFlags; readonly io: Io },
): Promise<void> {
  if (id === undefined) return;
  const { total } = await log.tally(id, {});
  if (total > 0) return;
  const { definitions } = await openKnown(flags, io);
  if (!definitions.broken.includes(id)) await definitions.find(id);
}
