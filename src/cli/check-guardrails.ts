import type { Library } from "../definition/library.js";
import type { StaticCheck } from "../guard/static-checks.js";
import { staticChecks } from "../guard/static-checks.js";
import type { Definition } from "../model/definition.js";
import type { OnFail } from "../model/guardrail.js";
import type { Problem } from "../model/problem.js";
import { DecisionError } from "../errors.js";
import type { InFile } from "./located-library.js";

/** Runs the guardrails of all sound definitions that need no input. */
export async function checkGuardrails(
  located: readonly InFile[],
  library: Library,
): Promise<{ readonly problems: readonly Problem[]; readonly checked: number }> {
  const problems: Problem[] = [];
  let checked = 0;
  for (const each of located) {
    const checks = await checksOf(each.located.definition, library);
    checked += checks.length;
    problems.push(...checks.flatMap((check) => problemsOf(check, each)));
  }
  return { problems, checked };
}

/** None where the definition cannot be used, which is said elsewhere. */
async function checksOf({ id }: Definition, library: Library): Promise<readonly StaticCheck[]> {
  try {
    return staticChecks(await library.find(id));
  } catch (error) {
    if (error instanceof DecisionError) return [];
    throw error;
  }
}

const consequences: Readonly<Record<OnFail, string>> = {
  block: "so what leads there is blocked",
  escalate: "so what leads there is escalated",
  warn: "which is let pass",
};

function problemsOf({ guardrail, failures }: StaticCheck, { file, located }: InFile): readonly Problem[] {
  const { definition, source } = located;
  const index = definition.guardrails?.indexOf(guardrail) ?? -1;
  const { line, column } =
    index === -1 ? located.summary.position : source.locate(["decision", "guardrails", index]);
  const { type, on_fail: onFail = "block" } = guardrail;
  // What cannot be checked blocks, whatever it was to do.
  const always =
    type === "no_disabled_targets"
      ? consequences[onFail]
      : `so every decision ${passives[type === "distribution_drift" ? "block" : onFail]}`;
  return failures.map((failure) => ({
    file,
    line,
    column,
    severity: "warning",
    message: `guardrail \`${type}\` fails: ${failure}, ${always}`,
    decision_id: definition.id,
  }));
}

const passives: Readonly<Record<OnFail, string>> = {
  block: "is blocked",
  escalate: "is escalated",
  warn: "has a warning",
};
