/* eslint-disable @typescript-eslint/no-deprecated -- `Server` is for advanced use, and ours is: questions check what they are given themselves, and say better what is wrong with it. */
import { Server } from "@modelcontextprotocol/server";

/** All that is used of the SDK. The build makes a file of its own of it, which only those who speak MCP load. */
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
