import type { Command } from "commander";
import { leastSimilarity, mostPrecedents } from "../../lineage/precedents.js";
import type { ExitCode } from "../exit-codes.js";
import { addCommonFlags, addStoreFlags } from "../flags.js";
import type { Io } from "../io.js";
import type { AskedFlags } from "../precedents-question.js";
import { defaults, outcomes, questionOf } from "../precedents-question.js";
import { addTimeRangeFlags } from "../time-range.js";

export function addPrecedentsCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("precedents")
    .argument("[id]", "the decision's id; without it all decisions are meant (--input needs one)")
    .option("--input <json>", "what a decision on this context would be compared with: JSON, @file or -")
    .option(
      "--record <record>",
      "what came before a record: its id or the beginning of it, number, or latest",
    )
    .option("--entity <type:id>", "all decisions about something, such as customer:c-1, newest first")
    .option("--policy <name>", "all decisions that a policy or an override had a part in, newest first")
    .option("--deviations", "how the newest decisions deviate from their precedents")
    .option("--limit <n>", `so many (else ${mostPrecedents}; with --entity and --policy ${defaults.related})`)
    .option("--min-similarity <share>", `only those as similar as this, 0 to 1 (else ${leastSimilarity})`)
    .option("--outcome <outcome>", `with --policy: only ${outcomes.join(", ")}`)
    .option(
      "--last <n>",
      `with --deviations: of so many of the newest decisions (else ${defaults.deviations})`,
    )
    .option("--check", "with --deviations: exit with 6 where an outcome deviates")
    .option("--session-id <id>", "with --input: the session that would ask")
    .option("--workflow-id <id>", "with --input: the workflow that would ask");
  addCommonFlags(addStoreFlags(addTimeRangeFlags(command)))
    .summary("compare decisions with earlier ones like them")
    .description(
      "Precedents are earlier records of the same decision that share an entity with it (its definition declares " +
        "`entities`): similar is what shares most of its entities and of the parts of the context that it reads. They " +
        "inform; they never decide. Only --input needs the definition, and it records nothing.",
    )
    .addHelpText("after", help)
    .action(async (id: string | undefined, flags: AskedFlags) => done(await answer(id, flags, io)));
}

const help = `
JSON:
  --input, --record   {decision_id, record_id, type, outcome, entities, sources, precedents: [{record_id, similarity,
                      match_reason, outcome_matched, outcome, because, seq, timestamp, decision_version}]}
  --entity, --policy  the records, as \`log\` prints them
  --deviations        {observer, summary, severity: caution | info, suggestions, decisions, deviations: [{record_id,
                      precedent_id, decision_id, deviation_type: outcome_differs | rationale_differs, explanation}]}

Examples:
  $ agent-33 decision precedents policy-filter-customers --input @call.json
  $ agent-33 decision precedents --record latest --min-similarity 0.5
  $ agent-33 decision precedents --entity segment:enterprise --since 7d
  $ agent-33 decision precedents --policy customer_inclusion --outcome denied
  $ agent-33 decision precedents policy-filter-customers --deviations --last 50 --check`;

async function answer(id: string | undefined, flags: AskedFlags, io: Io): Promise<ExitCode> {
  const question = questionOf(id, flags);
  switch (question.about) {
    case "input":
      return (await import("../show-compared.js")).showOfInput(question, flags, io);
    case "record":
      return (await import("../show-compared.js")).showOfRecord({ ...question, id }, flags, io);
    case "related":
      return (await import("../show-related.js")).showRelated({ ...question, id }, flags, io);
    case "deviations":
      return (await import("../show-deviations.js")).showDeviations({ ...question, id }, flags, io);
  }
}
