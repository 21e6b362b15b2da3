export type { Composed, Configuration } from "./compose.js";
export { compose } from "./compose.js";
export type { Request } from "./decide/decide.js";
export { canonicalJson } from "./digest/canonical-json.js";
export type { ErrorCode } from "./errors.js";
export { DecisionError } from "./errors.js";
export type { Evaluated, Prepared } from "./evaluate/evaluate.js";
export { evaluate, prepare } from "./evaluate/evaluate.js";
export type { Expression } from "./expression/compile.js";
export { compile } from "./expression/compile.js";
export type {
  Case,
  Definition,
  DecisionType,
  HitPolicy,
  LoadedDefinition,
  Target,
} from "./model/definition.js";
export type { Json, JsonObject } from "./model/json.js";
export type { Problem } from "./model/problem.js";
export type { DecisionRecord, LogRecord, NoteRecord, Provenance } from "./model/record.js";
export type { Ledger, LogLine, Prunable, Query, Shelf, Store, Tally, TimeRange } from "./model/store.js";
export type { StoreConfiguration } from "./store/open.js";
export type { Check, ConditionDetail, EvaluationDetails, Result, RollDetails } from "./model/result.js";
export type { Scope } from "./model/scope.js";
export { version } from "./version.js";
