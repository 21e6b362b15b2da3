import type { Library } from "../definition/library.js";
import { masksOf } from "../definition/loaded-definition.js";
import { matchesGlob, findValidPolicies } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import type { Json, JsonObject } from "../model/json.js";
import type { AuthenticatedCaller, DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Session } from "../record/counters.js";
import {
  callCounter,
  callResultCounter,
  pathReadCounter,
  resultCounter,
  successCounter,
  sessionOf,
} from "../record/counters.js";
import { maskContext, maskedTexts, maskMarker } from "../record/mask.js";
import { toolResultRecordBody } from "../record/record-json.js";
import { orgOfCaller } from "../record/record-keys.js";
import { bindContext, bindValue } from "./bind.js";
import { callDigest, maskParams, paramsDigest } from "./check.js";
import type { NoCall, OpenCall, ReportedParams } from "./find-call.js";
import { contextsOf, findCall } from "./find-call.js";
import { prepareOnce } from "./find.js";
import { filePathOf } from "./gather.js";
import { maskTexts } from "./mask.js";
import type { World } from "./request.js";

/** The reported result of a tool call. */
export interface ToolResultRequest {
  readonly tool: string;
  /** Absent: the session of `decision`, which may have none. */
  readonly session_id?: string | undefined;
  readonly ok: boolean;
  /** The decision that allowed it; absent: the newest allowed call of the session without a result. */
  readonly decision?: DecisionRecord;
  /** The params of the call; absent: any. */
  readonly params?: unknown;
  /** What the call returned: any JSON value of at most 64 KiB. Recorded without the values that policies mask. */
  readonly value?: unknown;
  /** The authenticated reporter. */
  readonly caller?: AuthenticatedCaller | undefined;
}

interface ToolResultWorld extends Pick<World, "clock" | "newId" | "records"> {
  readonly definitions: Library;
}

export interface ToolResult extends Omit<ToolResultRecord, "seq" | "prev_hash" | "hash" | "counted"> {
  readonly linked: boolean;
  /** For the caller; not part of the record. */
  readonly warnings: readonly string[];
}

/**
 * Records the result of a call. Later calls of the session may require it, but only if it is linked to a check that
 * allowed the call; other results are recorded as not linked, and count for nothing.
 */
export async function recordToolResult(
  request: ToolResultRequest,
  world: ToolResultWorld,
): Promise<ToolResult> {
  const { tool, ok } = request;
  if (world.records === undefined) {
    throw new DecisionError("store_failed", "cannot record a tool result without a store");
  }
  const { log } = world.records;
  assertResultNamed(request);
  const session_id = request.session_id ?? request.decision?.session_id;
  const org = orgOfSession(request);
  const session = sessionOf({ ...(session_id !== undefined && { session_id }), caller: { org_id: org } });
  const masking = await maskingFor(request, world.definitions);
  const reported = reportedParams(request, session, masking);
  const { decision } = request;
  const call = await findCall({ tool, session_id, org, decision }, session, {
    reported,
    masks: masking.pointers,
    log,
  });
  const { value, warnings } = reportedValue(request, masking);
  const digest = paramsDigestOf(call, reported, masking);
  const timestamp = world.clock();
  const result = {
    record_id: world.newId(timestamp),
    timestamp,
    tool,
    ok,
    ...("unlinked" in call ? { decision_records: [] } : linkTo(call)),
    linked: !("unlinked" in call),
    ...(session_id !== undefined && { session_id }),
    ...(org !== undefined && { org_id: org }),
    ...(digest !== undefined && { params_digest: digest }),
    ...(value !== undefined && { value }),
  };
  const body = toolResultRecordBody(result);
  if ("unlinked" in call) {
    await log.append({ body });
    const warning = `${call.unlinked}; the result is recorded, but does not count`;
    return { kind: "tool_result", ...result, warnings: [warning, ...warnings] };
  }
  const counter = callResultCounter(call.checkId);
  const counts = [
    counter,
    ...call.counters.map(resultCounter),
    ...(ok && session !== undefined ? await evidenceOf(call, session, reported, world.definitions) : []),
  ];
  const appended = await log.append({ body, counts, limits: [{ counter, most: 1 }] });
  // Another process reported a result of this call in the meantime.
  if ("refused" in appended) return recordToolResult(request, world);
  return { kind: "tool_result", ...result, warnings };
}

/** The counters by which later calls of the session know that this one succeeded. */
async function evidenceOf(
  call: OpenCall,
  session: Session,
  reported: ReportedParams | undefined,
  definitions: Library,
): Promise<readonly string[]> {
  const reads = await readsOf(contextsOf(call, reported), session, definitions);
  return [successCounter(session, call.first.tool), ...reads];
}

/** A caller without an organisation may report a call of any: the decision that it names says which. */
const orgOfSession = ({ caller, decision }: ToolResultRequest): string | undefined =>
  caller?.org_id ?? (decision && orgOfCaller(decision));

const linkTo = ({
  decisions,
  first,
  checkId,
}: OpenCall): Pick<ToolResultRecord, "decision_records" | "parent_record_id" | "check_id"> => ({
  decision_records: decisions.map(({ record_id }) => record_id),
  parent_record_id: first.record_id,
  check_id: checkId,
});

