import type { Tool } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../model/json.js";
import { permits } from "../auth/scopes.js";
import type { Asker, InputSchema } from "../question.js";
import { isOwn } from "../questions/own-org.js";
import { questions } from "../questions/questions.js";
import type { McpTool } from "./listed-tool.js";
import { listedTool } from "./listed-tool.js";
import { typedTools } from "./typed-tools.js";

/** A list that is longer would hide what an agent looks for; `list_actions` and `list_decisions` tell all of it. */
const most = { typed: 50, ids: 200 };

/** What is there for whoever asks, typed tools behind the others. */
export async function toolsFor(asker: Asker): Promise<readonly McpTool[]> {
  const { world, caller } = asker;
  const own = (await typedTools(world)).filter(({ org }) => isOwn(org, caller?.org_id));
  const generic = questions.map((each): McpTool => {
    const listed = (): Tool => listedTool({ ...each, input: withIds(each.input, ownIds(asker)) });
    return { name: each.name, scope: each.scope, answer: each.answer, listed };
  });
  return own.length > most.typed ? generic : [...generic, ...own];
}

/** Those that whoever asks may call. */
export async function listedTools(asker: Asker): Promise<Tool[]> {
  const tools = await toolsFor(asker);
  return tools.filter(({ scope }) => permits(asker.caller, scope)).map(({ listed }) => listed());
}

/** The decisions that whoever asks may ask about. */
export function ownIds({ world: { definitions }, caller }: Asker): readonly string[] {
  if (caller?.org_id === undefined) return definitions.ids;
  const orgs = new Map(definitions.summaries.map(({ id, action }) => [id, action?.org]));
  return definitions.ids.filter((id) => isOwn(orgs.get(id), caller.org_id));
}

/** Where a decision must be named, the names that there are. */
function withIds(input: InputSchema, ids: readonly string[]): InputSchema {
  const { decision_id: id } = input.properties;
  const isNamed = id !== undefined && input.required.includes("decision_id");
  if (!isNamed || ids.length === 0 || ids.length > most.ids) return input;
  const known: JsonObject = { ...id, enum: ids };
  return { ...input, properties: { ...input.properties, decision_id: known } };
}
