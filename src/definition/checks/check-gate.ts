import { invalidSchemaReason } from "../context-schema.js";
import { DecisionError } from "../../errors.js";
import { isForbiddenKey } from "../../expression/path.js";
import { compileInput } from "../../expression/template.js";
import type { GateDefinition, GateRule } from "../../model/definition.js";
import { didYouMean } from "../../text.js";
import { workModes } from "../decision-types.js";
import type { DiagnosticText, Finding } from "../diagnostics.js";
import { checkLimits } from "./check-limits.js";
import { checkUniqueNames } from "./check-names.js";

/** Checks a gate that fits the schema; paths are relative to the definition. */
export function checkGate(definition: GateDefinition): readonly Finding[] {
  return [
    ...checkContextSchema(definition.context_schema),
    ...checkComputed(definition),
    ...checkUniqueNames(definition.rules, ["rules"], { key: "id", what: "the id" }),
    ...definition.rules.flatMap(checkRule),
    ...checkSuppression(definition.rules),
    ...checkLimits(definition, []),
  ];
}

function checkContextSchema(schema: unknown): readonly Finding[] {
  if (schema === undefined) return [];
  const path = ["context_schema"];
  const message = invalidSchemaReason(schema);
  if (message !== undefined) return [{ path, message }];
  const { properties = {}, required = [] } = schema as { properties?: object; required?: readonly string[] };
  const text: DiagnosticText = {
    message: "the caller must not supply `system`, so the schema cannot declare it",
    hint: "read `system.request_time` and the like without declaring them",
  };
  if (Object.hasOwn(properties, "system")) {
    return [{ path: [...path, "properties"], key: "system", ...text }];
  }
  return required.includes("system") ? [{ path: [...path, "required"], ...text }] : [];
}

function checkRule({ tier, status, work_frame }: GateRule, index: number): readonly Finding[] {
  const findings: Finding[] = [];
  if (tier === "T1" && status !== "YELLOW" && status !== "RED") {
    const message = `the status of a T1 rule must be \`YELLOW\` or \`RED\` (got \`${status}\`)`;
    findings.push({ path: ["rules", index, "status"], message });
  }
  const mode = work_frame?.mode;
  if (mode !== undefined && mode !== workModes[status]) {
    const message = `the mode of a \`${status}\` rule is \`${workModes[status]}\` (got \`${mode}\`)`;
    findings.push({ path: ["rules", index, "work_frame", "mode"], message, hint: "remove it" });
  }
  return findings;
}

const reservedNames = new Set(["input", "facts", "system", "context"]);

/** Finds computed values with unusable names, and those that read values which are computed later. */
function checkComputed(definition: GateDefinition): readonly Finding[] {
  const entries = Object.entries(definition.computed ?? {});
  const names = entries.map(([name]) => name);
  const declared = definition.context_schema?.["properties"];
  const findings = entries.flatMap(([name, text], index) => [
    ...checkComputedName(name, declared),
    ...checkComputedReads(name, text, names.slice(index + 1)),
  ]);
  return [...checkInputReads(definition.input, names), ...findings];
}

function checkComputedName(name: string, declared: unknown): readonly Finding[] {
  const at = { path: ["computed"], key: name };
  if (reservedNames.has(name)) {
    return [{ ...at, message: `\`${name}\` is a reserved name and cannot be the name of a computed value` }];
  }
  if (!isReadable(name)) {
    const hint = "use letters, digits and `_`, no digit first, and no keyword of expressions";
    return [{ ...at, message: `\`${name}\` cannot be the name of a computed value`, hint }];
  }
  if (typeof declared !== "object" || declared === null || !Object.hasOwn(declared, name)) return [];
  const message = `\`${name}\` cannot be computed, because the caller supplies it`;
  return [{ ...at, message, hint: "it is declared in `context_schema`: rename one of the two" }];
}

function checkComputedReads(name: string, text: string, below: readonly string[]): readonly Finding[] {
  const roots = rootsOf(text);
  const path = ["computed", name];
  const itself = roots.has(name) ? [{ path, message: `\`${name}\` reads itself` }] : [];
  const early = below.filter((each) => roots.has(each));
  return [
    ...itself,
    ...early.map((each) => ({
      path,
      message: `\`${name}\` reads \`${each}\`, which is computed after it`,
      hint: "values are computed in the order of the file: move the other one up",
    })),
  ];
}

/** The input is evaluated before the computed values. */
function checkInputReads(input: string | undefined, names: readonly string[]): readonly Finding[] {
  const roots = rootsOf(input ?? "");
  return names
    .filter((name) => roots.has(name))
    .map((name) => ({
      path: ["input"],
      message: `\`input\` reads \`${name}\`, which is computed after it`,
    }));
}

/** Returns the first names of the paths that an expression reads; none if it does not compile. */
function rootsOf(text: string): ReadonlySet<string> {
  try {
    return new Set(compileInput(text).reads.map((path) => path.split(".")[0] ?? ""));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    return new Set();
  }
}

/** Whether an expression that consists only of the name reads it. */
function isReadable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !isForbiddenKey(name) && rootsOf(name).has(name);
}

/** Finds rules that suppress what they cannot, and rules that suppress each other in a cycle. */
function checkSuppression(rules: readonly GateRule[]): readonly Finding[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const findings = rules.flatMap((rule, index) =>
    (rule.suppresses ?? []).flatMap((id, at) => {
      const finding = checkSuppressedRule(rule, id, byId);
      return finding === undefined ? [] : [{ path: ["rules", index, "suppresses", at], ...finding }];
    }),
  );
  return [...findings, ...checkSuppressionCycles(rules, byId)];
}

function checkSuppressedRule(
  rule: GateRule,
  id: string,
  byId: ReadonlyMap<string, GateRule>,
): DiagnosticText | undefined {
  if (id === rule.id) return { message: `\`${id}\` cannot suppress itself` };
  const suppressed = byId.get(id);
  if (suppressed === undefined)
    return { message: `no rule has the id \`${id}\``, hint: didYouMean(id, byId.keys()) };
  return suppressed.tier === "T1" ? { message: `a T1 rule cannot be suppressed: \`${id}\`` } : undefined;
}

function checkSuppressionCycles(
  rules: readonly GateRule[],
  byId: ReadonlyMap<string, GateRule>,
): readonly Finding[] {
  const findings: Finding[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (rule: GateRule): void => {
    trail.push(rule.id);
    for (const [at, id] of (rule.suppresses ?? []).entries()) {
      const next = byId.get(id);
      if (next === undefined || id === rule.id || done.has(id)) continue;
      const start = trail.indexOf(id);
      if (start === -1) {
        visit(next);
        continue;
      }
      const cycle = [...trail.slice(start), id].map((each) => `\`${each}\``).join(" → ");
      const path = ["rules", rules.indexOf(rule), "suppresses", at];
      findings.push({ path, message: `rules suppress each other in a cycle: ${cycle}` });
    }
    trail.pop();
    done.add(rule.id);
  };
  for (const rule of byId.values()) if (!done.has(rule.id)) visit(rule);
  return findings;
}
