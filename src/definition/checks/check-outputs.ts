import { canonicalJson } from "../../digest/canonical-json.js";
import { DecisionError } from "../../errors.js";
import { compile } from "../../expression/compile.js";
import type { Definition, RuleTableDefinition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import { casesOf, labelsOf } from "../branches.js";
import { describeValue } from "../explain-definition-errors.js";
import type { Finding } from "../diagnostics.js";
import { maxTemplateLength, textsAt } from "../expressions.js";
import { isLiteralOutput, outputsOf, selectsSeveral } from "../outputs.js";
import { quoted, writeHint } from "../written-lines.js";
import type { Path } from "../yaml-source.js";

/** Checks the outputs of a definition, and the settings of a rule table that depend on them. */
export function checkOutputs(definition: Definition): readonly Finding[] {
  const tooLong = outputsOf(definition).flatMap(({ output, path }) =>
    textsAt(output, ["**"], path)
      .filter(({ text }) => text.length > maxTemplateLength)
      .map(({ path: at }) => ({
        path: at,
        message: `a text of \`output\` has at most ${maxTemplateLength} characters`,
      })),
  );
  if (definition.type !== "rule_table") return tooLong;
  return [...tooLong, ...checkAggregate(definition), ...checkOutputOrder(definition)];
}

function checkAggregate(definition: RuleTableDefinition): readonly Finding[] {
  const { aggregate, hit_policy: policy = "first" } = definition;
  if (aggregate === undefined) return [];
  const path = ["aggregate"];
  if (!selectsSeveral(definition) || policy === "output_order") {
    const message = `\`aggregate\` has no effect with \`hit_policy: ${policy}\``;
    return [{ path, message, hint: "use `hit_policy: collect` or `rule_order`" }];
  }
  const needsNumbers = aggregate !== "count";
  const rules = needsNumbers
    ? rulesOf(definition).flatMap(({ label, output, path: at }) =>
        numberFinding(output, { at, label, required: `which \`aggregate: ${aggregate}\` requires` }),
      )
    : [];
  const { output = null } = definition.default;
  const fallback = output === null ? [] : numberFinding(output, { at: ["default"], label: "default" });
  return [...rules, ...fallback];
}

interface NumberPlace {
  readonly at: Path;
  readonly label: string;
  /** Why the output is required; absent: it is not. */
  readonly required?: string;
}

/** A text that is a single expression may become a number. */
function numberFinding(output: Json | undefined, { at, label, required }: NumberPlace): readonly Finding[] {
  if (output === undefined) {
    return required === undefined ? [] : [{ path: at, message: `\`${label}\` has no output, ${required}` }];
  }
  const isExpression = typeof output === "string" && /^(?:\{\{.*\}\}|\$\{.*\})$/s.test(output);
  if (typeof output === "number" || isExpression) return [];
  const message = `the output of \`${label}\` must be a number to be aggregated (got ${describeValue(output)})`;
  return [{ path: [...at, "output"], message, hint: numberHint(output) }];
}

/** Returns a hint for a number in quotes, and for an expression that is not marked as one. */
function numberHint(output: Json): string | undefined {
  if (typeof output !== "string") return undefined;
  if (/^-?\d+(?:\.\d+)?$/.test(output)) return `write \`output: ${output}\``;
  try {
    const { tree } = compile(output);
    // A single name is rather a text.
    if (tree.kind === "literal" || (tree.kind === "path" && tree.segments.length === 1)) return undefined;
    return writeHint(`output: ${quoted(`{{ ${output} }}`)}`, "put the expression in `{{ }}`");
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    return undefined;
  }
}

function checkOutputOrder(definition: RuleTableDefinition): readonly Finding[] {
  const { hit_policy: policy = "first", output_values: values } = definition;
  const path = ["output_values"];
  if (policy !== "output_order") {
    if (values === undefined) return [];
    const message = `\`output_values\` has no effect with \`hit_policy: ${policy}\``;
    return [{ path, message, hint: "remove it, or use `hit_policy: output_order`" }];
  }
  if (values === undefined) {
    const message = "`output_values` is missing, which `hit_policy: output_order` requires";
    return [{ path: [], message, hint: "list the outputs of the rules in the order of the answer" }];
  }
  const listed = new Set(values.map(canonicalJson));
  const rules = rulesOf(definition).flatMap(({ label, output, path: at }) => {
    if (output === undefined) {
      return [
        { path: at, message: `\`${label}\` has no output, which \`hit_policy: output_order\` requires` },
      ];
    }
    if (!isLiteralOutput(output) || listed.has(canonicalJson(output))) return [];
    const message = `the output of \`${label}\` is not in \`output_values\` (got ${describeValue(output)})`;
    return [{ path: [...at, "output"], message }];
  });
  return [...checkOutputValues(values), ...rules];
}

function checkOutputValues(values: readonly Json[]): readonly Finding[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    const path = ["output_values", index];
    const text = canonicalJson(value);
    if (!isLiteralOutput(value)) return [{ path, message: "a value of `output_values` is not a template" }];
    if (seen.has(text)) return [{ path, message: `${describeValue(value)} is listed twice` }];
    seen.add(text);
    return [];
  });
}

interface LabelledRule {
  readonly label: string;
  readonly output: Json | undefined;
  readonly path: Path;
}

function rulesOf(definition: RuleTableDefinition): readonly LabelledRule[] {
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.map(({ path, each: { output } }, index) => ({ label: labels[index] ?? "", output, path }));
}
