import { compareWithEarlier } from "../../decide/compare.js";
import { DecisionError } from "../../errors.js";
import type { Compared } from "../../lineage/compared.js";
import { compareRecord } from "../../lineage/compared.js";
import { leastSimilarity, mostPrecedents } from "../../lineage/precedents.js";
import type { Wanted } from "../../lineage/precedents.js";
import type { Asker } from "../question.js";
import { question } from "../question.js";
import { answerWith, list, said } from "./answer-fields.js";
import { context, document, objectWith, provenance, text } from "./fields.js";
import { onBehalf } from "./on-behalf.js";
import { orgOf, refuseForeignOrg } from "./own-org.js";
import { ownRecord, recordsSeenBy, refuseForeignSession } from "./own-records.js";

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
export const findPrecedents = question<PrecedentsInput, Compared>({
  name: "find_precedents",
  title: "Compare with earlier decisions",
  description:
    "Finds earlier decisions like one that you are about to ask for (decision_id and context) or like a record " +
    "(record_id), the most similar first. They inform; they never decide. Nothing is recorded.",
  scope: "audit",
  readOnly: true,
  input: objectWith({
    decision_id: text("the decision's id"),
    context,
    record_id: text("what came before this record: its id or the beginning of it, its number, or `latest`"),
    session_id: provenance.session_id,
    workflow_id: provenance.workflow_id,
    limit: { type: "integer", minimum: 1, maximum: 100, description: `else ${mostPrecedents}` },
    min_similarity: { type: "number", minimum: 0, maximum: 1, description: `else ${leastSimilarity}` },
  }),
  output: answerWith(
    {
      decision_id: said("the decision that is compared"),
      type: said("of the decision"),
      outcome: said("what is decided"),
      entities: list("what it is about", document("an entity")),
      sources: list("the parts of the context that it reads"),
      precedents: list("the most similar first", document("an earlier decision, its outcome and why")),
    },
    { record_id: said("the record that is compared") },
  ),
  async answer(asked, asker) {
    const { decision_id: id, context: given, record_id: record, limit, min_similarity } = asked;
    const wanted = {
      limit: limit ?? mostPrecedents,
      minSimilarity: min_similarity ?? leastSimilarity,
      ...seenBy(asker),
    };
    if (record !== undefined && id === undefined && given === undefined)
      return ofRecord(record, wanted, asker);
    if (id === undefined || given === undefined || record !== undefined) throw unclear();
    refuseForeignOrg(orgOf(id, asker.world.definitions), asker);
    await refuseForeignSession(asked, asker);
    const request = { decision_id: id, context: given, ...onBehalf(asked, asker) };
    return compareWithEarlier(request, asker.world, wanted);
  },
});

function seenBy(asker: Asker): Pick<Wanted, "maySee"> {
  const maySee = recordsSeenBy(asker);
  return maySee === undefined ? {} : { maySee };
}

async function ofRecord(id: string, wanted: Wanted, asker: Asker): Promise<Compared> {
  const { record } = await ownRecord(id, asker);
  if (record.kind === "decision") return compareRecord(record, asker.world.records.log, wanted);
  throw new DecisionError("usage", `record ${record.seq} is no decision, so it has no precedents`);
}

const unclear = (): DecisionError =>
  new DecisionError("input_invalid", "it is not said what is to be compared", {
    hint: "give `decision_id` and `context`, or `record_id`",
  });
