import { measureTable } from "./in-process.mjs";
import { gate } from "./types/gate.mjs";
import { policy } from "./types/policy.mjs";
import { scored } from "./types/scored.mjs";

/** Votes, policies and gates beside json-rules-engine on the same rules; both tell what came of each. */
export async function* measureOtherTypes(settings) {
  for (const { name, title, contexts, ours, theirs } of [scored, policy, gate]) {
    yield measureTable({
      name,
      title,
      table: { contexts, cycle: contexts.length },
      contestants: [ours, { ...theirs, name: "json-rules-engine", peer: "json-rules-engine", isAsync: true }],
      settings,
      targetFor: ({ peer }) => (peer === undefined ? undefined : { least: 10 }),
    });
  }
}
