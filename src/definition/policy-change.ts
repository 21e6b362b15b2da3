import { compileCondition, expressionsWithin } from "../expression/template.js";
import type {
  BasePolicy,
  ForeignOverride,
  OverridePolicy,
  Policy,
  PolicyDefinition,
} from "../model/definition.js";
import { isDenialPath } from "./definition-reads.js";
import type { FileSummary } from "./definition-file.js";
import { definitionHash } from "./loaded-definition.js";
import type { DocumentEdit, Path } from "./yaml-source.js";

/** A change of a definition after which policies allow what an override allowed, so that it is no longer needed. */
export interface PolicyChange {
  readonly decision_id: string;
  readonly policies: readonly ChangedPolicy[];
  /** The policies that still need the override; empty: it is removed. */
  readonly still_overrides: readonly string[];
  /** Other effects of the change. */
  readonly notes: readonly string[];
  /** The changed definition in YAML. */
  readonly document: string;
}

export interface ChangedPolicy {
  readonly name: string;
  /** Null if the policy has none. */
  readonly version: string | null;
  /** Empty: the override always applied, so the policy no longer denies. */
  readonly conditions: readonly { readonly name: string; readonly expression: string }[];
}

/** An override, and what its effect depends on. */
export interface OverrideInUse {
  readonly definition: PolicyDefinition;
  /** The overrides of other decisions that name policies of this one. */
  readonly foreign: readonly ForeignOverride[];
  /** The other decisions about the same tools. */
  readonly others: readonly PolicyDefinition[];
  /** The file that has the definition; undefined: it cannot be read. */
  readonly text: string | undefined;
  readonly override: string;
  /** The decision that declares the override. */
  readonly declaredIn: string;
  /** How many calls the override allowed for which a condition of a policy could not be evaluated. */
  readonly countErrors: (policy: string) => number;
}

/**
 * Suggests how a policy, and every other policy of the override for which it is possible, can allow by its own
 * conditions what the override allows. The changed definition allows no call that the current one denies. Returns the
 * reason if there is no such change.
 */
export async function suggestPolicyChange(
  policy: string,
  used: OverrideInUse,
): Promise<PolicyChange | { readonly reason: string }> {
  const { definition, override: name, declaredIn } = used;
  if (declaredIn !== definition.id)
    return { reason: `\`${name}\` is in another document, \`${declaredIn}\`` };
  const override = overridesIn(definition).find((each) => each.name === name);
  if (override === undefined) return { reason: `\`${definition.id}\` no longer has an override \`${name}\`` };
  if (!override.overrides.includes(policy))
    return { reason: `\`${name}\` no longer overrides \`${policy}\`` };
  const reason =
    overrideObstacle(override) ?? otherOverrideObstacle(override, used) ?? policyObstacle(policy, used);
  if (reason !== undefined) return { reason };
  const changed = override.overrides.filter((each) => policyObstacle(each, used) === undefined);
  return changeDefinition(override, changed, used);
}

const overridesIn = ({ policies = [] }: PolicyDefinition): readonly OverridePolicy[] =>
  policies.flatMap((each) => (each.overrides === undefined ? [] : [each]));

/** Returns why no condition of a policy has the effect of the override. */
function overrideObstacle(override: OverridePolicy): string | undefined {
  const { name, action, max_applications: most, effective_from, expires_at } = override;
  if (action === "modify_params") return `\`${name}\` changes the params of the call`;
  if (most !== undefined) return `\`${name}\` may be applied ${most} times only`;
  if (effective_from !== undefined || expires_at !== undefined) return `\`${name}\` has a time window`;
  return readsDenial(override)
    ? `\`${name}\` depends on the denial: its \`when\` reads \`denial\``
    : undefined;
}

const readsDenial = ({ when }: OverridePolicy): boolean =>
  when !== undefined && compileCondition(when).reads.some(isDenialPath);

/** Returns the other override that may apply to more calls, or to other ones, after a change of the policies. */
function otherOverrideObstacle(
  { overrides }: OverridePolicy,
  { definition, foreign, others }: OverrideInUse,
): string | undefined {
  const ofDecision = [...overridesIn(definition), ...foreign.map((each) => each.override)];
  // Changed params must pass a policy that allowed the original ones, and there no override counts.
  const setter = [...ofDecision, ...others.flatMap(overridesIn)].find(
    ({ action }) => action === "modify_params",
  );
  if (setter !== undefined)
    return `\`${setter.name}\` changes params of the same calls, which are then checked again`;
  // The version of the policy and the reason of its denials change.
  const reader = ofDecision.find(
    (each) => readsDenial(each) && each.overrides.some((name) => overrides.includes(name)),
  );
  return reader && `\`${reader.name}\` depends on the denial, which would change`;
}

const builtIns = ["requires", "read_before_write", "max_calls", "max_sum"] as const;

function policyObstacle(name: string, { definition, countErrors }: OverrideInUse): string | undefined {
  const policy = basePolicy(definition, name);
  if (policy === undefined) return `\`${definition.id}\` no longer has a policy \`${name}\``;
  const builtIn = builtIns.find((each) => policy[each] !== undefined);
  if (builtIn !== undefined) return `\`${name}\` also denies by \`${builtIn}\`, which is not a condition`;
  const errors = countErrors(name);
  if (errors === 0) return undefined;
  return `for ${errors} of the calls, a condition of \`${name}\` could not be evaluated; the changed policy would deny them`;
}

function basePolicy({ policies = [] }: PolicyDefinition, name: string): BasePolicy | undefined {
  const policy = policies.find((each) => each.name === name);
  return policy?.overrides === undefined ? policy : undefined;
}

