import { DecisionError } from "../../errors.js";
import { isForbiddenKey } from "../../expression/path.js";
import { compileInput } from "../../expression/template.js";
import type { GateDefinition } from "../../model/definition.js";
import type { SchemaFault } from "../schema-problems.js";

const reserved = new Set(["input", "facts", "system", "context"]);

/** Computed values that could not be read, and those that read what is not computed yet. */
export function computedFaults(definition: GateDefinition): readonly SchemaFault[] {
  const entries = Object.entries(definition.computed ?? {});
  const names = entries.map(([name]) => name);
  const declared = definition.context_schema?.["properties"];
  const faults = entries.flatMap(([name, text], index) => [
    ...nameFaults(name, declared),
    ...readFaults(name, text, names.slice(index + 1)),
  ]);
  return [...inputFaults(definition.input, names), ...faults];
}

function nameFaults(name: string, declared: unknown): readonly SchemaFault[] {
  const at = { path: ["computed"], key: name };
  if (reserved.has(name)) {
    return [{ ...at, message: `\`${name}\` is a reserved name and cannot be that of a computed value` }];
  }
  if (!isReadable(name)) {
    const hint =
      "it may hold letters, digits and `_`, does not begin with a digit, and is no word of the language";
    return [{ ...at, message: `\`${name}\` cannot be the name of a computed value`, hint }];
  }
  if (typeof declared !== "object" || declared === null || !Object.hasOwn(declared, name)) return [];
  const message = `\`${name}\` cannot be computed: the caller supplies it already`;
  return [{ ...at, message, hint: "`context_schema` declares it: give one of the two another name" }];
}

function readFaults(name: string, text: string, below: readonly string[]): readonly SchemaFault[] {
  const roots = rootsOf(text);
  const path = ["computed", name];
  const itself = roots.has(name) ? [{ path, message: `\`${name}\` reads itself` }] : [];
  const early = below.filter((each) => roots.has(each));
  return [
    ...itself,
    ...early.map((each) => ({
      path,
      message: `\`${name}\` reads \`${each}\`, which stands below it`,
      hint: "values are computed in the order of the file: move it up",
    })),
  ];
}

/** The input is there for the computed values, so it comes before them. */
function inputFaults(input: string | undefined, names: readonly string[]): readonly SchemaFault[] {
  const roots = rootsOf(input ?? "");
  return names
    .filter((name) => roots.has(name))
    .map((name) => ({
      path: ["input"],
      message: `\`input\` reads \`${name}\`, which is computed after it`,
    }));
}

/** The names that paths begin with; none where the expression does not compile, which is told elsewhere. */
function rootsOf(text: string): ReadonlySet<string> {
  try {
    return new Set(compileInput(text).reads.map((path) => path.split(".")[0] ?? ""));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    return new Set();
  }
}

/** Whether an expression that consists of the name reads it. */
function isReadable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !isForbiddenKey(name) && rootsOf(name).has(name);
}
