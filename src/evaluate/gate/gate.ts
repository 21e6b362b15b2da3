import { compileContextSchema } from "../../definition/gate/context-schema.js";
import { DecisionError } from "../../errors.js";
import { Failure } from "../../expression/failure.js";
import type { Template } from "../../expression/template.js";
import type { GateDefinition } from "../../model/definition.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { ErroredPredicate } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import type { Judge } from "../evaluated.js";
import { shadowGuard } from "../shadowing.js";
import type { ComputedValue } from "./computed.js";
import { compute, prepareComputed, unknownValues } from "./computed.js";
import { prepareLacking } from "./lacking.js";
import { readsOfGate, writtenReads } from "./reads.js";
import { prepareRule } from "./rule.js";
import { verdict } from "./verdict.js";
import { prepareWeighing } from "./weighing.js";

/** `gate`: whether, and how, an agent may go on. Whatever cannot be evaluated keeps it from being GREEN. */
export function prepareGate(definition: GateDefinition, input: Template | undefined): Judge {
  const schema = definition.context_schema;
  const issuesOf = schema === undefined ? () => [] : compileContextSchema(schema);
  const computed = prepareComputed(definition.computed);
  const rules = definition.rules.map(prepareRule);
  const weigh = prepareWeighing(rules);
  const lacking = prepareLacking(definition);
  const written = writtenReads({ computed, rules });
  const refuseShadow = shadowGuard([...(input?.reads ?? []), ...written]);
  return {
    reads: [
      ...readsOfGate({ input, computed, rules, checksContext: schema !== undefined }),
      ...lacking.reads,
    ],
    asks: written.filter((path) => !computed.some(({ name }) => isUnder(path, name))),
    judge(scope) {
      refuseSystem(scope.context);
      refuseShadow(scope.context);
      const issues = issuesOf(scope.context);
      const errors: ErroredPredicate[] = [
        ...lacking.errorsIn(scope),
        ...issues.map(({ message: error }) => ({ source: "context_schema", error }) as const),
      ];
      const value = inputOf(input, { scope, computed, errors });
      const { context, facts, system } = scope;
      const extended = compute(computed, { context, input: value, facts, system }, errors);
      const missing = issues.flatMap((issue) => issue.missing ?? []);
      return verdict(weigh(extended, errors), extended, { input: value ?? null, missing });
    },
  };
}

const isUnder = (path: string, name: string): boolean => path === name || path.startsWith(`${name}.`);

/** What expressions read as `system` must be what we say it is, and no caller may believe otherwise. */
function refuseSystem(context: JsonObject): void {
  if (!Object.hasOwn(context, "system")) return;
  throw new DecisionError("input_invalid", "the context must not hold `system`, which is the tool's own", {
    hint: "leave it out, or give it another name: the time, the request and the caller are filled in",
  });
}

interface Circumstances {
  readonly scope: Scope;
  readonly computed: readonly ComputedValue[];
  readonly errors: ErroredPredicate[];
}

/** Undefined where it has no value; nothing is computed yet, and the context must not pass for it. */
function inputOf(input: Template | undefined, { scope, computed, errors }: Circumstances): Json | undefined {
  if (input === undefined) return scope.context;
  const { context, facts, system } = scope;
  const values = unknownValues(computed) as JsonObject;
  const value = input.evaluate({ context, input: undefined, computed: values, facts, system });
  if (!(value instanceof Failure)) return value;
  errors.push({ source: "input", expression: input.text, error: value.message });
  return undefined;
}
