import type { JsonObject } from "../../model/json.js";
import type { ServedWorld } from "../question.js";
import { question } from "../question.js";
import { definitionView, listView } from "../../present/definition-views.js";
import { answerWith, list, said } from "./answer-fields.js";
import { objectWith, text } from "./fields.js";
import { isOwn, orgOf, refuseForeignOrg } from "./own-org.js";

const definitionSchema = answerWith({
  id: said("the decision's id"),
  type: said("of the decision"),
  definition_hash: said("the same for the same definition"),
});

/** All that is defined. */
export const listDecisions = question<object, { readonly decisions: readonly JsonObject[] }>({
  name: "list_decisions",
  title: "List the decisions",
  description: "Lists every decision that is defined: its id, name, type, version and description.",
  scope: "read",
  readOnly: true,
  input: objectWith({}),
  output: answerWith({ decisions: list("all that are defined", definitionSchema) }),
  async answer(_asked, { world, caller }) {
    const own = world.definitions.ids.filter((id) => isOwn(orgOf(id, world.definitions), caller?.org_id));
    const loaded = await Promise.all(own.map((id) => world.definitions.lookUp(id)));
    return { decisions: (listView(loaded).items as readonly JsonObject[]).map(withoutPlace) };
  },
});

/** One definition, whole. */
export const showDecision = question<{ readonly decision_id: string }, JsonObject>({
  name: "show_decision",
  title: "Show a decision",
  description: "Shows the definition of a decision: its cases, rules or policies, as they are written.",
  scope: "read",
  readOnly: true,
  input: objectWith({ decision_id: text("the decision's id") }, ["decision_id"]),
  output: definitionSchema,
  answer({ decision_id: id }, asker) {
    refuseForeignOrg(orgOf(id, asker.world.definitions), asker);
    return shownDecision(id, asker.world);
  },
});

export async function shownDecision(id: string, { definitions }: ServedWorld): Promise<JsonObject> {
  return withoutPlace(definitionView(await definitions.lookUp(id)).value as JsonObject);
}

/** Where files lie is nobody's business on the other side. */
function withoutPlace(shown: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(shown).filter(([key]) => key !== "file" && key !== "line"));
}
