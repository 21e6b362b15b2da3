import type { GateDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { Asker, ServedWorld } from "../question.js";
import { question } from "../question.js";
import { answerWith, list, said } from "./answer-fields.js";
import { document, flag, objectWith, text } from "./fields.js";
import { isOwn, refuseForeignOrg } from "./own-org.js";

interface ActionsInput {
  readonly org_id?: string;
  readonly domain?: string;
}

/** An action that has a gate. */
export interface Action {
  readonly org_id: string;
  readonly domain: string;
  readonly action: string;
  readonly world_model_version: number;
  /** Whether it answers where no version is named. */
  readonly latest: boolean;
  readonly decision_id: string;
  readonly name?: string;
  readonly description?: string;
  /** The JSON Schema of the context; absent: any object will do. */
  readonly context_schema?: JsonObject;
}

/** The actions that can be asked about. */
export const listActions = question<ActionsInput, { readonly actions: readonly Action[] }>({
  name: "list_actions",
  title: "List the actions that have a gate",
  description:
    "Lists the actions that `decide` can be asked about, each with the JSON Schema of the context that it takes.",
  scope: "read",
  readOnly: true,
  input: objectWith({
    org_id: text("only those of this organisation"),
    domain: text("only those of this domain"),
  }),
  output: answerWith({
    actions: list(
      "by name, the newest version of each first",
      answerWith(
        {
          org_id: said("the organisation"),
          domain: said("the domain of the action"),
          action: said("the action"),
          world_model_version: { type: "integer", description: "the version of the gate" },
          latest: flag("whether it answers where no version is named"),
          decision_id: said("the decision that is its gate"),
        },
        { context_schema: document("the JSON Schema of the context; absent: any object will do") },
      ),
    ),
  }),
  answer: async (asked, asker) => ({ actions: await actionsFor(asked, asker) }),
});

export async function actionsFor(
  { org_id: org, domain }: ActionsInput,
  asker: Pick<Asker, "world" | "caller">,
): Promise<readonly Action[]> {
  refuseForeignOrg(org, asker);
  const all = await actionsIn(asker.world);
  return all.filter(
    (each) =>
      isOwn(each.org_id, asker.caller?.org_id) &&
      (org === undefined || each.org_id === org) &&
      (domain === undefined || each.domain === domain),
  );
}

/** By name, the newest version of each first. */
export async function actionsIn({ definitions }: ServedWorld): Promise<readonly Action[]> {
  const gates = definitions.summaries.filter(({ action }) => action !== undefined);
  const loaded = await Promise.all(gates.map(({ id }) => definitions.lookUp(id)));
  const all = loaded.flatMap(({ definition }) => (definition.type === "gate" ? [actionOf(definition)] : []));
  const sorted = all.toSorted(
    (a, b) => nameOf(a).localeCompare(nameOf(b), "en") || b.world_model_version - a.world_model_version,
  );
  return sorted.map((each, index) => {
    const before = sorted[index - 1];
    return { ...each, latest: before === undefined || nameOf(before) !== nameOf(each) };
  });
}

const nameOf = ({ org_id, domain, action }: Pick<Action, "org_id" | "domain" | "action">): string =>
  `${org_id}/${domain}/${action}`;

function actionOf(definition: GateDefinition): Omit<Action, "latest"> {
  const { action, id, name, description, context_schema } = definition;
  return {
    org_id: action.org,
    domain: action.domain,
    action: action.name,
    world_model_version: action.world_model_version ?? 1,
    decision_id: id,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(context_schema !== undefined && { context_schema }),
  };
}
