import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { AuditPayload, ScoredResult } from "../../src/model/result.js";
import { fakeIo } from "./fake-io.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const id = "decision-loan-approval";
const good = { credit: { score: 720, defaults: 0 }, loan: { rate: 500 }, income: { monthly: 2000 } };
const poor = { credit: { score: 450, defaults: 1 }, loan: { rate: 1500 }, income: { monthly: 2000 } };

let place: Workplace;
beforeEach(() => {
  place = workplace();
});

const ask = (verb: "evaluate" | "dry-run", context: object, ...words: readonly string[]): Promise<Ran> =>
  place.run([verb, id, "--input", JSON.stringify(context), ...words]);

const answer = async (context: object, ...words: readonly string[]): Promise<ScoredResult> =>
  JSON.parse((await ask("evaluate", context, ...words)).out) as ScoredResult;

type Kept = DecisionRecord & Partial<ScoredResult> & { readonly feedback?: unknown };

async function log(): Promise<readonly Kept[]> {
  const { out } = await place.run(["log", "--format", "jsonl"]);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Kept);
}

/** Adds a definition to the workplace. */
const define = (file: string, yaml: string): void => writeFileSync(join(place.decisions, file), yaml);

/** All that is in the store, as text. */
function stored(directory = place.store): string {
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .map((path) => (statSync(path).isDirectory() ? stored(path) : readFileSync(path, "latin1")))
    .join("\n");
}

const picky = `decision:
  id: picky
  type: scored
  evaluators:
    - name: size
      rules:
        - { id: large, if: { field: n, op: gt, value: 10 }, then: { decision: large, weight: 0.9 } }
        - { id: small, when: "n < 5", then: { decision: small, weight: 0.5 } }
`;

