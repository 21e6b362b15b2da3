import { DecisionError } from "../errors.js";
import type { GateAction } from "../model/definition.js";
import { didYouMean } from "../text.js";
import type { DefinitionSummary } from "./definition-file.js";
import type { Library } from "./library.js";

/** The key of a gate; without a version, the highest version is used. */
interface GateKey {
  readonly org: string;
  readonly domain: string;
  readonly action: string;
  readonly version?: number | undefined;
}

/** Formats the key of a gate: `ORG/DOMAIN/ACTION@VERSION`. */
export function gateKeyText({ org, domain, name, world_model_version = 1 }: GateAction): string {
  return `${org}/${domain}/${name}@${world_model_version}`;
}

const gateKeyPattern = /^([^\s/@]+)\/([^\s/@]+)\/([^\s/@]+)(?:@(\d{1,15}))?$/;

/** Parses the key of a gate. The gates are for the hint where the text is the id of one of them. */
export function parseGateKey(text: string, gates: readonly GateSummary[] = []): GateKey {
  const [, org, domain, action, version] = gateKeyPattern.exec(text) ?? [];
  if (org === undefined || domain === undefined || action === undefined) {
    const named = gates.find(({ id }) => id === text);
    throw new DecisionError("usage", `\`${text}\` is not a gate key`, {
      hint:
        named === undefined
          ? "write ORG/DOMAIN/ACTION or ORG/DOMAIN/ACTION@VERSION, such as acme/payments/wire.approve@3"
          : `write ${gateKeyText(named.action)}, or use \`agent-33 decision evaluate ${text}\``,
    });
  }
  return { org, domain, action, version: version === undefined ? undefined : Number(version) };
}

/** Throws for the key of a gate where the id of a decision is expected; ids have no slashes. */
export function assertNoGateKey(text: string, gates: readonly GateSummary[]): void {
  if (!gateKeyPattern.test(text)) return;
  const gate = chooseGate(parseGateKey(text), gates);
  const id = gate === undefined ? "" : `; its id is \`${gate.id}\``;
  throw new DecisionError("definition_not_found", `no decision called \`${text}\``, {
    hint: `to evaluate a gate by its key, use \`agent-33 decision gate ${text}\`${id}`,
  });
}

const gatesOf = (key: GateKey, gates: readonly GateSummary[]): readonly GateSummary[] =>
  gates.filter(
    ({ action }) => action.org === key.org && action.domain === key.domain && action.name === key.action,
  );

const versionOf = ({ world_model_version = 1 }: GateAction): number => world_model_version;

/** Returns the gate with a key; without a version, that with the highest one. */
function chooseGate(key: GateKey, gates: readonly GateSummary[]): GateSummary | undefined {
  return gatesOf(key, gates)
    .filter(({ action }) => key.version === undefined || versionOf(action) === key.version)
    .toSorted((a, b) => versionOf(b.action) - versionOf(a.action))[0];
}

/** Returns the id of the gate with a key. Throws if a gate of the action is broken: an older one must not replace it. */
export function findGate(
  key: GateKey,
  library: Pick<Library, "gates" | "diagnostics" | "brokenGates">,
): string {
  assertGatesReadable(key, library);
  const { gates, diagnostics } = library;
  const chosen = chooseGate(key, gates);
  if (chosen !== undefined) return chosen.id;

  const name = `${key.org}/${key.domain}/${key.action}`;
  const keys = gates.map(({ action }) => gateKeyText(action));
  const candidates = gatesOf(key, gates);
  if (candidates.length > 0) {
    throw new DecisionError("definition_not_found", `\`${name}\` has no version ${key.version ?? ""}`, {
      hint: `it has ${candidates.map(({ action }) => versionOf(action)).join(", ")}`,
    });
  }
  const broken =
    diagnostics.length === 0 ? "" : "; some files cannot be used: run `agent-33 decision validate`";
  throw new DecisionError("definition_not_found", `no gate for \`${name}\``, {
    hint: didYouMean(name, new Set(keys.map((each) => each.replace(/@\d+$/, "")))) ?? listKeys(keys) + broken,
  });
}

/** A gate, with the action that it is found by. */
export interface GateSummary {
  readonly id: string;
  readonly action: GateAction;
}

export const gatesIn = (summaries: readonly DefinitionSummary[]): readonly GateSummary[] =>
  summaries.flatMap(({ id, action }) => (action === undefined ? [] : [{ id, action }]));

function assertGatesReadable(
  { org, domain, action }: GateKey,
  { brokenGates }: Pick<Library, "brokenGates">,
): void {
  const broken = brokenGates.filter(
    ({ orgs, actions }) =>
      (orgs === "any" || orgs.includes(org)) && (actions === "any" || actions.includes(action)),
  );
  if (broken.length === 0) return;
  throw new DecisionError("definition_invalid", `a gate of \`${org}/${domain}/${action}\` is not valid`, {
    hint: "run `agent-33 decision validate` to see all problems",
    details: { problems: broken.flatMap(({ diagnostics }) => diagnostics) },
  });
}

const maxListedKeys = 5;

function listKeys(keys: readonly string[]): string {
  if (keys.length === 0) return "no gate is defined";
  const more = keys.length > maxListedKeys ? `, and ${keys.length - maxListedKeys} more` : "";
  return `defined gates: ${keys.slice(0, maxListedKeys).join(", ")}${more}`;
}
