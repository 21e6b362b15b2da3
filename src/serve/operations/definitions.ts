import {
  outputObject,
  listOf,
  outputText,
  inputObject,
  inputText,
  objectField,
  flag,
} from "./shared-fields.js";
import { isOwnOrg, orgOfDecision, assertOwnOrg } from "./org-access.js";
import type { GateDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import { definitionView, listView } from "../../present/definition-views.js";
import type { ServedWorld, Invocation } from "./operation.js";
import { defineOperation } from "./operation.js";

const definitionSchema = outputObject({
  id: outputText("the decision's id"),
  type: outputText("of the decision"),
  definition_hash: outputText("the same for the same definition"),
});

/** All that is defined. */
export const listDecisions = defineOperation<object, { readonly decisions: readonly JsonObject[] }>({
  name: "list_decisions",
  title: "List the decisions",
  description: "Lists every decision that is defined: its id, name, type, version and description.",
  scope: "read",
  readOnly: true,
  input: inputObject({}),
  output: outputObject({ decisions: listOf("all that are defined", definitionSchema) }),
  async answer(_asked, { world, caller }) {
    const own = world.definitions.ids.filter((id) =>
      isOwnOrg(orgOfDecision(id, world.definitions), caller?.org_id),
    );
    const loaded = await Promise.all(own.map((id) => world.definitions.findForInspection(id)));
    return { decisions: (listView(loaded).items as readonly JsonObject[]).map(withoutFileLocation) };
  },
});

/** One definition, whole. */
export const showDecision = defineOperation<{ readonly decision_id: string }, JsonObject>({
  name: "show_decision",
  title: "Show a decision",
  description: "Shows the definition of a decision: its cases, rules or policies, as they are written.",
  scope: "read",
  readOnly: true,
  input: inputObject({ decision_id: inputText("the decision's id") }, ["decision_id"]),
  output: definitionSchema,
  answer({ decision_id: id }, asker) {
    assertOwnOrg(orgOfDecision(id, asker.world.definitions), asker);
    return describeDecision(id, asker.world);
  },
});

async function describeDecision(id: string, { definitions }: ServedWorld): Promise<JsonObject> {
  return withoutFileLocation(definitionView(await definitions.findForInspection(id)).value as JsonObject);
}

/** Where files lie is nobody's business on the other side. */
function withoutFileLocation(shown: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(shown).filter(([key]) => key !== "file" && key !== "line"));
}

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
export const listActions = defineOperation<ActionsInput, { readonly actions: readonly Action[] }>({
  name: "list_actions",
  title: "List the actions that have a gate",
  description:
    "Lists the actions that `decide` can be asked about, each with the JSON Schema of the context that it takes.",
  scope: "read",
  readOnly: true,
  input: inputObject({
    org_id: inputText("only those of this organisation"),
    domain: inputText("only those of this domain"),
  }),
  output: outputObject({
    actions: listOf(
      "by name, the newest version of each first",
      outputObject(
        {
          org_id: outputText("the organisation"),
          domain: outputText("the domain of the action"),
          action: outputText("the action"),
          world_model_version: { type: "integer", description: "the version of the gate" },
          latest: flag("whether it answers where no version is named"),
          decision_id: outputText("the decision that is its gate"),
        },
        { context_schema: objectField("the JSON Schema of the context; absent: any object will do") },
      ),
    ),
  }),
  answer: async (asked, asker) => ({ actions: await visibleActions(asked, asker) }),
});

async function visibleActions(
  { org_id: org, domain }: ActionsInput,
  asker: Pick<Invocation, "world" | "caller">,
): Promise<readonly Action[]> {
  assertOwnOrg(org, asker);
  const all = await listAllActions(asker.world);
  return all.filter(
    (each) =>
      isOwnOrg(each.org_id, asker.caller?.org_id) &&
      (org === undefined || each.org_id === org) &&
      (domain === undefined || each.domain === domain),
  );
}

/** By name, the newest version of each first. */
export async function listAllActions({ definitions }: ServedWorld): Promise<readonly Action[]> {
  const gates = definitions.summaries.filter(({ action }) => action !== undefined);
  const loaded = await Promise.all(gates.map(({ id }) => definitions.findForInspection(id)));
  const all = loaded.flatMap(({ definition }) => (definition.type === "gate" ? [toAction(definition)] : []));
  const sorted = all.toSorted(
    (a, b) => actionKey(a).localeCompare(actionKey(b), "en") || b.world_model_version - a.world_model_version,
  );
  return sorted.map((each, index) => {
    const before = sorted[index - 1];
    return { ...each, latest: before === undefined || actionKey(before) !== actionKey(each) };
  });
}

const actionKey = ({ org_id, domain, action }: Pick<Action, "org_id" | "domain" | "action">): string =>
  `${org_id}/${domain}/${action}`;

function toAction(definition: GateDefinition): Omit<Action, "latest"> {
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
