import { checkRuleConditions } from "./check-scored.js";
import { DecisionError } from "../../errors.js";
import { isForbiddenKey } from "../../expression/path.js";
import { compileTemplate } from "../../expression/template.js";
import type { Definition } from "../../model/definition.js";
import type { DiagnosticText, Finding } from "../diagnostics.js";
import { describeValue, keyNameMessage } from "../explain-definition-errors.js";
import { maxTemplateLength, textsAt } from "../expressions.js";
import type { DeclaredFetch } from "../fetches.js";
import { allFetches, destinationsOf, maxPathLength, PathMap } from "../fetches.js";
import type { Path } from "../yaml-source.js";

/** Checks the fetches of a definition: their destinations and params. */
export function checkFetches(definition: Definition): readonly Finding[] {
  const fetches = allFetches(definition);
  // An invalid `if` is already reported, and may contain anything.
  if (fetches.length === 0 || checkRuleConditions(definition).length > 0) return [];
  return [
    ...fetches.flatMap((fetch) => [
      ...checkEndpointName(fetch),
      ...checkDestinations(fetch, definition),
      ...checkMapping(fetch),
    ]),
    ...checkOverlaps(fetches),
    ...checkParams(fetches, definition),
  ];
}

function checkEndpointName({ endpoint, path }: DeclaredFetch): readonly Finding[] {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(endpoint)) return [];
  const message = `${keyNameMessage(["endpoints"])} (got ${describeValue(endpoint)})`;
  return [{ path: [...path, "endpoint"], message }];
}

interface Destination {
  readonly at: string;
  readonly path: Path;
}

/** The destinations of a fetch, with their paths in the definition. */
function locatedDestinations({ into, path, ...fetch }: DeclaredFetch): readonly Destination[] {
  return into === undefined
    ? mappedDestinations({ path, ...fetch })
    : [{ at: into, path: [...path, "into"] }];
}

/** The destinations of a mapping: below `into`, or in the context itself. */
const mappedDestinations = ({
  mapping = {},
  path,
}: Pick<DeclaredFetch, "mapping" | "path">): readonly Destination[] =>
  Object.entries(mapping).map(([from, at]) => ({ at, path: [...path, "mapping", from] }));

function checkDestinations(fetch: DeclaredFetch, definition: Definition): readonly Finding[] {
  return locatedDestinations(fetch).flatMap(({ at, path }) => {
    const message = invalidPathReason(at) ?? reservedRootReason(at.split(".")[0] ?? "", definition);
    return message === undefined ? [] : [{ path, message }];
  });
}

