import { definitionHash } from "../definition/loaded-definition.js";
import { DecisionError } from "../errors.js";
import type { Definition } from "../model/definition.js";
import type { Store } from "../model/store.js";

/** Finds the definition with this hash; undefined where it is not stored, or was changed in the store. */
export async function findStoredDefinition(hash: string, store: Store): Promise<Definition | undefined> {
  const entry = await store.shelf("definitions").get(hash);
  if (entry === undefined) return undefined;
  const definition = entry.value as unknown as Definition;
  return definitionHash(definition) === hash ? definition : undefined;
}

/** Finds the definition of a decision's newest record; undefined where it is not stored. `none`: there is no record. */
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

/** Finds the stored definition of a decision by a unique prefix of its hash. */
export async function findDefinitionByHash(
  id: string,
  prefix: string,
  store: Store,
): Promise<StoredDefinition> {
  const lowerPrefix = prefix.toLowerCase();
  if (!/^[0-9a-f]{4,64}$/.test(lowerPrefix)) {
    throw new DecisionError("usage", `\`${prefix}\` is not a hash or a prefix of one`, {
      hint: "use at least 4 of its 64 hex digits",
    });
  }
  const all = await allStoredDefinitions(store);
  const ofDecision = all.filter(({ definition }) => definition.id === id);
  const hasPrefix = ({ definition_hash }: StoredDefinition): boolean =>
    definition_hash.startsWith(lowerPrefix);
  const [found, another] = ofDecision.filter(hasPrefix);
  if (found !== undefined && another === undefined) return await assertUnchanged(found, store);
  const message =
    found === undefined
      ? `no stored definition of \`${id}\` has the hash \`${prefix}\``
      : `\`${prefix}\` matches more than one hash`;
  throw new DecisionError("definition_not_found", message, {
    hint: hashHint(id, ofDecision, all.find(hasPrefix)),
  });
}

async function allStoredDefinitions(store: Store): Promise<readonly StoredDefinition[]> {
  const stored: StoredDefinition[] = [];
  for await (const { key, value } of store.shelf("definitions").entries())
    stored.push({ definition: value as unknown as Definition, definition_hash: key });
  return stored;
}

async function assertUnchanged(found: StoredDefinition, store: Store): Promise<StoredDefinition> {
  if ((await findStoredDefinition(found.definition_hash, store)) !== undefined) return found;
  throw new DecisionError(
    "log_damaged",
    `the stored definition \`${found.definition_hash}\` does not match its hash`,
    { hint: "it was changed in the store; check with `agent-33 decision verify`" },
  );
}

function hashHint(
  id: string,
  stored: readonly StoredDefinition[],
  other: StoredDefinition | undefined,
): string {
  if (other !== undefined && other.definition.id !== id) {
    return `it is the hash of a definition of \`${other.definition.id}\``;
  }
  if (stored.length === 0) {
    return `definitions are stored with their first record; see \`agent-33 decision log --decision-id ${id}\``;
  }
  const listed = stored.slice(0, maxListedHashes).map(({ definition, definition_hash }) => {
    const version = definition.version === undefined ? "" : ` (${definition.version})`;
    return `${definition_hash.slice(0, 12)}${version}`;
  });
  const more = stored.length > listed.length ? ` and ${stored.length - listed.length} more` : "";
  return `stored: ${listed.join(", ")}${more}`;
}