describe("a scored decision on a terminal", () => {
  const table = async (context: object, ...words: readonly string[]): Promise<readonly string[]> => {
    const { code, out, err } = await place.run(
      ["dry-run", id, "--input", JSON.stringify(context), ...words],
      {
        terminal: true,
      },
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return out.split("\n");
  };

  it("shows target, decision and confidence first", async () => {
    const [first] = await table(good);
    expect(first).toBe("stage-payout  approve, confidence 0.8421");
  });

  it("shows the reason, the votes and the strategy", async () => {
    expect(await table(good)).toEqual(
      expect.arrayContaining([
        "  because   credit.score >= 700",
        "  because   loan.rate * 3 <= income.monthly",
        "  vote      credit approve 0.9: Good credit and no defaults",
        "  vote      house_rule review 0.3, overruled: A person reviews unclear cases",
        "  strategy  weighted_average",
        "  dry run   nothing was recorded",
      ]),
    );
  });

  it("explains every evaluated condition with the values it read", async () => {
    const lines = (await table(poor, "--explain")).map((line) => line.replace(/ {2,}/g, "  ").trim());
    expect(lines).toEqual(
      expect.arrayContaining([
        "credit / good_credit  ✗ not matched  credit.score >= 700  credit.score = 450",
        "→ credit / poor_credit  ✓ matched  credit.score < 500  credit.score = 450",
        "→ credit / poor_credit  ✗ not matched  credit.defaults > 2  credit.defaults = 1",
      ]),
    );
  });

  it("shows the decision if it has no target", async () => {
    define("picky.yaml", picky);
    const { out } = await place.run(["dry-run", "picky", "--input", '{"n": 11}'], { terminal: true });
    expect(out.split("\n")[0]).toBe("large  confidence 1");
  });
});

describe("a scored decision as JSON", () => {
  it("is the whole result", async () => {
    const { code, out } = await ask("evaluate", good);
    expect(code).toBe(0);
    const result = JSON.parse(out) as ScoredResult;
    expect(result).toMatchObject({
      decision_id: id,
      type: "scored",
      selected_targets: ["stage-payout"],
      selected_labels: ["approve"],
      decision: "approve",
      confidence: 0.8421,
      scoring_strategy: "weighted_average",
      scoring_parameters: {},
      because: ["credit.score >= 700", "credit.defaults = 0", "loan.rate * 3 <= income.monthly"],
      explainability: { decision: "approve", failed_conditions: [] },
    });
    expect(result.audit_payload.deterministic_hash).toBe(result.deterministic_hash);
  });

  it("is recorded as it is answered", async () => {
    const result = await answer(good);
    expect(await log()).toMatchObject([result]);
  });

  it("is not kept by a dry run", async () => {
    const { out } = await ask("dry-run", good);
    expect(JSON.parse(out)).toMatchObject({ decision: "approve", dry_run: true });
    expect(out).not.toContain("record_id");
    expect(await log()).toEqual([]);
  });

  it("has no traces of the rules unless all is wanted", async () => {
    const { explainability } = await answer(poor);
    expect(explainability).not.toHaveProperty("rule_traces");
  });

  it("has them with --verbose: field, operator, expected, actual and result", async () => {
    const { explainability } = await answer(poor, "--verbose");
    expect(explainability.rule_traces?.slice(0, 2)).toEqual([
      {
        evaluator: "credit",
        rule_id: "good_credit",
        result: false,
        conditions: [
          { field: "credit.score", operator: "gte", expected: 700, actual: 450, result: false },
          { field: "credit.defaults", operator: "eq", expected: 0, actual: 1, result: false },
        ],
      },
      {
        evaluator: "credit",
        rule_id: "poor_credit",
        result: true,
        conditions: [
          { field: "credit.score", operator: "lt", expected: 500, actual: 450, result: true },
          { field: "credit.defaults", operator: "gt", expected: 2, actual: 1, result: false },
        ],
      },
    ]);
  });
});

describe("--format", () => {
  it("target prints only the target", async () => {
    expect((await ask("evaluate", good, "--format", "target")).out).toBe("stage-payout\n");
  });

  it("target prints the decision where that leads nowhere", async () => {
    define("picky.yaml", picky);
    const { out } = await place.run(["evaluate", "picky", "--input", '{"n": 1}', "--format", "target"]);
    expect(out).toBe("small\n");
  });

  it("audit prints the audit payload alone, as it is recorded", async () => {
    const { code, out } = await ask("evaluate", good, "--format", "audit");
    expect(code).toBe(0);
    const payload = JSON.parse(out) as AuditPayload;
    expect(Object.keys(payload)).toEqual([
      "timestamp",
      "context",
      "feedback",
      "evaluations",
      "decision",
      "confidence",
      "scoring_strategy",
      "scoring_parameters",
      "agent_version",
      "deterministic_hash",
    ]);
    expect((await log()).map(({ audit_payload }) => audit_payload)).toEqual([payload]);
  });

  it("audit of a decision that is not scored is refused, and nothing is recorded", async () => {
    const words = ["evaluate", "decision-quality-gate", "--input", "{}", "--format", "audit"];
    const { code, out, err } = await place.run(words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("`decision-quality-gate` has no audit payload: it is a `binary` decision");
    expect(await log()).toEqual([]);
  });

  it("audit of many inputs prints one payload a line", async () => {
    const lines = [good, poor].map((each) => JSON.stringify(each)).join("\n");
    const { out } = await place.run(["evaluate", id, "--inputs", "-", "--format", "audit"], { stdin: lines });
    const payloads = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as AuditPayload);
    expect(payloads.map(({ decision }) => decision)).toEqual(["approve", "reject"]);
  });
});

describe("--feedback", () => {
  it("is recorded, and stands in the payload", async () => {
    const result = await answer(good, "--feedback", '{"source": "retry"}');
    expect(result.audit_payload.feedback).toEqual({ source: "retry" });
    expect(await log()).toMatchObject([
      { feedback: { source: "retry" }, audit_payload: { feedback: { source: "retry" } } },
    ]);
  });

  it("comes from a file too", async () => {
    writeFileSync(join(place.root, "feedback.json"), '{"from": "a file"}');
    const result = await answer(good, "--feedback", `@${join(place.root, "feedback.json")}`);
    expect(result.audit_payload.feedback).toEqual({ from: "a file" });
  });

  it("has no part in the hash", async () => {
    const hashes = [
      (await answer(good)).deterministic_hash,
      (await answer(good, "--feedback", '{"source": "retry"}')).deterministic_hash,
    ];
    expect(new Set(hashes).size).toBe(1);
  });

  it("of many inputs is recorded with each", async () => {
    const stdin = [good, poor].map((each) => JSON.stringify(each)).join("\n");
    await place.run(["evaluate", id, "--inputs", "-", "--feedback", '{"run": 7}'], { stdin });
    expect((await log()).map(({ feedback }) => feedback)).toEqual([{ run: 7 }, { run: 7 }]);
  });

  it.each([
    ["is not JSON", "{bad", "--feedback is not valid JSON"],
    ["has a rounded integer", '{"run":9007199254740993}', "--feedback cannot be used: `9007"],
    ["is a list", "[1]", "the feedback must be a JSON object (got a list)"],
  ])("that %s is refused, and nothing is recorded", async (_what, feedback, message) => {
    const { code, out, err } = await ask("evaluate", good, "--feedback", feedback);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(await log()).toEqual([]);
  });
});

describe("no votes", () => {
  beforeEach(() => define("picky.yaml", picky));

  it("are an error on standard error", async () => {
    const words = ["evaluate", "picky", "--input", '{"n": 7}', "--format", "table"];
    const { code, out, err } = await place.run(words);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      "error: No evaluators returned a decision\nhint: add a rule that always matches, or a static evaluator\n",
    );
    expect(await log()).toEqual([]);
  });

  it("are an error as JSON where JSON is wanted, with what failed", async () => {
    const { code, err } = await place.run(["dry-run", "picky", "--input", '{"n": 7}', "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(err)).toMatchObject({
      error: { code: "no_evaluations", details: { failed_conditions: ["n > 10", "n < 5"] } },
    });
  });

  it("of one line among many are an error of that line, and the others are answered", async () => {
    const stdin = '{"n": 11}\n{"n": 7}\nnot JSON\n{"n": 1}\n';
    const { code, out } = await place.run(["evaluate", "picky", "--inputs", "-"], { stdin });
    expect(code).toBe(1);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toMatchObject([
      { decision: "large" },
      { line: 2, error: { code: "no_evaluations", message: "No evaluators returned a decision" } },
      { line: 3, error: { code: "input_invalid" } },
      { decision: "small" },
    ]);
    expect((await log()).map(({ decision }) => decision)).toEqual(["large", "small"]);
  });
});

