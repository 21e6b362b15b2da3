import { compileRule } from "../expression/rule/compile-rule.js";
import type { Definition } from "../model/definition.js";
import { expressionsIn } from "./expressions.js";
import type { WrittenFetch } from "./fetches.js";
import { fetchesOf } from "./fetches.js";
import { withoutContext } from "./param-faults.js";
import { PathMap } from "./path-map.js";
import type { Remark } from "./review.js";
import type { Path } from "./yaml-source.js";

/** What a reviewer would ask about what is fetched; that without it there is no decision is use enough. */
export function fetchRemarks(definition: Definition): readonly Remark[] {
  const fetches = fetchesOf(definition).filter(({ required = false }) => !required);
  if (fetches.length === 0) return [];
  const reads = allReads(definition);
  if (reads.includes("context")) return [];
  const read = new PathMap<undefined>();
  for (const path of reads) read.add(path, undefined);
  return fetches
    .flatMap(placesOf)
    .filter(({ at }) => read.overlapping(at) === undefined)
    .map(({ at, path }) => ({
      path,
      severity: "warning",
      message: `nothing reads \`${at}\`, which is fetched`,
    }));
}

/** Where its data end up in the context, each with where that is written. */
function placesOf({ into, mapping, path }: WrittenFetch): readonly { at: string; path: Path }[] {
  if (mapping === undefined) return into === undefined ? [] : [{ at: into, path: [...path, "into"] }];
  const below = into === undefined ? "" : `${into}.`;
  return Object.entries(mapping).map(([from, to]) => ({ at: below + to, path: [...path, "mapping", from] }));
}

/** The paths of the context that anything in a definition reads; `context` is all of it. */
function allReads(definition: Definition): readonly string[] {
  const texts = expressionsIn(definition).flatMap(({ text, compile }) => compile(text).reads);
  const rules =
    definition.type === "scored"
      ? definition.evaluators.flatMap((each) => ("rules" in each ? each.rules : []))
      : [];
  const fields = rules.flatMap((rule) => (rule.if === undefined ? [] : compileRule(rule.if).reads));
  const reads = [...texts, ...fields].map(withoutContext);
  if (definition.input !== undefined) return reads;
  // Without one of its own, the input is the whole context.
  const whole = definition.type === "weighted" ? ["context"] : [];
  return [...whole, ...reads.map((read) => (read === "input" ? "context" : read.replace(/^input\./, "")))];
}
