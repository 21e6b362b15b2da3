import { Engine } from "json-rules-engine";

const operators = { "==": "equal", ">": "greaterThan", "<": "lessThan" };

/** Priorities and `stop()` are its documented way to do no more than needed; asking all rules is slower. */
export const contestant = {
  name: "json-rules-engine",
  peer: "json-rules-engine",
  gives: "stops at the first match; results of the rules it asked",
  isAsync: true,
  prepare({ rules, otherwise }) {
    const engine = new Engine(rules.map((rule, index) => asRule(rule, rules.length - index)));
    engine.on("success", () => engine.stop());
    return async (context) => {
      const { events } = await engine.run(context);
      return events.length === 0 ? otherwise : events[0].params.target;
    };
  },
};

function asRule({ label, target, tests }, priority) {
  const all = tests.map(({ field, operator, value }, index) => ({
    fact: field,
    operator: operators[operator],
    value,
    priority: tests.length - index,
  }));
  return { name: label, priority, conditions: { all }, event: { type: "route", params: { target } } };
}
