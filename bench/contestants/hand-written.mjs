/** What somebody would write who needed no definitions; no peer, but the bound for all of them. */
export const contestant = {
  name: "hand-written if",
  gives: "stops at the first match; target only",
  isAsync: false,
  prepare({ rules, otherwise }) {
    const lines = rules.map((rule) => `if (${asCondition(rule)}) return ${JSON.stringify(rule.target)};`);
    return new Function("context", [...lines, `return ${JSON.stringify(otherwise)};`].join("\n"));
  },
};

const operators = { "==": "===", ">": ">", "<": "<" };

function asCondition({ tests }) {
  return tests
    .map(({ field, operator, value }) => `context.${field} ${operators[operator]} ${JSON.stringify(value)}`)
    .join(" && ");
}
