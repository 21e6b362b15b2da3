import { branchesOf } from "../branches.js";
import type { LocatedTarget } from "../definition-file.js";
import type { LocatedDefinition } from "../read-definitions.js";
import { cycleText, findCycles } from "../cycles.js";
import { compileInput } from "../../expression/template.js";
import type { Definition } from "../../model/definition.js";
import type { Diagnostic } from "../../model/diagnostic.js";

interface InFile {
  readonly file: string;
  readonly located: LocatedDefinition;
}

/** What a reviewer would ask about where decisions lead, and about what stands there. */
export function reviewTargets(
  declared: readonly LocatedTarget[],
  all: readonly InFile[],
): readonly Diagnostic[] {
  const disabled = new Set(declared.flatMap(({ target }) => (target.disabled ? [target.id] : [])));
  return [
    ...all.flatMap((each) => branchesToDisabled(each, disabled)),
    ...declared.flatMap((each) => disabledDependencies(each, disabled)),
    ...reviewCycles(all),
  ];
}

function branchesToDisabled({ file, located }: InFile, disabled: ReadonlySet<string>): readonly Diagnostic[] {
  const { definition, source } = located;
  return branchesOf(definition)
    .filter(({ target }) => disabled.has(target))
    .map(({ label, target, path }) => {
      const { line, column } = source.locate(["decision", ...path]);
      const message = `\`${label}\` leads to \`${target}\`, which is disabled`;
      return { file, line, column, severity: "warning", message, decision_id: definition.id };
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
      return { file, line, column, severity: "warning", message };
    });
}

function reviewCycles(all: readonly InFile[]): readonly Diagnostic[] {
  const byId = new Map(all.map((each) => [each.located.summary.id, each]));
  const leads = new Map(
    [...byId].map(([id, { located }]) => [
      id,
      located.summary.reached.map(({ target }) => target).filter((target) => byId.has(target)),
    ]),
  );
  return findCycles(leads).flatMap((way) => {
    const [id = "", next = ""] = way;
    const found = byId.get(id);
    const place = found?.located.summary.reached.find(({ target }) => target === next);
    if (found === undefined || place === undefined) return [];
    const { line, column } = place;
    const message =
      way.length > 2 ? `it leads round in a circle: ${cycleText(way)}` : `\`${id}\` leads back to itself`;
    const hint = "`--follow` would stop there";
    return [{ file: found.file, line, column, severity: "warning", message, hint, decision_id: id }];
  });
}

interface DefinitionInFile {
  readonly file: string;
  readonly located: LocatedDefinition;
}

/** Weighted decisions that put the same people into the same buckets. */
export function reviewSharedBuckets(all: readonly DefinitionInFile[]): readonly Diagnostic[] {
  const byInput = new Map<string, DefinitionInFile[]>();
  for (const each of all) {
    const { definition } = each.located;
    if (definition.type !== "weighted") continue;
    const key = JSON.stringify([definition.salt, normalizedInput(definition)]);
    byInput.set(key, [...(byInput.get(key) ?? []), each].slice(-maxReported));
  }
  return [...byInput.values()]
    .filter((twins) => twins.length > 1)
    .flatMap((twins) => twins.map((each) => sharedBucketDiagnostic(each, twins)));
}

/** So many that share their buckets are reported; the rest follow when these are mended. */
const maxReported = 20;

function sharedBucketDiagnostic(
  { file, located: { definition, source } }: DefinitionInFile,
  twins: readonly DefinitionInFile[],
): Diagnostic {
  const others = twins.map(({ located }) => located.definition.id).filter((id) => id !== definition.id);
  const names = others.map((id) => `\`${id}\``).join(", ");
  const salted = definition.type === "weighted" && definition.salt !== undefined;
  const how = salted ? "with the same salt" : "without a salt";
  const message = `the same input is rolled ${how} in ${names}: all put the same people into the same buckets`;
  const { line, column } = source.locate(["decision", definition.input === undefined ? "id" : "input"]);
  return {
    file,
    line,
    column,
    severity: "warning",
    message,
    hint: "give each its own `salt`",
    decision_id: definition.id,
  };
}

function normalizedInput({ input }: Definition): string {
  const tree = input === undefined ? undefined : compileInput(input).tree;
  return tree === undefined ? (input ?? "") : JSON.stringify(tree);
}