describe("--strict", () => {
  it("ends in an error where an expression has no answer", async () => {
    const { code, out, err } = await ask("evaluate", { credit: good.credit }, "--strict");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("`affordable` of `income` could not be evaluated");
    expect(await log()).toEqual([]);
  });

  it("without it there is a vote less and a warning", async () => {
    const { code, out, err } = await ask("evaluate", { credit: good.credit });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ decision: "approve", confidence: 0.75 });
    expect(err).toContain("warning: `affordable` of `income` could not be evaluated");
  });
});

describe("what must not be kept", () => {
  const secretive = (logging: string): string => `decision:
  id: secretive
  type: scored
  logging: ${logging}
  evaluators:
    - name: person
      rules:
        - { id: never, if: { field: customer.ssn, op: eq, value: "0" }, then: { decision: no, weight: 1 } }
        - { id: whole, if: { field: customer, op: blank }, then: { decision: no, weight: 1 } }
        - { id: date, when: "before(customer.ssn, '2026-01-01')", then: { decision: no, weight: 1 } }
        - { id: adult, when: "customer.age >= 18", then: { decision: yes, weight: 1 } }
`;
  const context = JSON.stringify({ customer: { ssn: "123-45-6789", age: 30 } });
  const masks = '{ mask: ["/customer/ssn"] }';

  it.each(["json", "yaml", "audit", "table", "plain"])(
    "masked values do not appear as %s",
    async (format) => {
      define("secretive.yaml", secretive(masks));
      const words = [
        "evaluate",
        "secretive",
        "--input",
        context,
        "--format",
        format,
        "--explain",
        "--verbose",
      ];
      const { code, out, err } = await place.run(words);
      expect(code).toBe(0);
      expect(out + err).not.toContain("6789");
      if (format === "json") expect(out).toContain("[masked]");
    },
  );

  it("masked values do not appear in any file of the store, nor in what is read from it", async () => {
    define("secretive.yaml", secretive(masks));
    await place.run(["evaluate", "secretive", "--input", context]);
    expect(stored()).toContain("[masked]");
    expect(stored()).not.toContain("6789");
    const { out } = await place.run(["explain", "latest", "--verbose"], { terminal: true });
    expect(out).not.toContain("6789");
  });

  it("masked values do not appear if no evaluator votes", async () => {
    define("secretive.yaml", secretive(masks));
    const minor = context.replace("30", "3");
    const one = await place.run(["evaluate", "secretive", "--input", minor, "--json"]);
    expect(one.code).toBe(1);
    const many = await place.run(["evaluate", "secretive", "--inputs", "-"], { stdin: minor });
    expect(many.out).toContain("no_evaluations");
    expect(one.out + one.err + many.out + many.err).not.toContain("6789");
  });

  it.each([
    ["the whole context", "", "input.customer.ssn"],
    ["a part of it", 'input: "{{ customer }}"', "input.ssn"],
    ["the value itself", 'input: "{{ customer.ssn }}"', "input"],
    ["a text that holds it", 'input: "no. {{ customer.ssn }}"', "input"],
  ])("masked values do not appear where the input is %s", async (_what, input, field) => {
    const text = secretive(masks).replaceAll("field: customer.ssn", `field: ${field}`);
    define("secretive.yaml", text.replace("  type: scored", `  type: scored\n  ${input}`));
    const { code, out } = await place.run(["evaluate", "secretive", "--input", context]);
    expect(code).toBe(0);
    expect(out + stored()).not.toContain("6789");
  });

  it("masked values do not appear where --strict ends the decision", async () => {
    define("secretive.yaml", secretive(masks));
    for (const format of ["json", "table"]) {
      const words = ["evaluate", "secretive", "--input", context, "--strict", "--format", format];
      const { code, out, err } = await place.run(words);
      expect(code).toBe(1);
      expect(err).toContain("masked");
      expect(out + err).not.toContain("6789");
    }
  });

  it("masked values are masked before they are hashed", async () => {
    define("secretive.yaml", secretive(masks));
    const hashes: string[] = [];
    for (const ssn of ["123-45-6789", "987-65-4321"]) {
      const input = context.replace("123-45-6789", ssn);
      const { out } = await place.run(["evaluate", "secretive", "--input", input]);
      hashes.push((JSON.parse(out) as ScoredResult).deterministic_hash);
    }
    expect(new Set(hashes).size).toBe(1);
  });

  it("include_inputs: false leaves the context, the input and the payload out of the record", async () => {
    define("secretive.yaml", secretive("{ include_inputs: false }"));
    const { out } = await place.run(["evaluate", "secretive", "--input", context]);
    const result = JSON.parse(out) as ScoredResult;
    expect(result.audit_payload.context).toEqual(JSON.parse(context));
    const [record] = await log();
    expect(record).toMatchObject({ decision: "yes", deterministic_hash: result.deterministic_hash });
    for (const field of ["context", "input_value", "audit_payload"]) expect(record).not.toHaveProperty(field);
    expect(JSON.stringify(record?.evaluation_details)).not.toContain('"actual"');
  });

  it("include_evaluation: false leaves the details out of the record", async () => {
    define("secretive.yaml", secretive("{ include_evaluation: false }"));
    await place.run(["evaluate", "secretive", "--input", context]);
    const [record] = await log();
    expect(record?.evaluation_details).toEqual({});
    expect(record).toMatchObject({ decision: "yes", evaluations: [{ evaluator_name: "person" }] });
  });
});

