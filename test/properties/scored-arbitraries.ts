import fc from "fast-check";
import { ruleOperators } from "../../src/expression/rule/rule-operators.js";
import type {
  EvaluatorDefinition,
  RuleCondition,
  ScoredRule,
  Scoring,
  Vote,
} from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import { jsonValues } from "../digest/json-values.js";
import { conditions, contexts } from "./arbitraries.js";

export const weights = fc.oneof(
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10),
  fc.constantFrom(0, 1, 5e-324, 1e-13, 0.1 + 0.2, 1 - Number.EPSILON),
);

export const decisionNames = fc.constantFrom("approve", "reject", "review", "toString", "__proto__");

export const scorings: fc.Arbitrary<Scoring> = fc.oneof(
  fc.constantFrom<Scoring>({ strategy: "weighted_average" }, { strategy: "max_weight" }),
  weights.map((minimum_agreement): Scoring => ({ strategy: "consensus", minimum_agreement })),
  weights.map((threshold): Scoring => ({ strategy: "threshold", threshold, fallback_decision: "fallback" })),
);

const drawnVote: fc.Arbitrary<Vote> = fc.record({ decision: decisionNames, weight: weights });

const fields = fc.constantFrom(
  "n",
  "t",
  "yes",
  "list",
  "o",
  "o.k",
  "o.z",
  "list.0",
  "nowhere.at.all",
  "input",
  "context.n",
);

/** A condition of any operator, as its documentation shows it, on any field. */
const fieldConditions: fc.Arbitrary<RuleCondition> = fc
  .tuple(fields, fc.constantFrom(...ruleOperators().values()))
  .map(([field, { example }]) => ({ ...example.condition, field }));

const ruleConditions = fc.letrec<{ condition: RuleCondition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    fieldConditions,
    fc.array(tie("condition"), { minLength: 1, maxLength: 3 }).map((all): RuleCondition => ({ all })),
    fc.array(tie("condition"), { minLength: 1, maxLength: 3 }).map((any): RuleCondition => ({ any })),
    fc.array(tie("condition"), { minLength: 1, maxLength: 3 }).map((none): RuleCondition => ({ none })),
  ),
})).condition;

const rules: fc.Arbitrary<ScoredRule> = fc.oneof(
  fc.record({ id: fc.constant("if"), if: ruleConditions, then: drawnVote }),
  fc.record({ id: fc.constant("when"), when: conditions, then: drawnVote }),
);

export const evaluators: fc.Arbitrary<readonly EvaluatorDefinition[]> = fc
  .array(fc.oneof(drawnVote, fc.array(rules, { minLength: 1, maxLength: 4 })), { minLength: 1, maxLength: 4 })
  .map((drawn) =>
    drawn.map((each, index) => {
      const name = `evaluator ${index}`;
      return Array.isArray(each) ? { name, rules: each } : { name, static: each };
    }),
  );

export const anyContext: fc.Arbitrary<JsonObject> = fc
  .oneof({ weight: 3, arbitrary: contexts }, { weight: 1, arbitrary: jsonValues })
  .filter(
    (value): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value),
  );
