const others = [
  "agent-33-decide",
  "json-rules-engine",
  "json-logic-engine",
  "cel-js",
  "zen-engine",
  "hand-written",
];

/**
 * Ours first, then all others that can be loaded. A contestant says what it is called, what it gives,
 * whether it `isAsync`, which `peer` it needs, and makes of a table the function that answers a context
 * with a target.
 */
export async function loadContestants() {
  const contestants = [await load("agent-33")];
  const failures = [];
  for (const name of others) {
    try {
      contestants.push(await load(name));
    } catch (error) {
      failures.push(`${name} cannot be loaded: ${error.message.split("\n")[0]}`);
    }
  }
  return { contestants, failures };
}

async function load(name) {
  const { contestant } = await import(`./contestants/${name}.mjs`);
  return contestant;
}
