import { DecisionError } from "../errors.js";
import { compileTemplate } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import { longestTemplate, textsAt } from "./expressions.js";
import type { WrittenFetch } from "./fetches.js";
import { destinationsOf } from "./fetches.js";
import { PathMap } from "./path-map.js";
import type { SchemaFault } from "./schema-problems.js";

/** Params that read what is never there when something is fetched; what does not compile is told of elsewhere. */
export function paramFaults(
  fetches: readonly WrittenFetch[],
  definition: Definition,
): readonly SchemaFault[] {
  const sources = new PathMap<Source>();
  for (const [index, fetch] of fetches.entries())
    for (const at of destinationsOf(fetch)) sources.add(at, { fetch, index });
  return fetches.flatMap((fetch, index) => {
    return textsAt(fetch.params, ["**"], [...fetch.path, "params"]).flatMap(({ path, text }) => {
      if (text.length > longestTemplate)
        return [{ path, message: `a text of \`params\` has at most ${longestTemplate} characters` }];
      const faults = templateReads(text).map((read) => faultOf(read, { fetch, index, sources, definition }));
      return faults.flatMap((fault) => (fault === undefined ? [] : [{ path, ...fault }]));
    });
  });
}

/** The paths that a text reads, as those of the context are written. */
export function templateReads(text: string): readonly string[] {
  try {
    return compileTemplate(text).reads.map(withoutContext);
  } catch (error) {
    if (error instanceof DecisionError) return [];
    throw error;
  }
}

export const withoutContext = (path: string): string => path.replace(/^context\./, "");

/** What is fetched, and at which place in their order. */
interface Source {
  readonly fetch: WrittenFetch;
  readonly index: number;
}

interface Asking extends Source {
  readonly sources: PathMap<Source>;
  readonly definition: Definition;
}

function faultOf(
  read: string,
  { fetch, index, sources, definition }: Asking,
): Omit<SchemaFault, "path"> | undefined {
  const root = read.split(".", 1)[0] ?? "";
  if (root === "input" || root === "facts")
    return { message: `\`${root}\` is not known yet when data is fetched`, hint: "read the context itself" };
  if (definition.type === "gate" && Object.hasOwn(definition.computed ?? {}, root))
    return { message: `\`${root}\` is computed after data is fetched`, hint: "write its expression here" };
  const source = sources.covering(read)?.value;
  if (source === undefined || (source.index < index && source.fetch.key !== fetch.key)) return undefined;
  if (source.fetch.key === fetch.key)
    return { message: `\`${read}\` is what this fetches, so it is never there yet` };
  const { endpoint, into } = source.fetch;
  return {
    message: `\`${read}\` is fetched later, from \`${endpoint}\`, so it is never there yet`,
    hint: `put the fetch from \`${endpoint}\` before this one${into === undefined ? ", under `enrich`" : ""}`,
  };
}