/** Returns why a destination is invalid in itself. */
function invalidPathReason(at: string): string | undefined {
  if (/\{\{|\$\{/.test(at)) return "the place of fetched data is a path, not a template";
  if (at.length > maxPathLength) return `the place of fetched data has at most ${maxPathLength} characters`;
  const steps = at.split(".");
  if (steps.includes("")) return `\`${at}\` has an empty part between its dots`;
  const bad = steps.find(isForbiddenKey);
  return bad === undefined ? undefined : `\`${bad}\` is not a key that can be set`;
}

const reservedRoots = ["input", "facts", "system", "context"];
const callRoots = ["tool", "params"];

function reservedRootReason(root: string, definition: Definition): string | undefined {
  if (reservedRoots.includes(root)) return `data cannot be fetched into \`${root}\`, which is reserved`;
  if (definition.type === "policy" && callRoots.includes(root))
    return `data cannot be fetched into \`${root}\`, which describes the call`;
  if (definition.type === "gate" && Object.hasOwn(definition.computed ?? {}, root))
    return `data cannot be fetched into \`${root}\`, which is computed`;
  return undefined;
}

/** Checks that the fields of one response have different, valid destinations. */
function checkMapping(fetch: DeclaredFetch): readonly Finding[] {
  const taken = new PathMap<undefined>();
  return mappedDestinations(fetch).flatMap(({ at, path }) => {
    const from = String(path.at(-1));
    const wrong = fetch.into === undefined ? undefined : invalidPathReason(at);
    const other = taken.overlapping(at);
    taken.add(at, undefined);
    return [
      ...(wrong === undefined ? [] : [{ path, message: wrong }]),
      ...checkSourcePath(from).map((finding) => ({ path: path.slice(0, -1), key: from, ...finding })),
      ...(other === undefined
        ? []
        : [{ path, message: `another field of the response goes into \`${other.path}\`` }]),
    ];
  });
}

/** Checks the path of a field in the response. */
function checkSourcePath(from: string): readonly DiagnosticText[] {
  if (from.split(".").includes("")) return [{ message: `\`${from}\` has an empty part between its dots` }];
  const [, list = "", item = "", more = ""] = /^(.+?)\[(\d+)\](.*)$/.exec(from) ?? [];
  if (list === "") return [];
  const meant = `${list}.${item}${more}`;
  return [{ message: `\`${from}\` is no path`, hint: `did you mean \`${meant}\`?` }];
}

/** Finds fetches with overlapping destinations; a repeated condition is fetched once. */
function checkOverlaps(fetches: readonly DeclaredFetch[]): readonly Finding[] {
  const taken = new PathMap<undefined>();
  const conditions = new Set<string>();
  return fetches.flatMap((fetch) => {
    if (fetch.into === undefined && conditions.has(fetch.key)) return [];
    conditions.add(fetch.key);
    const places = locatedDestinations(fetch);
    const findings = places.flatMap(({ at, path }) => {
      const other = taken.overlapping(at);
      return other === undefined ? [] : [{ path, ...describeOverlap(at, other.path) }];
    });
    for (const { at } of places) taken.add(at, undefined);
    return findings;
  });
}

function describeOverlap(at: string, other: string): DiagnosticText {
  const how = other.length > at.length ? `, which is part of \`${at}\`` : `, which \`${at}\` is part of`;
  const where = `\`${other}\`${at === other ? " already" : how}`;
  return { message: `other data is already fetched into ${where}`, hint: "use a different place for each" };
}

/** Finds params that read values which are not available yet; templates that do not compile are reported elsewhere. */
function checkParams(fetches: readonly DeclaredFetch[], definition: Definition): readonly Finding[] {
  const sources = new PathMap<FetchSource>();
  for (const [index, fetch] of fetches.entries())
    for (const at of destinationsOf(fetch)) sources.add(at, { fetch, index });
  return fetches.flatMap((fetch, index) => {
    return textsAt(fetch.params, ["**"], [...fetch.path, "params"]).flatMap(({ path, text }) => {
      if (text.length > maxTemplateLength)
        return [{ path, message: `a text of \`params\` has at most ${maxTemplateLength} characters` }];
      const findings = templateReads(text).map((read) =>
        checkRead(read, { fetch, index, sources, definition }),
      );
      return findings.flatMap((finding) => (finding === undefined ? [] : [{ path, ...finding }]));
    });
  });
}

/** Returns the paths of the context that a text reads. */
export function templateReads(text: string): readonly string[] {
  try {
    return compileTemplate(text).reads.map(stripContextPrefix);
  } catch (error) {
    if (error instanceof DecisionError) return [];
    throw error;
  }
}

export const stripContextPrefix = (path: string): string => path.replace(/^context\./, "");

/** A fetch, and its position in the order of fetches. */
interface FetchSource {
  readonly fetch: DeclaredFetch;
  readonly index: number;
}

interface ReadContext extends FetchSource {
  readonly sources: PathMap<FetchSource>;
  readonly definition: Definition;
}

function checkRead(
  read: string,
  { fetch, index, sources, definition }: ReadContext,
): DiagnosticText | undefined {
  const root = read.split(".", 1)[0] ?? "";
  if (root === "input" || root === "facts")
    return {
      message: `\`${root}\` is not available yet when data is fetched`,
      hint: "read the context instead",
    };
  if (definition.type === "gate" && Object.hasOwn(definition.computed ?? {}, root))
    return {
      message: `\`${root}\` is computed only after data is fetched`,
      hint: "write the expression here",
    };
  const source = sources.covering(read)?.value;
  if (source === undefined || (source.index < index && source.fetch.key !== fetch.key)) return undefined;
  if (source.fetch.key === fetch.key)
    return { message: `\`${read}\` is fetched by this entry itself, so it is not available yet` };
  const { endpoint, into } = source.fetch;
  return {
    message: `\`${read}\` is fetched later, from \`${endpoint}\`, so it is not available yet`,
    hint: `put the fetch from \`${endpoint}\` before this one${into === undefined ? ", under `enrich`" : ""}`,
  };
}
