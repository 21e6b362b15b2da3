import { didYouMean } from "../../text.js";
import type { DiagnosticPath, RuleFault, RawCondition } from "./field-faults.js";
import { fieldDiagnostics } from "./field-faults.js";
import { describeValue } from "./rule-operator.js";

export type { RuleFault };

const groupKeys = ["all", "any", "none"];
const fieldKeys = ["field", "op", "value"];
const choice = "`all`, `any`, `none` and `field`";

const maxConditionNesting = 32;
const tooDeepMessage = `conditions are nested at most ${maxConditionNesting} deep`;

/** Everything that is wrong with a condition; nothing where it can be compiled. */
export function ruleDiagnostics(condition: unknown): readonly RuleFault[] {
  const faults = conditionDiagnostics(condition, [], 0);
  const deep = faults.find(({ message }) => message === tooDeepMessage);
  return faults.filter((fault) => fault.message !== tooDeepMessage || fault === deep);
}

function conditionDiagnostics(condition: unknown, path: DiagnosticPath, depth: number): readonly RuleFault[] {
  if (!isMap(condition))
    return [{ path, message: `a condition must be a map (got ${describeValue(condition)})` }];
  const has = (key: string): boolean => Object.hasOwn(condition, key);
  const groups = groupKeys.filter(has);
  if (groups.length > 0 && depth === maxConditionNesting) return [{ path, message: tooDeepMessage }];
  const isField = groups.length === 0 ? fieldKeys.some(has) : has("field");
  return [
    ...choiceDiagnostics(isField ? [...groups, "field"] : groups, path),
    ...keyDiagnostics(condition, isField ? [...groups, ...fieldKeys] : groups, path),
    ...groups.flatMap((key) => groupDiagnostics(condition[key], [...path, key], depth + 1)),
    ...(isField ? fieldDiagnostics(condition, path) : []),
  ];
}

function choiceDiagnostics([first, second]: readonly string[], path: DiagnosticPath): readonly RuleFault[] {
  if (first === undefined) return [{ path, message: `a condition needs one of ${choice}` }];
  if (second === undefined) return [];
  return [{ path, key: second, message: `a condition has only one of ${choice}` }];
}

/** What other languages call our keys. */
const keyAliases: ReadonlyMap<string, string> = new Map([
  ["and", "all"],
  ["or", "any"],
  ["not", "none"],
  ["fact", "field"],
  ["path", "field"],
  ["operator", "op"],
  ["expected", "value"],
  ["values", "value"],
]);

function keyDiagnostics(
  condition: RawCondition,
  known: readonly string[],
  path: DiagnosticPath,
): readonly RuleFault[] {
  const unknown = Object.keys(condition).filter((key) => !known.includes(key));
  const possible = known.length === 0 ? [...groupKeys, ...fieldKeys] : known;
  return unknown.map((key) => {
    const ours = keyAliases.get(key);
    const meant = ours === undefined ? undefined : `did you mean \`${ours}\`?`;
    const hint = meant ?? didYouMean(key, possible) ?? `known here: ${possible.join(", ")}`;
    return { path, key, message: `unknown key \`${key}\``, hint };
  });
}

function groupDiagnostics(group: unknown, path: DiagnosticPath, depth: number): readonly RuleFault[] {
  const name = `\`${String(path.at(-1))}\``;
  if (!Array.isArray(group))
    return [{ path, message: `${name} must be a list (got ${describeValue(group)})` }];
  if (group.length === 0) return [{ path, message: `${name} must not be empty` }];
  return group.flatMap((each, index) => conditionDiagnostics(each, [...path, index], depth));
}

function isMap(value: unknown): value is RawCondition {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
