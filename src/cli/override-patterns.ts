import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { foreignOverridesOf } from "../definition/loaded-definition.js";
import type { PolicyChange } from "../definition/policy-change.js";
import { suggestPolicyChange } from "../definition/policy-change.js";
import { haveCommonTool, toolsOf } from "../definition/tool-match.js";
import { DecisionError, fileErrorHint } from "../errors.js";
import type { LoadedDefinition, PolicyDefinition } from "../model/definition.js";
import { present } from "../present/format.js";
import type { SuggestedPattern } from "../present/pattern-view.js";
import { patternsView } from "../present/pattern-view.js";
import { plural } from "../present/text.js";
import { parseLimit } from "../record/record-query.js";
import type { OverridePattern } from "../replay/override-patterns.js";
import { findOverridePatterns } from "../replay/override-patterns.js";
import { didYouMean } from "../text.js";
import type { StoreFlags, TimeRangeFlags } from "./flags.js";
import { formatFor, styleFor, timeRange } from "./flags.js";
import type { Io } from "./io.js";
import { walkProgress } from "./progress.js";
import { decisionsDirectory } from "./settings.js";
import type { ReadableWorld } from "./world.js";
import { note, openReadableWorld, warn, warnAboutDefinitions, warnIfStoreMissing } from "./world.js";

/** The flags of `overrides --patterns`. */
export interface PatternFlags extends StoreFlags, TimeRangeFlags {
  readonly decisionId?: string;
  readonly policy?: string;
  readonly override?: string;
  readonly min?: string;
  readonly out?: string;
}

/** The number of flips from which a change is suggested. */
export const defaultMinimum = "5";

/** Shows which overrides flip which policies, and suggests the changes that make frequent ones unnecessary. */
export async function showPatterns(flags: PatternFlags, io: Io): Promise<void> {
  const format = formatFor(flags, io, { answer: "many" });
  const minimum = parseLimit(flags.min ?? defaultMinimum, "--min");
  const range = timeRange(flags);
  if (flags.out !== undefined) assertWritable(flags.out, flags, io);
  warnIfStoreMissing(flags, io);
  const world = await openReadableWorld(flags, io);
  const progress = walkProgress(flags, io, "calls read");
  const found = await findOverridePatterns(world.records.store, range, progress.show);
  progress.erase();
  const chosen = found.patterns.filter(patternFilter(flags));
  if (chosen.length === 0) assertNamesKnown(flags, found.patterns, world);
  const patterns = await suggestAll(chosen, { minimum, all: found.patterns, world });
  const written = flags.out === undefined ? undefined : writeChange(onlyChange(patterns), flags.out, io);
  io.out.write(await present(patternsView({ ...found, patterns }), format, await styleFor(flags, io)));
  if (patterns.length === 0 && !flags.quiet)
    note(io, found.patterns.length === 0 ? "no call was allowed by an override" : "no matching overrides");
  if (written !== undefined && !flags.quiet) note(io, written);
  if (found.damaged > 0) warn(flags, io, `${plural(found.damaged, "damaged record")} skipped`);
  warnAboutDefinitions(flags, io, world.definitions.diagnostics);
}

const patternFilter =
  ({ decisionId, policy, override }: PatternFlags) =>
  (each: OverridePattern): boolean =>
    (decisionId === undefined || [each.decision_id, each.override_decision_id].includes(decisionId)) &&
    (policy === undefined || each.policy === policy) &&
    (override === undefined || each.override === override);

/** Throws if a filter names something that neither the definitions nor the records have. */
function assertNamesKnown(
  flags: PatternFlags,
  patterns: readonly OverridePattern[],
  { definitions: { summaries } }: ReadableWorld,
): void {
  const filters = [
    {
      what: "decision",
      name: flags.decisionId,
      known: [
        ...summaries.map(({ id }) => id),
        ...patterns.flatMap((each) => [each.decision_id, each.override_decision_id]),
      ],
    },
    {
      what: "policy",
      name: flags.policy,
      known: [...summaries.flatMap(({ policies = [] }) => policies), ...patterns.map(({ policy }) => policy)],
    },
    {
      what: "override",
      name: flags.override,
      known: [
        ...summaries.flatMap(({ overrides = [] }) => overrides),
        ...patterns.map(({ override }) => override),
      ],
    },
  ];
  for (const { what, name, known } of filters) {
    if (name === undefined || known.includes(name)) continue;
    throw new DecisionError("usage", `no ${what} called \`${name}\``, {
      hint: didYouMean(name, known) ?? "run `agent-33 decision overrides` to see all overrides",
    });
  }
}

interface SuggestOptions {
  readonly minimum: number;
  /** The patterns of all overrides, whether shown or not. */
  readonly all: readonly OverridePattern[];
  readonly world: ReadableWorld;
}

