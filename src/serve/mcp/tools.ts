import type { Tool } from "@modelcontextprotocol/server";
import { sha256Hex } from "../../digest/sha256.js";
import type { JsonObject } from "../../model/json.js";
import { hasScope } from "../auth/authenticate.js";
import { embedSchema } from "../embed-schema.js";
import type { Invocation, InputSchema, Operation, ServedWorld } from "../operations/operation.js";
import { defineOperation } from "../operations/operation.js";
import { decideAction } from "../operations/decide.js";
import type { ProvenanceInput } from "../operations/shared-fields.js";
import { objectField, inputObject, provenanceFields } from "../operations/shared-fields.js";
import type { Action } from "../operations/definitions.js";
import { listAllActions } from "../operations/definitions.js";
import { isOwnOrg } from "../operations/org-access.js";
import { operations } from "../operations/operations.js";

/** A list that is longer would hide what an agent looks for; `list_actions` and `list_decisions` tell all of it. */
const listLimits = { typed: 50, ids: 200 };

/** What is there for whoever asks, typed tools behind the others. */
export async function visibleTools(asker: Invocation): Promise<readonly McpTool[]> {
  const { world, caller } = asker;
  const own = (await actionTools(world)).filter(({ org }) => isOwnOrg(org, caller?.org_id));
  const generic = operations.map((each): McpTool => {
    const listed = (): Tool =>
      describeTool({ ...each, input: withDecisionIds(each.input, visibleDecisionIds(asker)) });
    return { name: each.name, scope: each.scope, answer: each.answer, describe: listed };
  });
  return own.length > listLimits.typed ? generic : [...generic, ...own];
}

/** Those that whoever asks may call. */
export async function listTools(asker: Invocation): Promise<Tool[]> {
  const tools = await visibleTools(asker);
  return tools.filter(({ scope }) => hasScope(asker.caller, scope)).map(({ describe: listed }) => listed());
}

/** The decisions that whoever asks may ask about. */
export function visibleDecisionIds({ world: { definitions }, caller }: Invocation): readonly string[] {
  if (caller?.org_id === undefined) return definitions.ids;
  const orgs = new Map(definitions.summaries.map(({ id, action }) => [id, action?.org]));
  return definitions.ids.filter((id) => isOwnOrg(orgs.get(id), caller.org_id));
}

/** Where a decision must be named, the names that there are. */
function withDecisionIds(input: InputSchema, ids: readonly string[]): InputSchema {
  const { decision_id: id } = input.properties;
  const isNamed = id !== undefined && input.required.includes("decision_id");
  if (!isNamed || ids.length === 0 || ids.length > listLimits.ids) return input;
  const known: JsonObject = { ...id, enum: ids };
  return { ...input, properties: { ...input.properties, decision_id: known } };
}

/** A question as MCP has it. */
export interface McpTool extends Pick<Operation, "name" | "scope" | "answer"> {
  readonly describe: () => Tool;
}

function describeTool({
  name,
  title,
  description,
  input,
  output,
  readOnly,
}: Pick<Operation, "name" | "title" | "description" | "input" | "output" | "readOnly">): Tool {
  return {
    name,
    title,
    description,
    inputSchema: { ...input, required: [...input.required] } as Tool["inputSchema"],
    outputSchema: { ...output, required: [...output.required] },
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: false,
      // Each time that it is asked, one more record is kept.
      idempotentHint: readOnly,
      openWorldHint: false,
    },
  };
}

interface ActionTool extends McpTool {
  readonly org: string;
}

interface ActionToolInput extends ProvenanceInput {
  readonly context: object;
}

const actionContext = objectField("what is known of the case");

/** Made once for each state of the definitions. */
const toolsByDefinitions = new WeakMap<ServedWorld["definitions"], Promise<readonly ActionTool[]>>();

/** A tool for each action that has a gate: `decide`, with the context as the newest version of it wants it. */
export function actionTools(world: ServedWorld): Promise<readonly ActionTool[]> {
  const { definitions } = world;
  const known = toolsByDefinitions.get(definitions);
  if (known !== undefined) return known;
  const tools = createActionTools(world);
  toolsByDefinitions.set(definitions, tools);
  // What failed for a moment must not have failed for good.
  tools.catch(() => toolsByDefinitions.delete(definitions));
  return tools;
}

async function createActionTools(world: ServedWorld): Promise<readonly ActionTool[]> {
  const newest = (await listAllActions(world)).filter(({ latest }) => latest);
  return Array.from(actionToolNames(newest), ([name, action]) => createActionTool(name, action));
}

function createActionTool(name: string, action: Action): ActionTool {
  const { org_id, domain, action: verb } = action;
  const input = inputObject({ context: actionContext, ...provenanceFields }, ["context"]);
  const asked = defineOperation<ActionToolInput, unknown>({
    name,
    title: action.name ?? `Ask the gate of ${verb}`,
    description: actionDescription(action),
    scope: decideAction.scope,
    readOnly: decideAction.readOnly,
    input,
    output: decideAction.output,
    answer: (given, asker) => decideAction.answer({ org_id, domain, action: verb, ...given }, asker),
  });
  const listed = describeTool({ ...asked, input: actionInputSchema(input, action) });
  return { name, org: org_id, scope: asked.scope, answer: asked.answer, describe: () => listed };
}

function actionDescription({ org_id: org, domain, action, description }: Action): string {
  const own = description === undefined ? "" : `${description.trim().replace(/([^.!?])$/, "$1.")} `;
  return (
    `${own}Asks the gate of the action \`${action}\` in \`${domain}\` of \`${org}\` before it is taken; answers as ` +
    "`decide` does: act only on GREEN. The decision is recorded."
  );
}

/** The gate checks the context itself, and tells more about what is wrong with it. */
function actionInputSchema(input: InputSchema, { context_schema: schema }: Action): InputSchema {
  if (schema === undefined) return input;
  const nested: JsonObject = { ...actionContext, ...embedSchema(schema, "#/properties/context") };
  return { ...input, properties: { ...input.properties, context: nested } };
}

type ActionKey = Pick<Action, "org_id" | "domain" | "action">;

/** Some clients take no longer ones. */
const maxNameLength = 64;

/**
 * The names of the tools of actions, each its own. What had to be cut, or would be called as another, ends with a
 * hash of its key: a name must not come to mean another action when one is added. Absent: it cannot be told apart.
 */
export function actionToolNames<Each extends ActionKey>(actions: readonly Each[]): ReadonlyMap<string, Each> {
  const plain = actions.map(plainName);
  const named = actions.map((each, index): readonly [string, Each] => {
    const name = plain[index] ?? "";
    const fits = name.length <= maxNameLength && plain.indexOf(name) === plain.lastIndexOf(name);
    return [fits ? name : hashedName(name, each), each];
  });
  const count = new Map<string, number>();
  for (const [name] of named) count.set(name, (count.get(name) ?? 0) + 1);
  return new Map(named.filter(([name]) => count.get(name) === 1));
}

const plainName = ({ org_id: org, domain, action }: ActionKey): string =>
  `decide_${org}_${domain}_${action}`.replace(/[^A-Za-z0-9_-]/g, "_");

function hashedName(name: string, { org_id: org, domain, action }: ActionKey): string {
  const ending = `_${sha256Hex(JSON.stringify([org, domain, action])).slice(0, 8)}`;
  return `${name.slice(0, maxNameLength - ending.length)}${ending}`;
}