describe("what is asked of scored records", () => {
  beforeEach(async () => {
    const stdin = [good, poor, good].map((each) => JSON.stringify(each)).join("\n");
    await place.run(["evaluate", id, "--inputs", "-"], { stdin });
  });

  it("distribution counts the decisions, those that never came included", async () => {
    const { code, out } = await place.run(["distribution", id]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      total: 3,
      distinct_inputs: 2,
      counts: { approve: 2, reject: 1 },
      branches: [
        { label: "approve", target: "stage-payout", count: 2 },
        { label: "reject", target: "stage-rejection-letter", count: 1 },
        { label: "review", target: "stage-loan-officer", count: 0 },
      ],
    });
  });

  it("explain tells who voted for what", async () => {
    const { code, out } = await place.run(["explain", "2"], { terminal: true });
    expect(code).toBe(0);
    const lines = out.split("\n");
    expect(lines[0]).toBe("stage-rejection-letter  reject, confidence 0.8333");
    expect(lines).toContain("  vote          credit reject 0.8: Poor credit");
    expect(lines).toContain("  strategy      weighted_average");
  });

  it("explain --verbose shows every condition with what it read", async () => {
    const { out } = await place.run(["explain", "2", "--verbose"], { terminal: true });
    expect(out).toMatch(/credit \/ poor_credit +✓ matched +credit\.score < 500 +credit\.score = 450/);
  });

  it("log has a line for each, and finds them by decision", async () => {
    const { out } = await place.run(["log", "--decision-id", id], { terminal: true });
    expect(out.match(/stage-payout \(approve\)/g)).toHaveLength(2);
    expect(out.match(/stage-rejection-letter \(reject\)/g)).toHaveLength(1);
  });

  it("verify finds the log sound", async () => {
    expect((await place.run(["verify"])).code).toBe(0);
  });
});

describe("what is asked of a scored definition", () => {
  it("show lists its evaluators, rules and votes", async () => {
    const { code, out } = await place.run(["show", id], { terminal: true });
    expect(code).toBe(0);
    expect(out).toMatch(/scoring +weighted_average/);
    expect(out).toMatch(/credit +good_credit +credit\.score >= 700 and credit\.defaults = 0 +approve 0\.9/);
    expect(out).toMatch(/house_rule +static +always +review 0\.3/);
  });

  it("list and validate know it", async () => {
    const { out } = await place.run(["list", "--format", "json"]);
    expect((JSON.parse(out) as { id: string; type: string }[]).find((each) => each.id === id)).toMatchObject({
      type: "scored",
    });
    expect((await place.run(["validate"])).code).toBe(0);
  });

  it("completion completes its id, and the formats it has", async () => {
    const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
      const io = fakeIo({ cwd: place.root, env: { AGENT33_DECISIONS: place.decisions } });
      expect(await main(["__complete", "--", ...words], io)).toBe(0);
      return io.written.out.trimEnd().split("\n");
    };
    expect(await complete("decision", "evaluate", "decision-loan")).toEqual([id]);
    expect(await complete("decision", "evaluate", id, "--format", "a")).toEqual(["audit"]);
  });
});
