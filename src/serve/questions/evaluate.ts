import type { Result } from "../../model/result.js";
import type { Asker, Question } from "../question.js";
import { question } from "../question.js";
import { resultSchema } from "./answer-fields.js";
import type { ProvenanceInput } from "./fields.js";
import { context, feedback, flag, objectWith, provenance, text } from "./fields.js";
import { inOwnSession } from "./in-own-session.js";
import { onBehalf } from "./on-behalf.js";
import { orgOf, refuseForeignOrg } from "./own-org.js";
import { ownReferences } from "./own-references.js";

interface EvaluateInput extends ProvenanceInput {
  readonly decision_id: string;
  readonly context: object;
  readonly feedback?: object;
  readonly strict?: boolean;
  readonly no_cache?: boolean;
  readonly follow?: boolean;
}

const input = objectWith(
  {
    decision_id: text("the decision's id"),
    context,
    ...provenance,
    feedback,
    strict: flag("a condition that cannot be evaluated is an error"),
    no_cache: flag("evaluate even if the answer is cached, and fetch even what is kept"),
    follow: flag("where a target is a decision, make that one too, and so on"),
  },
  ["decision_id", "context"],
);

/** Makes a decision of any type. */
export const evaluateDecision: Question<unknown, Result> = question<EvaluateInput, Result>({
  name: "evaluate",
  title: "Make a decision",
  description:
    "Makes a decision by its id and answers where to go (selected_targets, selected_labels), and why (because, " +
    "failed_conditions). Its type decides what else there is: a scored one has a decision and its confidence, a " +
    "policy says whether a call is allowed, a gate its status. The decision is recorded.",
  scope: "decide",
  readOnly: false,
  input,
  output: resultSchema,
  answer: (asked, asker) => evaluated(asked, asker, false),
});

/** The same, without keeping anything of it. */
export const dryRunDecision: Question<unknown, Result> = question<EvaluateInput, Result>({
  name: "dry_run",
  title: "Try a decision",
  description: "Answers as `evaluate` would, and records nothing. To see what would happen if.",
  scope: "decide",
  readOnly: true,
  input,
  output: resultSchema,
  answer: (asked, asker) => evaluated(asked, asker, true),
});

async function evaluated(asked: EvaluateInput, asker: Asker, dryRun: boolean): Promise<Result> {
  const { decision_id, strict = false, no_cache = false, follow = false } = asked;
  const { world } = asker;
  refuseForeignOrg(orgOf(decision_id, world.definitions), asker);
  const decide = (): Promise<Result> =>
    (follow ? world.follow : world.decide)({
      decision_id,
      context: asked.context,
      ...(asked.feedback !== undefined && { feedback: asked.feedback }),
      dry_run: dryRun,
      strict,
      no_cache,
      ...onBehalf(asked, asker),
    });
  return ownReferences(asker)(await inOwnSession(asked, asker, decide));
}
