import type { ReadyDefinition } from "../decide/find.js";
import { find } from "../decide/find.js";
import { expectationOf } from "../definition/expectations.js";
import { uniqueFetches } from "../definition/fetches.js";
import type { Library } from "../definition/library.js";
import { DecisionError } from "../errors.js";
import type { PreparedLimit } from "../evaluate/limits.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { didYouMean } from "../text.js";
import type { TestCase, TestFinding } from "./test-cases.js";

export interface CheckedCases {
  /** The definitions that the cases test, by id. */
  readonly definitions: ReadonlyMap<string, ReadyDefinition>;
  /** What is wrong with the tests, with the file of each. */
  readonly findings: readonly (TestFinding & { readonly file: string })[];
  /** What is wrong with the definitions that they test. */
  readonly problems: readonly Diagnostic[];
}

/** Finds the definitions of the cases, and checks that the cases expect and give what these definitions have. */
export async function checkCases(
  cases: readonly TestCase[],
  world: { readonly definitions: Library },
): Promise<CheckedCases> {
  const definitions = new Map<string, ReadyDefinition>();
  const errors = new Map<string, DecisionError>();
  const findings = new Map<string, TestFinding & { readonly file: string }>();
  for (const test of cases) {
    const { decision: id } = test;
    if (!definitions.has(id) && !errors.has(id)) {
      await find(id, world).then(
        (found) => definitions.set(id, found),
        (error: unknown) => errors.set(id, asDecisionError(error)),
      );
    }
    const found = definitions.get(id);
    const error = errors.get(id);
    const wrong =
      found === undefined ? missingDecision(id, error, world.definitions) : checkCase(test, found);
    for (const { path, ...finding } of wrong) {
      const { document, index } = test.place;
      const located = { ...finding, document, path: ["tests", index, ...path], file: test.file };
      findings.set(JSON.stringify([test.file, document, located.path, finding.message]), located);
    }
  }
  return { definitions, findings: [...findings.values()], problems: problemsOf(errors.values()) };
}

function asDecisionError(error: unknown): DecisionError {
  if (error instanceof DecisionError) return error;
  throw error;
}

type CaseFinding = Omit<TestFinding, "document">;

/** Explains why a test has no definition. `validate` shows the same, so the hints do not refer to it. */
function missingDecision(
  id: string,
  error: DecisionError | undefined,
  { ids, diagnostics }: Library,
): readonly CaseFinding[] {
  if (error === undefined) return [];
  const [first] = problemsIn(error);
  const [broken] = diagnostics;
  const isUnknown = error.code === "definition_not_found";
  const hint =
    first !== undefined
      ? `fix ${first.file}:${first.line}:${first.column} first`
      : isUnknown && broken !== undefined
        ? (didYouMean(id, ids) ?? `it may be in a file that is not valid, such as ${broken.file}`)
        : error.hint;
  return [{ path: ["decision"], message: error.message, hint }];
}

const problemsIn = ({ details }: DecisionError): readonly Diagnostic[] =>
  (details as { readonly problems?: readonly Diagnostic[] } | undefined)?.problems ?? [];

function problemsOf(errors: Iterable<DecisionError>): readonly Diagnostic[] {
  const problems = [...errors].flatMap(problemsIn);
  return [...new Map(problems.map((each) => [JSON.stringify(each), each])).values()];
}

function checkCase({ expect, facts }: TestCase, definition: ReadyDefinition): readonly CaseFinding[] {
  const { id, type } = definition.loaded.definition;
  const foreign = Object.keys(expect).filter((key) => {
    const types: readonly string[] | undefined = expectationOf(key)?.types;
    return types !== undefined && !types.includes(type);
  });
  return [
    ...foreign.map((key) => ({
      path: ["expect"],
      key,
      message: `a \`${type}\` decision such as \`${id}\` has no \`${key}\``,
    })),
    // Most tests give no facts.
    ...(Object.keys(facts).length === 0 ? [] : givenNames(definition)).flatMap(({ fact, names, what }) =>
      Object.keys(facts[fact] ?? {})
        .filter((name) => !names.includes(name))
        .map((name) => ({
          path: ["facts", fact],
          key: name,
          message: `\`${id}\` has no ${what} \`${name}\``,
          hint: didYouMean(name, names) ?? (names.length === 0 ? undefined : `it has ${names.join(", ")}`),
        })),
    ),
  ];
}

interface GivenNames {
  readonly fact: "counts" | "sums" | "fetched" | "votes";
  readonly names: readonly string[];
  readonly what: string;
}

/** Returns the names under which a test of a definition can give facts. */
function givenNames({ loaded: { definition }, prepared }: ReadyDefinition): readonly GivenNames[] {
  const fetches = uniqueFetches(definition).flatMap(({ endpoint, into }) => [endpoint, into ?? endpoint]);
  const { limits = [], uses = [] } = prepared.needs ?? {};
  const ownersOf = (limit: PreparedLimit["name"]): readonly string[] =>
    limits.filter(({ name }) => name === limit).map(({ owner }) => owner);
  const limited = uses.filter(({ most }) => most !== undefined).map(({ override }) => override);
  return [
    { fact: "counts", names: [...ownersOf("max_calls"), ...limited], what: "limited calls or uses of" },
    { fact: "sums", names: ownersOf("max_sum"), what: "limited sum of" },
    { fact: "fetched", names: [...new Set(fetches)], what: "data from" },
    { fact: "votes", names: prepared.customEvaluators ?? [], what: "custom evaluator" },
  ];
}