function assertResultNamed({ tool, session_id, ok, decision }: ToolResultRequest): void {
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  const isNamed = isText(session_id) || (session_id === undefined && decision !== undefined);
  if (isText(tool) && isNamed && typeof (ok as unknown) === "boolean") return;
  throw new DecisionError(
    "input_invalid",
    "`tool` and `session_id` must be non-empty strings, and `ok` must be a boolean",
    { hint: "instead of `session_id`, you can name the record of the check that allowed the call" },
  );
}

/** What must not be recorded of the calls of a tool. */
interface Masking {
  readonly pointers: readonly string[];
  /** A policy with `include_inputs: false`. */
  readonly withoutInputs: string | undefined;
  /** Whether an invalid policy may mask more. */
  readonly isIncomplete: boolean;
}

async function maskingFor({ tool }: ToolResultRequest, definitions: Library): Promise<Masking> {
  // Throws while masks may be missing: the counters of read files contain their paths.
  const shared = definitions.sharedMasks();
  const policies = await Promise.all(
    findValidPolicies(tool, definitions).map((id) => definitions.findForInspection(id)),
  );
  const withoutInputs = policies.find(({ definition }) => definition.logging?.include_inputs === false);
  return {
    pointers: [...new Set([...policies.flatMap(masksOf), ...shared])],
    withoutInputs: withoutInputs?.definition.id,
    isIncomplete: definitions.brokenPolicies.length > 0,
  };
}

const maxValueBytes = 64 * 1024;

/** What may be recorded of the value that a call returned, and why it is less than was reported. */
function reportedValue(
  { value: given, params }: ToolResultRequest,
  { pointers, withoutInputs, isIncomplete }: Masking,
): { readonly value?: Json; readonly warnings: readonly string[] } {
  if (given === undefined) return { warnings: [] };
  const value = bindValue(given);
  const size = Buffer.byteLength(JSON.stringify(value));
  if (size > maxValueBytes) {
    throw new DecisionError(
      "input_invalid",
      `the value is too large: ${size} bytes as JSON, at most ${maxValueBytes}`,
      {
        hint: "report a summary or a digest of the value",
      },
    );
  }
  const left = (why: string): { readonly warnings: readonly string[] } => ({
    warnings: [`the value is not recorded, because ${why}`],
  });
  if (withoutInputs !== undefined) return left(`\`${withoutInputs}\` has \`include_inputs: false\``);
  if (isIncomplete) return left("an invalid policy may mask it");
  const secrets = params === undefined ? [] : maskedTexts({ params: bindContext(params) }, pointers);
  const masked = maskContext({ value }, pointers.flatMap(alsoInValue))["value"] ?? null;
  return { value: hasKeyWith(secrets, masked) ? maskMarker : maskTexts(masked, secrets), warnings: [] };
}

function hasKeyWith(secrets: readonly string[], value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, part]: [string, Json]) =>
      (!Array.isArray(value) && secrets.some((each) => key.includes(each))) || hasKeyWith(secrets, part),
  );
}

/** A mask of a param also masks the value at the same place in what the call returns. */
const alsoInValue = (pointer: string): readonly string[] =>
  pointer.startsWith("/params/") ? [pointer, `/value/${pointer.slice("/params/".length)}`] : [pointer];

/** The digest of the params that the call was made with: as reported, otherwise as the check returned them. */
function paramsDigestOf(
  call: OpenCall | NoCall,
  reported: ReportedParams | undefined,
  masking: Masking,
): string | undefined {
  if (reported !== undefined && !masking.isIncomplete) return paramsDigest(reported.params);
  if ("unlinked" in call) return undefined;
  const [context] = contextsOf(call, undefined);
  if (context === undefined) return call.first.lineage.params_digest ?? undefined;
  return paramsDigest(maskParams(context["params"] ?? null, masking.pointers));
}

/** Returns the params that identify the call among other open calls; undefined where they are not given. */
function reportedParams(
  { tool, params }: ToolResultRequest,
  session: Session | undefined,
  { pointers }: Masking,
): ReportedParams | undefined {
  if (params === undefined) return undefined;
  const masked = maskParams(bindContext(params), pointers);
  const counter = session === undefined ? undefined : callCounter(session, tool, callDigest(masked));
  return { tool, params: masked, ...(counter !== undefined && { counter }) };
}

/** The counters of the paths that the call has read, for policies with `read_before_write`. */
async function readsOf(
  contexts: readonly JsonObject[],
  session: Session,
  definitions: Library,
): Promise<readonly string[]> {
  const tool = contexts[0]?.["tool"];
  const policies = definitions.summaries.filter(({ tools }) => tools !== undefined);
  const prepared = await Promise.all(
    policies.map(async ({ id }) => (await prepareOnce(await definitions.findForInspection(id))).prepared),
  );
  return prepared.flatMap(({ needs, definition, masks }) => {
    const readNeeds = (needs?.reads ?? []).filter(
      ({ read_tools }) => typeof tool === "string" && read_tools.some((glob) => matchesGlob(glob, tool)),
    );
    return readNeeds.flatMap((need) => {
      const paths = contexts.map((context) =>
        filePathOf(need, { masks }, { context, input: undefined, facts: {}, system: {} }),
      );
      const path = paths.find((each) => typeof each === "string" && !each.includes(maskMarker));
      if (typeof path !== "string") return [];
      return [pathReadCounter({ decision: definition.id, policy: need.policy }, session, path)];
    });
  });
}