async function suggestAll(
  patterns: readonly OverridePattern[],
  options: SuggestOptions,
): Promise<readonly SuggestedPattern[]> {
  const suggested: SuggestedPattern[] = [];
  for (const pattern of patterns) {
    const change = await suggest(pattern, options);
    suggested.push(
      "reason" in change
        ? { ...pattern, suggestion: null, reason: change.reason }
        : { ...pattern, suggestion: change, reason: null },
    );
  }
  return suggested;
}

async function suggest(
  pattern: OverridePattern,
  { minimum, all, world: { definitions } }: SuggestOptions,
): Promise<PolicyChange | { readonly reason: string }> {
  const { decision_id, policy, override, override_decision_id: declaredIn, flips } = pattern;
  if (flips < minimum) return { reason: `fewer than ${plural(minimum, "flip")} (--min)` };
  // An invalid policy may change params of the same calls.
  const [broken] = definitions.brokenPolicies;
  if (broken !== undefined) return { reason: `\`${broken.file}\` is not valid, and may have a policy` };
  const loaded = await definitions.findForInspection(decision_id).catch((error: unknown) => {
    if (error instanceof DecisionError) return { reason: error.message };
    throw error;
  });
  if ("reason" in loaded) return loaded;
  const { definition } = loaded;
  if (definition.type !== "policy") return { reason: `\`${decision_id}\` is no longer a policy` };
  const sameOverride = all.filter(
    (each) =>
      each.decision_id === decision_id &&
      each.override === override &&
      each.override_decision_id === declaredIn,
  );
  return suggestPolicyChange(policy, {
    definition,
    foreign: foreignOverridesOf(loaded),
    others: await decisionsAboutTools(definition, definitions),
    text: readSource(loaded),
    override,
    declaredIn,
    countErrors: (name) => sameOverride.find((each) => each.policy === name)?.errors ?? 0,
  });
}

/** Returns the other policy decisions about the same tools. */
async function decisionsAboutTools(
  definition: PolicyDefinition,
  definitions: ReadableWorld["definitions"],
): Promise<readonly PolicyDefinition[]> {
  const tools = toolsOf(definition);
  const ids = definitions.summaries.flatMap((each) =>
    each.id !== definition.id && haveCommonTool(each.tools ?? [], tools) ? [each.id] : [],
  );
  const loaded = await Promise.all(ids.map((id) => definitions.findForInspection(id)));
  return loaded.flatMap((each) => (each.definition.type === "policy" ? [each.definition] : []));
}

/** Returns the text of the file; undefined if it was removed meanwhile. */
function readSource({ file }: LoadedDefinition): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Throws before the log is read if the file must not be written. */
function assertWritable(out: string, flags: PatternFlags, io: Io): void {
  if (out === "") {
    throw new DecisionError("usage", "--out must not be empty", {
      hint: "specify a file, such as draft.yaml",
    });
  }
  const path = resolve(io.cwd, out);
  if (existsSync(path)) {
    throw new DecisionError("file_exists", `\`${out}\` already exists`, {
      hint: "choose another file with --out FILE",
    });
  }
  const directory = decisionsDirectory(flags.decisions, io).value;
  const within = relative(realPath(resolve(io.cwd, directory)), realPath(dirname(path)));
  if (within.split(/[\\/]/)[0] === ".." || isAbsolute(within)) return;
  throw new DecisionError("usage", `\`${out}\` is in the directory of definitions`, {
    hint: "choose a file outside it: a decision that is defined twice is invalid, and no call would be allowed",
  });
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Returns the change to write; throws unless there is exactly one. */
function onlyChange(patterns: readonly SuggestedPattern[]): PolicyChange {
  const changes = new Map(
    patterns.flatMap(({ override, suggestion }) =>
      suggestion === null ? [] : [[suggestion.document, { override, suggestion }] as const],
    ),
  );
  const [first, ...others] = changes.values();
  if (first !== undefined && others.length === 0) return first.suggestion;
  if (first === undefined) {
    const [pattern] = patterns;
    throw new DecisionError("usage", "there is no change to write with --out", {
      hint: pattern === undefined ? "no override matches" : `${pattern.override}: ${pattern.reason ?? ""}`,
    });
  }
  const names = [first, ...others].map(
    ({ override, suggestion }) => `\`${override}\` of \`${suggestion.decision_id}\``,
  );
  throw new DecisionError("usage", `--out writes one change, and there are ${changes.size}`, {
    hint: `choose one with --override and --decision-id: ${names.join(", ")}`,
  });
}

/** Returns the message for the user. */
function writeChange({ decision_id, document }: PolicyChange, out: string, io: Io): string {
  try {
    writeFileSync(resolve(io.cwd, out), document, { flag: "wx" });
  } catch (error) {
    throw new DecisionError("file_unwritable", `cannot write \`${out}\`: ${(error as Error).message}`, {
      hint: fileErrorHint(error, out),
      cause: error,
    });
  }
  return `wrote ${out}; to test it: agent-33 decision backtest ${decision_id} --against ${out}`;
}
