import { compose, evaluate, prepare } from "../../dist/index.js";

export const contestant = {
  name: "agent-33, evaluate()",
  gives: "considers every rule; tells what came of each (beyond 100: of the matches)",
  isAsync: false,
  async prepare({ id, directory }) {
    const { definitions } = await compose({ decisions: directory });
    const { definition } = await definitions.find(id);
    const prepared = prepare(definition);
    return (context) =>
      evaluate(prepared, { context, facts: {}, system: {}, input: undefined }).selected_targets[0];
  },
};
