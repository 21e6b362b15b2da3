import { isObject } from "../../expression/equal.js";
import { compileInput } from "../../expression/template.js";
import type { Definition, WeightedDefinition } from "../../model/definition.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { branchesOf } from "../branches.js";
import { cycleText, findCycles } from "../cycles.js";
import type { FileSummary, LocatedTarget, LocatedTest } from "../definition-file.js";
import { declaredEndpoints, declaredTargets } from "../definition-file.js";
import { diagnosticAt, locateFinding } from "../diagnostics.js";
import type { LocatedDefinition } from "../read-definitions.js";
import { reviewChangedParams } from "./review-changed-params.js";
import { reviewDefinition } from "./review-definition.js";
import type { ReviewOptions } from "./review-endpoints.js";
import { reviewEndpoints } from "./review-endpoints.js";

/** Returns the warnings and notes about valid definitions, each alone and all together. */
export function reviewDirectory(
  files: readonly FileSummary[],
  located: readonly LocatedDefinition[],
  { tests = [], ...options }: ReviewOptions & { readonly tests?: readonly LocatedTest[] },
): readonly Diagnostic[] {
  const masks = files.flatMap((file) => file.masks ?? []);
  const definitions = located.map((each) => withTestedFields(withMasks(each, masks), tests));
  return [
    ...definitions.flatMap(reviewDefinition),
    ...reviewSharedBuckets(definitions),
    ...reviewChangedParams(definitions),
    ...reviewTargets(declaredTargets(files) ?? [], definitions),
    ...reviewEndpoints(declaredEndpoints(files), definitions, options),
    ...reviewObservers(files, definitions),
  ];
}

/** Only decisions with entities have precedents. */
function reviewObservers(
  files: readonly FileSummary[],
  definitions: readonly LocatedDefinition[],
): readonly Diagnostic[] {
  if (definitions.some(({ definition: { entities = [] } }) => entities.length > 0)) return [];
  return files.flatMap(({ file, observers = [] }) =>
    observers.map(({ observer, line, column }) =>
      diagnosticAt(
        { file, line, column },
        {
          severity: "warning",
          message: `\`${observer.type}\` finds nothing, because no decision declares entities`,
          hint: 'declare them, for example entities: [{ type: customer, id: "{{ customer.id }}" }]',
        },
      ),
    ),
  );
}

/** Adds the masks for every decision to those of a definition. */
function withMasks(located: LocatedDefinition, masks: readonly string[]): LocatedDefinition {
  if (masks.length === 0) return located;
  const { definition } = located;
  const mask = [...(definition.logging?.mask ?? []), ...masks];
  return { ...located, definition: { ...definition, logging: { ...definition.logging, mask } } };
}

/** Adds the fields that the contexts of the tests of a definition have, as far as they are not in other files. */
function withTestedFields(located: LocatedDefinition, tests: readonly LocatedTest[]): LocatedDefinition {
  const inputs = tests.flatMap(({ test: { decision, input } }) =>
    decision === located.definition.id && isObject(input) ? [input] : [],
  );
  return inputs.length === 0 ? located : { ...located, testedFields: inputs.flatMap(Object.keys) };
}

/** Finds disabled targets that something leads to, and cycles of decisions. */
export function reviewTargets(
  declared: readonly LocatedTarget[],
  definitions: readonly LocatedDefinition[],
): readonly Diagnostic[] {
  const disabled = new Set(declared.flatMap(({ target }) => (target.disabled ? [target.id] : [])));
  return [
    ...definitions.flatMap((each) => branchesToDisabled(each, disabled)),
    ...declared.flatMap((each) => disabledDependencies(each, disabled)),
    ...reviewCycles(definitions),
  ];
}

function branchesToDisabled(
  { file, definition, source }: LocatedDefinition,
  disabled: ReadonlySet<string>,
): readonly Diagnostic[] {
  return branchesOf(definition)
    .filter(({ target }) => disabled.has(target))
    .map(({ label, target, path }) => {
      const message = `\`${label}\` leads to \`${target}\`, which is disabled`;
      const place = { file, within: ["decision"], decision_id: definition.id };
      return locateFinding({ path, severity: "warning", message }, source, place);
    });
}

function disabledDependencies(
  { file, target: { id }, dependencies }: LocatedTarget,
  disabled: ReadonlySet<string>,
): readonly Diagnostic[] {
  if (disabled.has(id)) return [];
  return dependencies
    .filter(({ target }) => disabled.has(target))
    .map(({ target, line, column }) => {
      const message = `\`${id}\` depends on \`${target}\`, which is disabled`;
      return diagnosticAt({ file, line, column }, { severity: "warning", message });
    });
}

function reviewCycles(definitions: readonly LocatedDefinition[]): readonly Diagnostic[] {
  const byId = new Map(definitions.map((each) => [each.summary.id, each]));
  const graph = new Map(
    [...byId].map(([id, { summary }]) => [
      id,
      summary.reached.map(({ target }) => target).filter((target) => byId.has(target)),
    ]),
  );
  return findCycles(graph).flatMap((cycle) => {
    const [id = "", next = ""] = cycle;
    const first = byId.get(id);
    const place = first?.summary.reached.find(({ target }) => target === next);
    if (first === undefined || place === undefined) return [];
    const { line, column } = place;
    const message =
      cycle.length > 2 ? `decisions form a cycle: ${cycleText(cycle)}` : `\`${id}\` leads back to itself`;
    const hint = "`--follow` ends in an error there";
    const { file } = first;
    return [diagnosticAt({ file, line, column, decision_id: id }, { severity: "warning", message, hint })];
  });
}

interface LocatedWeighted extends LocatedDefinition {
  readonly definition: WeightedDefinition;
}

const isWeighted = (located: LocatedDefinition): located is LocatedWeighted =>
  located.definition.type === "weighted";

/** How many decisions of one group are reported. */
const maxReported = 20;

/** Finds weighted decisions that split the same inputs in the same way. */
export function reviewSharedBuckets(definitions: readonly LocatedDefinition[]): readonly Diagnostic[] {
  const groups = new Map<string, LocatedWeighted[]>();
  for (const each of definitions.filter(isWeighted)) {
    const key = JSON.stringify([each.definition.salt, normalizedInput(each.definition)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()]
    .map((group) => group.slice(-maxReported))
    .flatMap((group) => group.flatMap((each) => sharedBucketDiagnostic(each, group)));
}

function sharedBucketDiagnostic(
  { file, definition, source }: LocatedWeighted,
  group: readonly LocatedWeighted[],
): readonly Diagnostic[] {
  // An id that is used twice has an error of its own.
  const others = new Set(group.map((each) => each.definition.id).filter((id) => id !== definition.id));
  if (others.size === 0) return [];
  const names = [...others].map((id) => `\`${id}\``).join(", ");
  const salt = definition.salt === undefined ? "without a salt" : "with the same salt";
  const message = `the same input is used ${salt} in ${names}, so the splits are not independent`;
  const path = [definition.input === undefined ? "id" : "input"];
  const place = { file, within: ["decision"], decision_id: definition.id };
  const hint = "set a different `salt` in each";
  return [locateFinding({ path, severity: "warning", message, hint }, source, place)];
}

function normalizedInput({ input }: Definition): string {
  const tree = input === undefined ? undefined : compileInput(input).tree;
  return tree === undefined ? (input ?? "") : JSON.stringify(tree);
}
