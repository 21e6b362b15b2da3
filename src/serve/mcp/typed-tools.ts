import type { JsonObject } from "../../model/json.js";
import type { InputSchema, ServedWorld } from "../question.js";
import { question } from "../question.js";
import { decideAction } from "../questions/decide.js";
import type { ProvenanceInput } from "../questions/fields.js";
import { document, objectWith, provenance } from "../questions/fields.js";
import type { Action } from "../questions/list-actions.js";
import { actionsIn } from "../questions/list-actions.js";
import type { McpTool } from "./listed-tool.js";
import { listedTool } from "./listed-tool.js";
import { nestedSchema } from "../nested-schema.js";
import { typedNames } from "./typed-names.js";

export interface TypedTool extends McpTool {
  readonly org: string;
}

interface TypedInput extends ProvenanceInput {
  readonly context: object;
}

const context = document("what is known of the case");

/** Made once for each state of the definitions. */
const made = new WeakMap<ServedWorld["definitions"], Promise<readonly TypedTool[]>>();

/** A tool for each action that has a gate: `decide`, with the context as the newest version of it wants it. */
export function typedTools(world: ServedWorld): Promise<readonly TypedTool[]> {
  const { definitions } = world;
  const known = made.get(definitions);
  if (known !== undefined) return known;
  const tools = makeTools(world);
  made.set(definitions, tools);
  // What failed for a moment must not have failed for good.
  tools.catch(() => made.delete(definitions));
  return tools;
}

async function makeTools(world: ServedWorld): Promise<readonly TypedTool[]> {
  const newest = (await actionsIn(world)).filter(({ latest }) => latest);
  return Array.from(typedNames(newest), ([name, action]) => typedTool(name, action));
}

function typedTool(name: string, action: Action): TypedTool {
  const { org_id, domain, action: verb } = action;
  const input = objectWith({ context, ...provenance }, ["context"]);
  const asked = question<TypedInput, unknown>({
    name,
    title: action.name ?? `Ask the gate of ${verb}`,
    description: descriptionOf(action),
    scope: decideAction.scope,
    readOnly: decideAction.readOnly,
    input,
    output: decideAction.output,
    answer: (given, asker) => decideAction.answer({ org_id, domain, action: verb, ...given }, asker),
  });
  const listed = listedTool({ ...asked, input: typedInput(input, action) });
  return { name, org: org_id, scope: asked.scope, answer: asked.answer, listed: () => listed };
}

function descriptionOf({ org_id: org, domain, action, description }: Action): string {
  const own = description === undefined ? "" : `${description.trim().replace(/([^.!?])$/, "$1.")} `;
  return (
    `${own}Asks the gate of the action \`${action}\` in \`${domain}\` of \`${org}\` before it is taken; answers as ` +
    "`decide` does: act only on GREEN. The decision is recorded."
  );
}

/** The gate checks the context itself, and tells more about what is wrong with it. */
function typedInput(input: InputSchema, { context_schema: schema }: Action): InputSchema {
  if (schema === undefined) return input;
  const nested: JsonObject = { ...context, ...nestedSchema(schema, "#/properties/context") };
  return { ...input, properties: { ...input.properties, context: nested } };
}
