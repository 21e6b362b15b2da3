import { definitionHash } from "../definition/loaded-definition.js";
import { DecisionError } from "../errors.js";
import type { Definition } from "../model/definition.js";
import type { Store } from "../model/store.js";

/** The definition that a record names by its hash; undefined where it is not kept, or is no longer what was kept. */
export async function findStoredDefinition(hash: string, store: Store): Promise<Definition | undefined> {
  const entry = await store.shelf("definitions").get(hash);
  if (entry === undefined) return undefined;
  const definition = entry.value as unknown as Definition;
  return definitionHash(definition) === hash ? definition : undefined;
}

/** The definition of a decision's newest record; undefined where it is not kept. `none`: there is no record. */
export async function latestStoredDefinition(
  id: string,
  store: Store,
): Promise<StoredDefinition | undefined | "none"> {
  for await (const { record } of store.log.select({ decision_id: id, kind: "decision", limit: 1 })) {
    if (record.kind !== "decision") continue;
    const { definition_hash } = record;
    const definition = await findStoredDefinition(definition_hash, store);
    return definition && { definition, definition_hash };
  }
  return "none";
}

export interface StoredDefinition {
  readonly definition: Definition;
  readonly definition_hash: string;
}

const maxListedHashes = 5;

/** The kept definition of a decision whose hash has this unique beginning. */
export async function findDefinitionByHash(
  id: string,
  beginning: string,
  store: Store,
): Promise<StoredDefinition> {
  const wanted = beginning.toLowerCase();
  if (!/^[0-9a-f]{4,64}$/.test(wanted)) {
    throw new DecisionError("usage", `\`${beginning}\` is neither a hash nor the beginning of one`, {
      hint: "give at least 4 of its 64 hex digits",
    });
  }
  const all = await allStoredDefinitions(store);
  const kept = all.filter(({ definition }) => definition.id === id);
  const fits = ({ definition_hash }: StoredDefinition): boolean => definition_hash.startsWith(wanted);
  const [found, another] = kept.filter(fits);
  if (found !== undefined && another === undefined) return await assertUnchanged(found, store);
  const message =
    found === undefined
      ? `no kept definition of \`${id}\` has the hash \`${beginning}\``
      : `\`${beginning}\` is the beginning of more than one hash`;
  throw new DecisionError("definition_not_found", message, { hint: hashHint(id, kept, all.find(fits)) });
}

async function allStoredDefinitions(store: Store): Promise<readonly StoredDefinition[]> {
  const kept: StoredDefinition[] = [];
  for await (const { key, value } of store.shelf("definitions").entries())
    kept.push({ definition: value as unknown as Definition, definition_hash: key });
  return kept;
}

async function assertUnchanged(found: StoredDefinition, store: Store): Promise<StoredDefinition> {
  if ((await findStoredDefinition(found.definition_hash, store)) !== undefined) return found;
  throw new DecisionError(
    "log_damaged",
    `the definition kept as \`${found.definition_hash}\` is not what was kept`,
    { hint: "somebody has changed it in the store" },
  );
}

function hashHint(
  id: string,
  kept: readonly StoredDefinition[],
  fitting: StoredDefinition | undefined,
): string {
  if (fitting !== undefined && fitting.definition.id !== id) {
    return `that is the hash of a definition of \`${fitting.definition.id}\``;
  }
  if (kept.length === 0) {
    return `definitions are kept from their first record on; see \`agent-33 decision log --decision-id ${id}\``;
  }
  const named = kept.slice(0, maxListedHashes).map(({ definition, definition_hash }) => {
    const version = definition.version === undefined ? "" : ` (${definition.version})`;
    return `${definition_hash.slice(0, 12)}${version}`;
  });
  const more = kept.length > named.length ? ` and ${kept.length - named.length} more` : "";
  return `kept of it: ${named.join(", ")}${more}`;
}
