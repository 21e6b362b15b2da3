import { mayReadAny } from "../definition/definition-reads.js";
import { parseDuration } from "../definition/duration.js";
import { Failure } from "../expression/failure.js";
import { pathText } from "../expression/syntax.js";
import { compileInput } from "../expression/template.js";
import type { Limits, MaxCalls, MaxSum } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { NamedCondition } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** The facts from the store about limits; each is absent if it cannot be counted. */
export interface LimitFacts {
  /** By policy, or by the id of a gate: the number of calls that count. */
  readonly calls?: Readonly<Record<string, number>>;
  /** By policy, or by the id of a gate: the sum that is used. */
  readonly sums?: Readonly<Record<string, number>>;
}

/** Whose calls are counted together. */
export type LimitScope = "session" | "caller" | "org";

/** A compiled `max_calls` or `max_sum`. */
export interface PreparedLimit {
  readonly name: "max_calls" | "max_sum";
  /** The policy that has the limit; of a gate, the id of the decision. */
  readonly owner: string;
  readonly per: LimitScope;
  /** In microseconds; undefined: all calls count. */
  readonly window: number | undefined;
  /** The number of calls, or the sum in millionths. */
  readonly most: number;
  /** The expression that is added up; undefined for `max_calls`. */
  readonly of: string | undefined;
  /** The paths that `of` reads. */
  readonly reads: readonly string[];
  /** The same for the lineage, with the fact that is compared. */
  readonly inputs: readonly string[];
  evaluate(scope: Scope): LimitResult;
}

/** Whether a call is within a limit. */
export interface LimitResult extends NamedCondition {
  /** The default reason of the denial. */
  readonly denial: string;
  readonly counted: CountedLimit;
}

/** A limit that counts a call, if the call is finally allowed. */
export interface CountedLimit extends Pick<PreparedLimit, "name" | "owner"> {
  /** The call was within the limit, which must still be true when the call is recorded. */
  readonly limited: boolean;
  /** In millionths; absent for `max_calls`, and if it is unknown. */
  readonly amount?: number;
}

/** Of a call as requested and as changed by overrides, the larger amounts count. */
export const largerAmounts = (
  requested: readonly CountedLimit[],
  changed: readonly CountedLimit[],
): readonly CountedLimit[] =>
  requested.map((each, index) => {
    const amount = Math.max(each.amount ?? 0, changed[index]?.amount ?? 0);
    return each.name === "max_sum" ? { ...each, amount } : each;
  });

interface LimitOwner {
  /** The policy, or the id of a gate. */
  readonly owner: string;
  /** The masked parts of the context: an amount is recorded, so it must not be masked. */
  readonly masks: readonly string[];
  /** Returns the paths behind a path, for values that are computed. */
  readonly sourcesOf?: (paths: readonly string[]) => readonly string[];
}

/** Compiles the limits of a policy or a gate. */
export function prepareLimits({ max_calls, max_sum }: Limits, owner: LimitOwner): readonly PreparedLimit[] {
  return [
    ...(max_calls === undefined ? [] : [prepareMaxCalls(max_calls, owner)]),
    ...(max_sum === undefined ? [] : [prepareMaxSum(max_sum, owner)]),
  ];
}

function prepareMaxCalls(limit: MaxCalls, { owner }: LimitOwner): PreparedLimit {
  const { count: most } = limit;
  const { per, window } = limitSpan(limit);
  const span = spanText(per, window);
  const common = { name: "max_calls", expression: `fewer than ${most} calls ${span}` } as const;
  return {
    name: "max_calls",
    owner,
    per,
    window: window === undefined ? undefined : parseDuration(window),
    most,
    of: undefined,
    reads: [],
    inputs: [pathText(["facts", "calls", owner])],
    evaluate({ facts }) {
      const made = limitFacts(facts).calls?.[owner];
      if (made === undefined) return unknownResult(common, owner, missingText[per]);
      const result = made < most;
      const denial = `${made} of ${most} calls were made ${span}`;
      return { ...common, result, denial, counted: { name: "max_calls", owner, limited: result } };
    },
  };
}

function prepareMaxSum(
  limit: MaxSum,
  { owner, masks, sourcesOf = (paths) => paths }: LimitOwner,
): PreparedLimit {
  const { of, per, window } = limit;
  const span = spanText(per, window);
  const template = compileInput(of);
  const isMasked = mayReadAny(sourcesOf(template.reads), masks);
  const most = toMillionths(limit.most);
  const common = {
    name: "max_sum",
    expression: `\`${of}\` adds up to at most ${limit.most} ${span}`,
  } as const;
  return {
    name: "max_sum",
    owner,
    per,
    window: window === undefined ? undefined : parseDuration(window),
    most,
    of,
    reads: template.reads,
    inputs: [...template.inputs, pathText(["facts", "sums", owner])],
    evaluate(scope) {
      const amount = isMasked
        ? `\`${of}\` is masked and cannot be counted`
        : amountOf(template.evaluate(scope), of);
      if (typeof amount === "string") return unknownResult(common, owner, amount);
      const used = limitFacts(scope.facts).sums?.[owner];
      if (used === undefined) return { ...unknownResult(common, owner, missingText[per]) };
      const result = toMillionths(used) + amount <= most;
      const denial = `\`${of}\` of ${fromMillionths(amount)} is too much: ${used} of ${limit.most} are used ${span}`;
      return { ...common, result, denial, counted: { name: "max_sum", owner, limited: result, amount } };
    },
  };
}

/** Only `gather` creates facts, so they have this shape. */
const limitFacts = (facts: JsonObject): LimitFacts => facts;

/** Returns the amount in millionths, or why it cannot be added up. */
function amountOf(value: unknown, of: string): number | string {
  if (value instanceof Failure) return value.message;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return toMillionths(value);
  return `\`${of}\` must be a number of at least 0`;
}

/** `per: 1h` is short for `per: session` with `window: 1h`. */
export function limitSpan({ per, window }: MaxCalls): {
  readonly per: LimitScope;
  readonly window: string | undefined;
} {
  return per === "session" || per === "caller" || per === "org"
    ? { per, window }
    : { per: "session", window: per };
}

/** Describes which calls count, such as `by the caller in the last 1h`. */
export function spanText(per: LimitScope, window: string | undefined): string {
  if (per === "session")
    return window === undefined ? "in the session" : `in this session, in the last ${window}`;
  const by = per === "caller" ? "by the caller" : "by the organisation";
  return window === undefined ? by : `${by} in the last ${window}`;
}

const missingText: Readonly<Record<LimitScope, string>> = {
  session: "there is no recorded session",
  caller: "there is no recorded caller: only servers with authentication know callers",
  org: "there is no recorded organisation: only servers with authentication know organisations",
};

/** Fails closed: what cannot be counted is not within the limit. */
const unknownResult = (
  common: Pick<NamedCondition, "expression"> & Pick<PreparedLimit, "name">,
  owner: string,
  error: string,
): LimitResult => ({
  ...common,
  result: false,
  error,
  denial: error,
  counted: { name: common.name, owner, limited: false },
});

/**
 * Sums are whole numbers of millionths, so that adding 0.1 ten times gives exactly 1. More than 15 digits are noise of
 * binary arithmetic (0.1 + 0.2); less than a millionth is rounded up, so that no amount counts as nothing.
 */
export const toMillionths = (value: number): number => Math.ceil(Number((value * 1e6).toPrecision(15)));

export const fromMillionths = (millionths: number): number => millionths / 1e6;
