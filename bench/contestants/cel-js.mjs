import { Environment } from "@marcbachmann/cel-js";

/** Declared types are its fastest way; one long `? :` is slower and overflows the stack at 10,000 rules. */
export const contestant = {
  name: "cel-js, parsed",
  peer: "@marcbachmann/cel-js",
  gives: "stops at the first match; target only",
  isAsync: false,
  prepare({ rules, otherwise }) {
    const environment = declare(rules);
    const conditions = rules.map((rule) => environment.parse(asExpression(rule)));
    return (context) => {
      for (let index = 0; index < conditions.length; index++) {
        if (conditions[index](context) === true) return rules[index].target;
      }
      return otherwise;
    };
  },
};

function declare(rules) {
  const tests = rules.flatMap((rule) => rule.tests);
  const types = new Map(
    tests.map(({ field, value }) => [field, typeof value === "string" ? "string" : "double"]),
  );
  const environment = new Environment();
  for (const [field, type] of types) environment.registerVariable(field, type);
  return environment;
}

function asExpression({ tests }) {
  return tests.map(({ field, operator, value }) => `${field} ${operator} ${asLiteral(value)}`).join(" && ");
}

/** A number without a decimal point would be an integer, which JavaScript's numbers are not to CEL. */
function asLiteral(value) {
  return Number.isInteger(value) ? `${value}.0` : JSON.stringify(value);
}
