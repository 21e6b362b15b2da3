import type { Question } from "../question.js";
import { checkToolCall } from "./check-tool-call.js";
import { decideAction } from "./decide.js";
import { dryRunDecision, evaluateDecision } from "./evaluate.js";
import { explainRecord, showRecord } from "./explain-record.js";
import { findPrecedents } from "./find-precedents.js";
import { findRecords } from "./find-records.js";
import { listActions } from "./list-actions.js";
import { listDecisions, showDecision } from "./list-decisions.js";
import { recordToolResult } from "./record-tool-result.js";

/** All that can be asked, whichever door it comes through. */
export const questions: readonly Question[] = [
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
