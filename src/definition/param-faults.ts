import { DecisionError } from "../errors.js";
import { compileTemplate } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import { longestTemplate, textsAt } from "./expressions.js";
import type { WrittenFetch } from "./fetches.js";
import { destinationsOf } from "./fetches.js";
import type { SchemaFault } from "./schema-problems.js";

/** Params that read what is never there when something is fetched; what does not compile is told of elsewhere. */
export function paramFaults(
  fetches: readonly WrittenFetch[],
  definition: Definition,
): readonly SchemaFault[] {
  return fetches.flatMap((fetch, index) => {
    const later = fetches.slice(index + 1).filter(({ key }) => key !== fetch.key);
    return textsAt(fetch.params, ["**"], [...fetch.path, "params"]).flatMap(({ path, text }) => {
      if (text.length > longestTemplate)
        return [{ path, message: `a text of \`params\` has at most ${longestTemplate} characters` }];
      const faults = templateReads(text).map((read) => faultOf(read, { fetch, later, definition }));
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

interface Asking {
  readonly fetch: WrittenFetch;
  readonly later: readonly WrittenFetch[];
  readonly definition: Definition;
}

function faultOf(read: string, { fetch, later, definition }: Asking): Omit<SchemaFault, "path"> | undefined {
  const root = read.split(".")[0] ?? "";
  if (root === "input" || root === "facts")
    return { message: `\`${root}\` is not known yet when data is fetched`, hint: "read the context itself" };
  if (definition.type === "gate" && Object.hasOwn(definition.computed ?? {}, root))
    return { message: `\`${root}\` is computed after data is fetched`, hint: "write its expression here" };
  if (isWithin(read, fetch)) return { message: `\`${read}\` is what this fetches, so it is never there yet` };
  const source = later.find((each) => isWithin(read, each));
  if (source === undefined) return undefined;
  const message = `\`${read}\` is fetched later, from \`${source.endpoint}\`, so it is never there yet`;
  const hint = `put the fetch from \`${source.endpoint}\` before this one${source.into === undefined ? ", under `enrich`" : ""}`;
  return { message, hint };
}

const isWithin = (read: string, fetch: WrittenFetch): boolean =>
  destinationsOf(fetch).some((at) => read === at || read.startsWith(`${at}.`));
