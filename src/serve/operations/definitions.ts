import {
  outputObject,
  listOf,
  outputText,
  inputObject,
  inputText,
  objectField,
  flag,
} from "./shared-fields.js";
import { assertOwnOrg, assertVisibleDecision, visibleDecisionIds } from "./org-access.js";
import { isVisibleTo } from "../../definition/organisation.js";
import type { GateDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import { definitionView, listView } from "../../present/definition-views.js";
import type { ServedWorld, Invocation } from "./operation.js";
import { defineOperation } from "./operation.js";

const definitionSchema = outputObject({
  id: outputText("the decision's id"),
  type: outputText("the type of the decision"),
  definition_hash: outputText("the hash of the definition"),
});

export const listDecisions = defineOperation<object, { readonly decisions: readonly JsonObject[] }>({
  name: "list_decisions",
  title: "List the decisions",
  description: "Lists all decisions with id, name, type, version and description.",
  scope: "read",
  readOnly: true,
  input: inputObject({}),
  output: outputObject({ decisions: listOf("all decisions", definitionSchema) }),
  async run(_input, invocation) {
    const { definitions } = invocation.world;
    const visible = visibleDecisionIds(invocation);
    const loaded = await Promise.all(visible.map((id) => definitions.findForInspection(id)));
    return { decisions: (listView(loaded).items as readonly JsonObject[]).map(withoutFileLocation) };
  },
});

export const showDecision = defineOperation<{ readonly decision_id: string }, JsonObject>({
  name: "show_decision",
  title: "Show a decision",
  description: "Shows the complete definition of a decision: its cases, rules or policies.",
  scope: "read",
  readOnly: true,
  input: inputObject({ decision_id: inputText("the decision's id") }, ["decision_id"]),
  output: definitionSchema,
  async run({ decision_id: id }, invocation) {
    assertVisibleDecision(id, invocation);
    return await describeDecision(id, invocation.world);
  },
});

async function describeDecision(id: string, { definitions }: ServedWorld): Promise<JsonObject> {
  return withoutFileLocation(definitionView(await definitions.findForInspection(id)).value as JsonObject);
}

/** Removes paths on the server, which clients must not see. */
function withoutFileLocation(definition: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(definition).filter(([key]) => key !== "file" && key !== "line"));
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
  /** Whether it is used when a request names no version. */
  readonly latest: boolean;
  readonly decision_id: string;
  readonly name?: string;
  readonly description?: string;
  /** The JSON Schema of the context; absent: any object is accepted. */
  readonly context_schema?: JsonObject;
}

export const listActions = defineOperation<ActionsInput, { readonly actions: readonly Action[] }>({
  name: "list_actions",
  title: "List the actions that have a gate",
  description: "Lists the actions that `decide` accepts, each with the JSON Schema of its context.",
  scope: "read",
  readOnly: true,
  input: inputObject({
    org_id: inputText("only actions of this organisation"),
    domain: inputText("only actions of this domain"),
  }),
  output: outputObject({
    actions: listOf(
      "sorted by name, the newest version of each first",
      outputObject(
        {
          org_id: outputText("the organisation"),
          domain: outputText("the domain of the action"),
          action: outputText("the action"),
          world_model_version: { type: "integer", description: "the version of the gate" },
          latest: flag("whether it is used when a request names no version"),
          decision_id: outputText("the id of its gate"),
        },
        { context_schema: objectField("the JSON Schema of the context; absent: any object is accepted") },
      ),
    ),
  }),
  run: async (input, invocation) => ({ actions: await visibleActions(input, invocation) }),
});

async function visibleActions(
  { org_id: org, domain }: ActionsInput,
  invocation: Pick<Invocation, "world" | "caller">,
): Promise<readonly Action[]> {
  assertOwnOrg(org, invocation);
  const all = await listAllActions(invocation.world);
  return all.filter(
    (each) =>
      isVisibleTo(invocation.caller?.org_id, each.org_id) &&
      (org === undefined || each.org_id === org) &&
      (domain === undefined || each.domain === domain),
  );
}

/** Returns all actions sorted by name, the newest version of each first. */
export async function listAllActions({ definitions }: ServedWorld): Promise<readonly Action[]> {
  const gates = definitions.summaries.filter(({ action }) => action !== undefined);
  const loaded = await Promise.all(gates.map(({ id }) => definitions.findForInspection(id)));
  const all = loaded.flatMap(({ definition }) => (definition.type === "gate" ? [toAction(definition)] : []));
  const sorted = all.toSorted(
    (a, b) => actionKey(a).localeCompare(actionKey(b), "en") || b.world_model_version - a.world_model_version,
  );
  return sorted.map((each, index) => {
    const previous = sorted[index - 1];
    return { ...each, latest: previous === undefined || actionKey(previous) !== actionKey(each) };
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
