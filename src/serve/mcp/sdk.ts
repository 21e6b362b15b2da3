/* eslint-disable @typescript-eslint/no-deprecated -- `Server` is for advanced use: here, operations validate their own input, with better messages. */
import type { jsonSchemaValidator } from "@modelcontextprotocol/server";
import { Server } from "@modelcontextprotocol/server";

/** Everything used of the SDK. The build puts it in a separate file, which is loaded only to serve MCP. */
export {
  createMcpHandler,
  isJSONRPCRequest,
  parseJSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
export { serveStdio as serveOver } from "@modelcontextprotocol/server/stdio";
export { toNodeHandler } from "@modelcontextprotocol/node";

export const PlainServer = Server;
export type PlainServer = Server;

/** Replaces the SDK's validator of users' answers, which the build leaves out: this server asks users nothing. */
export const answerValidator: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: "no question was asked" }),
};
