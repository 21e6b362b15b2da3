import { compose } from "../../dist/index.js";

export const contestant = {
  name: "agent-33, decide()",
  gives: "the same, as a frozen result with its time and hash",
  isAsync: true,
  async prepare({ id, directory }) {
    const world = await compose({ decisions: directory });
    return async (context) => (await world.decide({ decision_id: id, context })).selected_targets[0];
  },
};
