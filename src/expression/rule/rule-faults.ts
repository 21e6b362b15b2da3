import { didYouMean } from "../../nearest.js";
import type { Path, RuleFault, WrittenCondition } from "./field-faults.js";
import { faultsOfField } from "./field-faults.js";
import { written } from "./wording.js";

export type { RuleFault };

const groupKeys = ["all", "any", "none"];
const fieldKeys = ["field", "op", "value"];
const choice = "`all`, `any`, `none` and `field`";

const deepestNesting = 32;
const tooDeep = `conditions are nested at most ${deepestNesting} deep`;

/** Everything that is wrong with a condition; nothing where it can be compiled. */
export function ruleFaults(condition: unknown): readonly RuleFault[] {
  const faults = faultsOf(condition, [], 0);
  const deep = faults.find(({ message }) => message === tooDeep);
  return faults.filter((fault) => fault.message !== tooDeep || fault === deep);
}

function faultsOf(condition: unknown, path: Path, depth: number): readonly RuleFault[] {
  if (!isMap(condition)) return [{ path, message: `a condition must be a map (got ${written(condition)})` }];
  const has = (key: string): boolean => Object.hasOwn(condition, key);
  const groups = groupKeys.filter(has);
  if (groups.length > 0 && depth === deepestNesting) return [{ path, message: tooDeep }];
  const isField = groups.length === 0 ? fieldKeys.some(has) : has("field");
  return [
    ...faultsOfChoice(isField ? [...groups, "field"] : groups, path),
    ...faultsOfKeys(condition, isField ? [...groups, ...fieldKeys] : groups, path),
    ...groups.flatMap((key) => faultsOfGroup(condition[key], [...path, key], depth + 1)),
    ...(isField ? faultsOfField(condition, path) : []),
  ];
}

function faultsOfChoice([first, second]: readonly string[], path: Path): readonly RuleFault[] {
  if (first === undefined) return [{ path, message: `a condition needs one of ${choice}` }];
  if (second === undefined) return [];
  return [{ path, key: second, message: `a condition has only one of ${choice}` }];
}

/** What other languages call our keys. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ["and", "all"],
  ["or", "any"],
  ["not", "none"],
  ["fact", "field"],
  ["path", "field"],
  ["operator", "op"],
  ["expected", "value"],
  ["values", "value"],
]);

function faultsOfKeys(
  condition: WrittenCondition,
  known: readonly string[],
  path: Path,
): readonly RuleFault[] {
  const unknown = Object.keys(condition).filter((key) => !known.includes(key));
  const possible = known.length === 0 ? [...groupKeys, ...fieldKeys] : known;
  return unknown.map((key) => {
    const ours = elsewhere.get(key);
    const meant = ours === undefined ? undefined : `did you mean \`${ours}\`?`;
    const hint = meant ?? didYouMean(key, possible) ?? `known here: ${possible.join(", ")}`;
    return { path, key, message: `unknown key \`${key}\``, hint };
  });
}

function faultsOfGroup(group: unknown, path: Path, depth: number): readonly RuleFault[] {
  const name = `\`${String(path.at(-1))}\``;
  if (!Array.isArray(group)) return [{ path, message: `${name} must be a list (got ${written(group)})` }];
  if (group.length === 0) return [{ path, message: `${name} must not be empty` }];
  return group.flatMap((each, index) => faultsOf(each, [...path, index], depth));
}

function isMap(value: unknown): value is WrittenCondition {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
