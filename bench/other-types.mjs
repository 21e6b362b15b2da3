import { measureTable } from "./in-process.mjs";

/** Loaded when they are measured, as the peer is installed by then. */
const types = ["scored", "policy", "gate"];

/** Votes, policies and gates beside json-rules-engine on the same rules; both tell what came of each. */
export async function* measureOtherTypes(settings) {
  for (const type of types) {
    const { [type]: compared } = await import(`./types/${type}.mjs`);
    const { name, title, contexts, ours, theirs } = compared;
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
