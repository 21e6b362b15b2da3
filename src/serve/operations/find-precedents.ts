import type { Invocation } from "./operation.js";
import { defineOperation } from "./operation.js";
import { assertVisibleDecision, findOwnRecord, recordVisibility } from "./org-access.js";
import {
  outputObject,
  listOf,
  outputText,
  contextField,
  objectField,
  inputObject,
  provenanceFields,
  inputText,
  toProvenance,
} from "./shared-fields.js";
import { compareWithPrecedents } from "../../decide/compare.js";
import { DecisionError } from "../../errors.js";
import type { PrecedentComparison, PrecedentOptions } from "../../lineage/precedents.js";
import { compareRecord, defaultMinSimilarity, defaultPrecedentLimit } from "../../lineage/precedents.js";

interface PrecedentsInput {
  readonly decision_id?: string;
  readonly context?: object;
  readonly record_id?: string;
  readonly session_id?: string;
  readonly workflow_id?: string;
  readonly limit?: number;
  readonly min_similarity?: number;
  readonly policy?: string;
}

/** Finds earlier decisions on similar cases. */
export const findPrecedents = defineOperation<PrecedentsInput, PrecedentComparison>({
  name: "find_precedents",
  title: "Find similar earlier decisions",
  description:
    "Finds earlier decisions similar to one that you are about to request (decision_id and context) or to a record " +
    "(record_id), the most similar first. For information only. Nothing is recorded.",
  scope: "audit",
  readOnly: true,
  input: inputObject({
    decision_id: inputText("the decision's id"),
    context: contextField,
    record_id: inputText(
      "find decisions made before this record: its id or a prefix of it, its number, or `latest`",
    ),
    session_id: provenanceFields.session_id,
    workflow_id: provenanceFields.workflow_id,
    limit: { type: "integer", minimum: 1, maximum: 100, description: `default: ${defaultPrecedentLimit}` },
    min_similarity: {
      type: "number",
      minimum: 0,
      maximum: 1,
      description: `default: ${defaultMinSimilarity}`,
    },
    policy: inputText("only decisions that this policy or override took part in"),
  }),
  output: outputObject(
    {
      decision_id: outputText("the decision that is compared"),
      type: outputText("the type of the decision"),
      outcome: outputText("the outcome of the decision"),
      entities: listOf("the entities of the decision", objectField("an entity")),
      sources: listOf("the parts of the context that the decision reads"),
      param_names: listOf("the names of the params of a tool call"),
      precedents: listOf(
        "the most similar first",
        objectField("an earlier decision with its outcome and reasons"),
      ),
    },
    {
      record_id: outputText("the record that is compared"),
      tool: outputText("the tool that a policy decided about"),
    },
  ),
  async run(input, invocation) {
    const { decision_id: id, context, record_id: recordId, limit, min_similarity, policy } = input;
    const search = {
      limit: limit ?? defaultPrecedentLimit,
      minSimilarity: min_similarity ?? defaultMinSimilarity,
      ...(policy !== undefined && { policy }),
      ...visibilityFilter(invocation),
    };
    if (recordId !== undefined && id === undefined && context === undefined)
      return precedentsOfRecord(recordId, search, invocation);
    if (id === undefined || context === undefined || recordId !== undefined) throw ambiguousSubject();
    assertVisibleDecision(id, invocation);
    const request = { decision_id: id, context, ...toProvenance(input, invocation) };
    return compareWithPrecedents(request, invocation.world, search);
  },
});

function visibilityFilter(invocation: Invocation): Pick<PrecedentOptions, "maySee"> {
  const maySee = recordVisibility(invocation);
  return maySee === undefined ? {} : { maySee };
}

async function precedentsOfRecord(
  id: string,
  search: PrecedentOptions,
  invocation: Invocation,
): Promise<PrecedentComparison> {
  const { record } = await findOwnRecord(id, invocation);
  if (record.kind === "decision") return compareRecord(record, invocation.world.records.log, search);
  throw new DecisionError("usage", `record \`${record.seq}\` is not a decision, so it has no precedents`);
}

const ambiguousSubject = (): DecisionError =>
  new DecisionError("input_invalid", "specify either a decision or a record to compare", {
    hint: "give `decision_id` and `context`, or `record_id`",
  });
