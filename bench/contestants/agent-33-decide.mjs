import { compose } from "../../dist/index.js";

export const contestant = {
  name: "agent-33, decide()",
  gives: "the same, as a frozen result with its time and hash; keeps no record",
  isAsync: true,
  async prepare({ id, directory }) {
    const world = await compose({ decisions: directory });
    const decide = (context) => world.decide({ decision_id: id, context, dry_run: true });
    return async (context) => (await decide(context)).selected_targets[0];
  },
};
