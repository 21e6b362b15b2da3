import { readFileSync } from "node:fs";
import { buildLibrary } from "../../../src/definition/library.js";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../../src/definition/reviews/review-definition.js";
import { DecisionError } from "../../../src/errors.js";
import { evaluate } from "../../../src/evaluate/evaluate.js";
import { prepare } from "../../../src/evaluate/prepare.js";
import { compile, interpretedEvaluations } from "../../../src/expression/compile.js";
import type { Definition } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import { orders, workTime } from "../child-process.js";
import type { FuzzInput, Samples } from "./inputs.js";
import { inputAt } from "./inputs.js";

/** A case that did what no case may do. */
export interface Fault {
  readonly index: number;
  readonly what: string;
}

/** What was met on the way, so that a fuzzer which only ever hits the first check is seen. */
export interface Tally {
  readonly cases: number;
  readonly accepted: Readonly<Record<string, number>>;
}

const mostWork = 1_000;

const contexts: readonly JsonObject[] = [
  {},
  {
    a: 1,
    b: { c: "text" },
    artifact: { quality_score: 0.9, type: "code" },
    request: { id: "r1" },
    severity: "critical",
    attempts: 3,
    quality_score: 0.5,
  },
];

function run(input: FuzzInput): boolean {
  return input.door === "expression" ? runExpression(input.text) : runDefinitions(input.bytes);
}

/** True where there was something to evaluate. */
function runExpression(text: string): boolean {
  const expression = compile(text);
  for (let count = 0; count <= interpretedEvaluations; count++)
    for (const context of contexts) expression.evaluate({ context, input: 1, facts: {}, system: {} });
  return true;
}

function runDefinitions(bytes: Uint8Array): boolean {
  const located: LocatedDefinition[] = [];
  const { summary, body } = readDefinitions("x.yaml", bytes, (each) => located.push(each));
  buildLibrary([summary], () => Promise.reject(new Error("nothing is loaded here")));
  for (const each of located) reviewDefinition(each);
  for (const definition of body.definitions) runDefinition(definition);
  JSON.stringify(body);
  return body.definitions.length > 0;
}

function runDefinition(definition: Definition): void {
  const prepared = prepare(definition);
  for (const context of contexts) {
    refusable(() => evaluate(prepared, { context, input: undefined, facts: {}, system: {} }));
  }
}

/** Whether it went well; anything but a refusal of ours is thrown on. */
function refusable(act: () => unknown): boolean {
  try {
    return act() !== false;
  } catch (error) {
    if (error instanceof DecisionError) return false;
    throw error;
  }
}

const { from, args, begin, say } = orders();
const [seed = "0", first = "0", cases = "0", ...files] = args;
const samples = files.map((file) => readFileSync(file)) as unknown as Samples;
const accepted: Record<string, number> = {};

for (let index = Math.max(from, Number(first)); index < Number(first) + Number(cases); index++) {
  begin(index);
  const input = inputAt(Number(seed), index, samples);
  const startedAt = workTime();
  try {
    if (refusable(() => run(input))) accepted[input.kind] = (accepted[input.kind] ?? 0) + 1;
  } catch (error) {
    say({
      index,
      what: error instanceof Error ? (error.stack ?? error.message) : String(error),
    } satisfies Fault);
  }
  const took = workTime() - startedAt;
  if (took > mostWork) say({ index, what: `took ${Math.round(took)} ms` } satisfies Fault);
}
say({ cases: Number(cases), accepted } satisfies Tally);
