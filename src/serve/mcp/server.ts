import type { ServerContext } from "@modelcontextprotocol/server";
import { DecisionError } from "../../errors.js";
import type { Asker } from "../question.js";
import { toldError } from "../told-details.js";
import { callTool } from "./call-tool.js";
import { instructions } from "./instructions.js";
import type { AskedBy, McpOptions } from "./options.js";
import { protocolError } from "./protocol-error.js";
import { completedIds, listedResources, readResource, resourceTemplates } from "./resources.js";
import { PlainServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "./sdk.js";
import { errorText } from "./tool-result.js";
import { listedTools } from "./tools.js";

export interface Connection extends AskedBy {
  /** Whether changes can be told to whoever is connected. */
  readonly listChanged: boolean;
  /** Hears of each request that is being answered. */
  readonly during?: <T>(work: Promise<T>) => Promise<T>;
}

/** What answers one who is connected. */
export function mcpServer(options: McpOptions, connection: Connection): PlainServer {
  const { listChanged, during = (work) => work, caller, correlationId } = connection;
  const capabilities = { tools: { listChanged }, resources: { listChanged }, completions: {} };
  const server = new PlainServer(
    { name: "agent-33", version: options.version },
    { capabilities, instructions },
  );
  const answering =
    <Request, Answer>(answer: (request: Request, asker: Asker) => Promise<Answer>) =>
    (request: Request, { mcpReq }: ServerContext): Promise<Answer> => {
      const asker = { world: options.world(), caller, correlationId };
      return during(answer(request, asker)).catch((error: unknown) => {
        throw protocolError(error, mcpReq.method, options);
      });
    };
  server.setRequestHandler(
    "tools/list",
    answering(async (_request, asker) => ({ tools: await listedTools(asker) })),
  );
  server.setRequestHandler(
    "tools/call",
    answering(({ params }, asker) => callTool(params, asker, options.log)),
  );
  server.setRequestHandler(
    "resources/list",
    answering(async (_request, asker) => ({ resources: await listedResources(asker) })),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates }));
  server.setRequestHandler(
    "resources/read",
    answering(async ({ params: { uri } }, asker) => ({
      contents: [{ uri, mimeType: "application/json", text: await textOf(uri, asker) }],
    })),
  );
  server.setRequestHandler(
    "completion/complete",
    answering(async ({ params: { ref, argument } }, asker) => {
      const completion = "uri" in ref ? await completedIds(ref.uri, argument, asker) : undefined;
      if (completion !== undefined) return { completion };
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `there is nothing to complete \`${argument.name}\` of`,
      );
    }),
  );
  return server;
}

const unknown = new Set(["definition_not_found", "record_not_found", "input_invalid"]);

async function textOf(uri: string, asker: Asker): Promise<string> {
  try {
    const text = await readResource(uri, asker);
    if (text !== undefined) return text;
  } catch (error) {
    if (!(error instanceof DecisionError) || !unknown.has(error.code)) throw error;
    const told = errorText(toldError(error));
    throw new ResourceNotFoundError(uri, told.replace("error: ", "").replace("\nhint: ", "; "));
  }
  throw new ResourceNotFoundError(
    uri,
    `there is no resource \`${uri}\`; \`resources/list\` tells which there are`,
  );
}
