import type { Problem } from "../model/problem.js";
import { branchesOf } from "./branches.js";
import type { PlacedTarget } from "./declared-targets.js";
import type { LocatedDefinition } from "./read-definitions.js";
import { wayText, waysRound } from "./ways-round.js";

interface InFile {
  readonly file: string;
  readonly located: LocatedDefinition;
}

/** What a reviewer would ask about where decisions lead, and about what stands there. */
export function reviewTargets(declared: readonly PlacedTarget[], all: readonly InFile[]): readonly Problem[] {
  const disabled = new Set(declared.flatMap(({ target }) => (target.disabled ? [target.id] : [])));
  return [
    ...all.flatMap((each) => branchesToDisabled(each, disabled)),
    ...declared.flatMap((each) => disabledDependencies(each, disabled)),
    ...circles(all),
  ];
}

function branchesToDisabled({ file, located }: InFile, disabled: ReadonlySet<string>): readonly Problem[] {
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
  { file, target: { id }, dependencies }: PlacedTarget,
  disabled: ReadonlySet<string>,
): readonly Problem[] {
  if (disabled.has(id)) return [];
  return dependencies
    .filter(({ target }) => disabled.has(target))
    .map(({ target, line, column }) => {
      const message = `\`${id}\` depends on \`${target}\`, which is disabled`;
      return { file, line, column, severity: "warning", message };
    });
}

function circles(all: readonly InFile[]): readonly Problem[] {
  const byId = new Map(all.map((each) => [each.located.summary.id, each]));
  const leads = new Map(
    [...byId].map(([id, { located }]) => [
      id,
      located.summary.reached.map(({ target }) => target).filter((target) => byId.has(target)),
    ]),
  );
  return waysRound(leads).flatMap((way) => {
    const [id = "", next = ""] = way;
    const found = byId.get(id);
    const place = found?.located.summary.reached.find(({ target }) => target === next);
    if (found === undefined || place === undefined) return [];
    const { line, column } = place;
    const message =
      way.length > 2 ? `it leads round in a circle: ${wayText(way)}` : `\`${id}\` leads back to itself`;
    const hint = "`--follow` would stop there";
    return [{ file: found.file, line, column, severity: "warning", message, hint, decision_id: id }];
  });
}
