import type { FactSource } from "../decide/fact-source.js";
import type { ReadyDefinition } from "../decide/find.js";
import { filePathOf } from "../decide/gather.js";
import type { World } from "../decide/request.js";
import { matchesGlob } from "../definition/tool-match.js";
import { parseInstant } from "../expression/instant.js";
import type { CustomVoters } from "../evaluate/scored/plug-ins.js";
import type { Fetched, Fetcher } from "../model/endpoint.js";
import type { JsonObject } from "../model/json.js";
import type { Evaluation } from "../model/result.js";
import type { SessionCall, TestCase, TestFacts } from "./test-cases.js";

/** The id of every request in a test, so that its answer is always the same. */
const requestId = "00000000-0000-7000-8000-000000000000";

/** Returns the world of one test: what it gives instead of a clock, a store and a network. */
export function testWorld(
  test: TestCase,
  definition: ReadyDefinition,
  { definitions, startedAt }: TestWorldOptions,
): World {
  const { facts, now } = test;
  const at = now === undefined ? startedAt : toTimestamp(now);
  return {
    definitions,
    clock: () => at,
    newId: () => requestId,
    facts: factsOfTest(test, definition),
    fetcher: () => Promise.resolve(givenData(facts, at)),
    voters: givenVotes(facts, definition),
    answersOnly: true,
  };
}

export interface TestWorldOptions extends Pick<World, "definitions"> {
  /** The time of tests that give none. */
  readonly startedAt: string;
}

const toTimestamp = (text: string): string =>
  new Date(parseInstant(text) ?? 0).toISOString().replace("Z", "000Z");

/** The facts of a test are those of an empty store in which the given ones were recorded. */
function factsOfTest({ context, facts }: TestCase, definition: ReadyDefinition): FactSource {
  const { session, counts = {}, sums = {}, distribution } = facts;
  const calls = (session?.results ?? []).map((each): SessionCall =>
    typeof each === "string" ? { tool: each } : each,
  );
  const succeeded = calls.filter(({ ok = true }) => ok);
  const read = readPaths(succeeded, context, definition);
  return {
    successes: (_session, tool) => Promise.resolve(succeeded.filter((call) => call.tool === tool).length),
    wasRead: ({ policy }, _session, path) => Promise.resolve(read.has(JSON.stringify([policy, path]))),
    used: ({ name, owner }) => Promise.resolve((name === "max_calls" ? counts : sums)[owner] ?? 0),
    applications: ({ policy }, org) => Promise.resolve(org === undefined ? (counts[policy] ?? 0) : 0),
    distribution: () => Promise.resolve({ sample: 0, p_value: null, ...distribution }),
  };
}

/** Returns the paths that the calls read, each with the policy that counts it as read. */
function readPaths(
  calls: readonly SessionCall[],
  { session = {} }: JsonObject,
  { prepared }: ReadyDefinition,
): ReadonlySet<string> {
  const read = new Set<string>();
  for (const need of prepared.needs?.reads ?? []) {
    for (const { tool, params = {} } of calls) {
      if (!need.read_tools.some((glob) => matchesGlob(glob, tool))) continue;
      const context = { tool, params, session };
      const path = filePathOf(need, prepared, { context, input: undefined, facts: {}, system: {} });
      if (typeof path === "string") read.add(JSON.stringify([need.policy, path]));
    }
  }
  return read;
}

/** Answers with the given data. An endpoint without any fails. */
function givenData({ fetched = {} }: TestFacts, at: string): Fetcher {
  return {
    fetch({ name, into }): Promise<Fetched> {
      const key = [into, name].find((each) => each !== undefined && Object.hasOwn(fetched, each));
      if (key !== undefined) {
        return Promise.resolve({ ok: true, data: fetched[key] ?? null, from: "endpoint", fetched_at: at });
      }
      const message = `the test gives no data (add facts: { fetched: { ${name}: … } })`;
      return Promise.resolve({ ok: false, error: { code: "fetch_refused", message } });
    },
  };
}

/** Casts the given votes for custom evaluators. One without any fails. */
function givenVotes({ votes = {} }: TestFacts, { prepared }: ReadyDefinition): CustomVoters {
  const voters = (prepared.customEvaluators ?? []).map((name) => {
    const castVote = (): Promise<Evaluation | undefined> => {
      const vote = Object.hasOwn(votes, name) ? votes[name] : undefined;
      if (vote === undefined) {
        return Promise.reject(new Error(`the test gives no vote (add facts: { votes: { ${name}: … } })`));
      }
      if (vote === null) return Promise.resolve(undefined);
      const { decision, weight = 1, reason = "" } = vote;
      return Promise.resolve({ decision, weight, reason, evaluator_name: name, metadata: {} });
    };
    return [name, castVote] as const;
  });
  return new Map(voters);
}
