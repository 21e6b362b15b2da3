import type { Invocation } from "./operation.js";
import { defineOperation } from "./operation.js";
import {
  orgOfDecision,
  assertOwnOrg,
  findOwnRecord,
  recordVisibility,
  assertOwnSession,
} from "./org-access.js";
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
}

/** How like cases were decided before. */
export const findPrecedents = defineOperation<PrecedentsInput, PrecedentComparison>({
  name: "find_precedents",
  title: "Compare with earlier decisions",
  description:
    "Finds earlier decisions like one that you are about to ask for (decision_id and context) or like a record " +
    "(record_id), the most similar first. They inform; they never decide. Nothing is recorded.",
  scope: "audit",
  readOnly: true,
  input: inputObject({
    decision_id: inputText("the decision's id"),
    context: contextField,
    record_id: inputText(
      "what came before this record: its id or the beginning of it, its number, or `latest`",
    ),
    session_id: provenanceFields.session_id,
    workflow_id: provenanceFields.workflow_id,
    limit: { type: "integer", minimum: 1, maximum: 100, description: `else ${defaultPrecedentLimit}` },
    min_similarity: { type: "number", minimum: 0, maximum: 1, description: `else ${defaultMinSimilarity}` },
  }),
  output: outputObject(
    {
      decision_id: outputText("the decision that is compared"),
      type: outputText("of the decision"),
      outcome: outputText("what is decided"),
      entities: listOf("what it is about", objectField("an entity")),
      sources: listOf("the parts of the context that it reads"),
      precedents: listOf("the most similar first", objectField("an earlier decision, its outcome and why")),
    },
    { record_id: outputText("the record that is compared") },
  ),
  async answer(asked, asker) {
    const { decision_id: id, context: given, record_id: record, limit, min_similarity } = asked;
    const wanted = {
      limit: limit ?? defaultPrecedentLimit,
      minSimilarity: min_similarity ?? defaultMinSimilarity,
      ...visibilityFilter(asker),
    };
    if (record !== undefined && id === undefined && given === undefined)
      return precedentsOfRecord(record, wanted, asker);
    if (id === undefined || given === undefined || record !== undefined) throw ambiguousSubject();
    assertOwnOrg(orgOfDecision(id, asker.world.definitions), asker);
    await assertOwnSession(asked, asker);
    const request = { decision_id: id, context: given, ...toProvenance(asked, asker) };
    return compareWithPrecedents(request, asker.world, wanted);
  },
});

function visibilityFilter(asker: Invocation): Pick<PrecedentOptions, "maySee"> {
  const maySee = recordVisibility(asker);
  return maySee === undefined ? {} : { maySee };
}

async function precedentsOfRecord(
  id: string,
  wanted: PrecedentOptions,
  asker: Invocation,
): Promise<PrecedentComparison> {
  const { record } = await findOwnRecord(id, asker);
  if (record.kind === "decision") return compareRecord(record, asker.world.records.log, wanted);
  throw new DecisionError("usage", `record ${record.seq} is no decision, so it has no precedents`);
}

const ambiguousSubject = (): DecisionError =>
  new DecisionError("input_invalid", "it is not said what is to be compared", {
    hint: "give `decision_id` and `context`, or `record_id`",
  });
