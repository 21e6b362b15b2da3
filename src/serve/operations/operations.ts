import { decideAction, dryRunDecision, evaluateDecision } from "./decide.js";
import { listActions, listDecisions, showDecision } from "./definitions.js";
import { findPrecedents } from "./find-precedents.js";
import type { Operation } from "./operation.js";
import { explainRecord, showRecord, findRecords } from "./records.js";
import { checkToolCall, recordToolResult } from "./tool-calls.js";

/** All operations, in the order of the MCP tool list. */
export const operations: readonly Operation[] = [
  decideAction,
  listActions,
  listDecisions,
  showDecision,
  evaluateDecision,
  dryRunDecision,
  checkToolCall,
  recordToolResult,
  findRecords,
  showRecord,
  explainRecord,
  findPrecedents,
];