async function changeDefinition(
  override: OverridePolicy,
  names: readonly string[],
  { definition, foreign, text }: OverrideInUse,
): Promise<PolicyChange | { readonly reason: string }> {
  const { policies = [], version } = definition;
  const still_overrides = override.overrides.filter((each) => !names.includes(each));
  const changed = new Map(
    names
      .flatMap((name) => basePolicy(definition, name) ?? [])
      .map((each) => [each, withCondition(each, override.when)]),
  );
  const change = (each: Policy): readonly Policy[] => {
    if (each.overrides === undefined) return [changed.get(each) ?? each];
    if (each !== override) return [each];
    return still_overrides.length === 0 ? [] : [{ ...override, overrides: still_overrides }];
  };
  const expected: PolicyDefinition = {
    ...definition,
    ...(version !== undefined && { version: nextVersion(version) }),
    policies: policies.flatMap(change),
  };
  const document = await validDocument(expected, text, [
    ...(expected.version === undefined ? [] : [{ path: ["decision", "version"], value: expected.version }]),
    ...[...changed].flatMap(([before, after]) => policyEdits(after, policies.indexOf(before))),
    ...removals(override, policies.indexOf(override), still_overrides),
  ]);
  if (typeof document !== "string") return document;
  return {
    decision_id: definition.id,
    policies: [...changed.values()].map(({ name, version: next = null, conditions = [] }) => ({
      name,
      version: next,
      conditions,
    })),
    still_overrides,
    notes: [
      ...lostWarnings(override, names, [...overridesIn(definition), ...foreign.map((each) => each.override)]),
      ...[...changed.keys()].flatMap(keptVersion),
    ],
    document,
  };
}

/** Returns the policy that also allows what the condition allows; undefined: everything. */
function withCondition(policy: BasePolicy, when: string | undefined): BasePolicy {
  const { conditions = [], ...others } = policy;
  const versioned = {
    ...others,
    ...(policy.version !== undefined && { version: nextVersion(policy.version) }),
  };
  if (when === undefined) return versioned;
  const either = (expression: string): string => `(${bare(expression)}) or (${bare(when)})`;
  return {
    ...versioned,
    conditions: conditions.map(({ name, expression }) => ({ name, expression: either(expression) })),
  };
}

/** Returns a condition without the `{{ }}` that may enclose it. */
const bare = (condition: string): string => expressionsWithin(condition, "expression")[0]?.text.trim() ?? "";

const semanticVersion = /^(\d+)\.(\d+)\.\d+$/;

/** A policy that allows more is a new minor version; other versions are left to the author. */
const nextVersion = (version: string): string =>
  version.replace(semanticVersion, (_, major: string, minor: string) => `${major}.${Number(minor) + 1}.0`);

const keptVersion = ({ name, version }: BasePolicy): readonly string[] =>
  version === undefined || semanticVersion.test(version)
    ? []
    : [`the version of \`${name}\` is not a plain semantic version, so it was not increased`];

/** Overrides that are applied before this one no longer apply, either, to the calls that the policies now allow. */
function lostWarnings(
  override: OverridePolicy,
  policies: readonly string[],
  all: readonly OverridePolicy[],
): readonly string[] {
  const ordered = all.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  return ordered
    .slice(0, ordered.indexOf(override) + 1)
    .filter(({ overrides }) => overrides.some((each) => policies.includes(each)))
    .filter(({ action }) => action === "allow_with_warning")
    .map(({ name }) => `the calls no longer have the warning of \`${name}\``);
}

const policiesPath: Path = ["decision", "policies"];

function policyEdits({ version, conditions }: BasePolicy, index: number): readonly DocumentEdit[] {
  const path = [...policiesPath, index];
  const ofConditions = conditions?.map(({ expression }, each) => ({
    path: [...path, "conditions", each, "expression"],
    value: expression,
  }));
  return [
    ...(version === undefined ? [] : [{ path: [...path, "version"], value: version }]),
    ...(ofConditions ?? [{ path: [...path, "conditions"], value: undefined }]),
  ];
}

/** Removes the override, or the policies that no longer need it. The last come first, so that positions stay valid. */
function removals(
  { overrides }: OverridePolicy,
  index: number,
  still: readonly string[],
): readonly DocumentEdit[] {
  const path = [...policiesPath, index];
  if (still.length === 0) return [{ path, value: undefined }];
  return overrides
    .flatMap((name, at) =>
      still.includes(name) ? [] : [{ path: [...path, "overrides", at], value: undefined }],
    )
    .toReversed();
}

/** Returns the edited file, or the definition without comments if the file cannot be edited. */
async function validDocument(
  expected: PolicyDefinition,
  text: string | undefined,
  edits: readonly DocumentEdit[],
): Promise<string | { readonly reason: string }> {
  // Loaded when needed, as most runs have their definitions from the cache.
  const { editDocument, readDefinitions, writeYaml } = await import("./read-definitions.js");
  const summaryOf = (document: string): FileSummary => readDefinitions("", Buffer.from(document)).summary;
  const isOfDecision = (value: unknown): boolean =>
    (value as { readonly decision?: { readonly id?: unknown } } | null)?.decision?.id === expected.id;
  const edited = text === undefined ? undefined : editDocument(text, isOfDecision, edits);
  if (edited !== undefined && summaryOf(edited).definitions[0]?.definition_hash === definitionHash(expected))
    return edited;
  const written = writeYaml({ decision: expected });
  const [problem] = summaryOf(written).diagnostics;
  return problem === undefined
    ? written
    : { reason: `the changed definition would not be valid: ${problem.message}` };
}
