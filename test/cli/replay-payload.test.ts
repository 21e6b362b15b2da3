import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { AuditPayload } from "../../src/model/result.js";
import { filesIn } from "./files-in.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

let place: Workplace;
/** As `evaluate --format audit` prints them. */
let texts: readonly [string, string];

const loans = [
  { credit: { score: 720, defaults: 0 }, income: { monthly: 3000 }, loan: { rate: 500 } },
  { credit: { score: 400, defaults: 1 }, income: { monthly: 1000 }, loan: { rate: 900 } },
];

beforeEach(async () => {
  place = workplace();
  const [one = "", another = ""] = await Promise.all(
    loans.map(async (loan) => {
      const flags = ["--input", JSON.stringify(loan), "--format", "audit"];
      return (await place.run(["evaluate", "decision-loan-approval", ...flags])).out;
    }),
  );
  texts = [one, another];
});

const replay = (payload: string, ...more: readonly string[]): Promise<Ran> =>
  place.run(["replay", "--payload", payload, ...more]);

const payloadOf = (text: string): AuditPayload => JSON.parse(text) as AuditPayload;

/** With another decision and confidence, and without a hash to give that away. */
function falsified(): string {
  const changed = { decision: "reject", confidence: 0.75, deterministic_hash: null };
  return JSON.stringify({ ...payloadOf(texts[0]), ...changed });
}

describe("replay --payload", () => {
  it("takes JSON, a file and standard input, and gives the decision with its payload", async () => {
    const path = join(place.root, "payload.json");
    writeFileSync(path, `\ufeff${texts[0]}`);
    const ran = [
      await replay(texts[0]),
      await replay(`@${path}`),
      await place.run(["replay", "--payload", "-"], { stdin: texts[0] }),
    ];
    for (const { code, out, err } of ran) {
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const decision = JSON.parse(out) as { audit_payload: AuditPayload; decision: string };
      expect(decision.decision).toBe("approve");
      expect(decision.audit_payload).toEqual(payloadOf(texts[0]));
    }
  });

  it("takes one a line, as --inputs writes them, and answers in lines", async () => {
    const stdin = `${loans.map((loan) => JSON.stringify(loan)).join("\n")}\n`;
    const flags = ["--inputs", "-", "--format", "audit"];
    const audits = (await place.run(["evaluate", "decision-loan-approval", ...flags], { stdin })).out;
    const { code, out } = await place.run(["replay", "--payload", "-"], { stdin: audits });
    const decisions = out
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as AuditPayload).decision);
    expect({ code, decisions }).toEqual({ code: 0, decisions: ["approve", "reject"] });
  });

  it.each([
    { name: "no JSON", payload: "{", message: "--payload is not valid JSON" },
    {
      name: "a line that is none",
      payload: '{"context":{}}\n\n{',
      message: "line 3 of --payload is not valid JSON",
    },
    {
      name: "a rounded integer",
      payload: '{"context":{"id":9007199254740993}}',
      message: "--payload cannot be used: `9007",
    },
    { name: "nothing", payload: " \n", message: "--payload is empty" },
    { name: "a file that is not there", payload: "@nowhere.json", message: "cannot read `nowhere.json`" },
    { name: "a list", payload: "[]", message: "Audit payload must be an object" },
    { name: "null", payload: "null", message: "Audit payload must be an object" },
    { name: "an empty object", payload: "{}", message: "Audit payload missing required key: context" },
    {
      name: "no votes",
      payload: '{"context":{},"decision":"a","confidence":1}',
      message: "Audit payload missing required key: evaluations",
    },
    {
      name: "no confidence",
      payload: '{"context":{},"evaluations":[],"decision":"a"}',
      message: "Audit payload missing required key: confidence",
    },
  ])("refuses $name with 2", async ({ payload, message }) => {
    const { code, out, err } = await replay(payload);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`error: ${message}`);
  });

  it("prints errors as JSON with --json", async () => {
    const { code, err } = await replay("{}", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(err)).toEqual({
      error: { code: "invalid_rule_dsl", message: "Audit payload missing required key: context" },
    });
  });

  it("fails with 6 if the result differs, and prints no decision", async () => {
    const { code, out, err } = await replay(falsified());
    expect({ code, out }).toEqual({ code: 6, out: "" });
    expect(err).toBe(
      "error: Replay mismatch detected: decision mismatch (expected: reject, got: approve); " +
        "confidence mismatch (expected: 0.75, got: 0.8421)\n",
    );
  });

  it("prints expected and actual result as JSON", async () => {
    const { code, err } = await replay(falsified(), "--json");
    expect(code).toBe(6);
    expect(JSON.parse(err)).toEqual({
      error: {
        code: "replay_mismatch",
        message: expect.stringContaining("Replay mismatch detected: decision mismatch") as string,
        details: {
          expected: { decision: "reject", confidence: 0.75 },
          actual: { decision: "approve", confidence: 0.8421 },
          differences: [
            "decision mismatch (expected: reject, got: approve)",
            "confidence mismatch (expected: 0.75, got: 0.8421)",
          ],
        },
      },
    });
  });

  it("prints differences in the wording of the specification with --no-strict", async () => {
    const { code, out, err } = await replay(falsified(), "--no-strict");
    expect({ code, err }).toEqual({
      code: 0,
      err:
        "[DecisionAgent::Replay] Non-strict mode differences detected:\n" +
        "  - Decision changed: reject -> approve\n" +
        "  - Confidence changed: 0.75 -> 0.8421\n",
    });
    expect(JSON.parse(out)).toMatchObject({ decision: "approve", confidence: 0.8421 });
  });

  it.each([
    { format: "plain", out: "approve\t0.8421\n" },
    { format: "table", out: "approve  confidence 0.8421, weighted_average of 3 votes\n" },
  ])("prints $format", async ({ format, out }) => {
    expect((await replay(texts[0], "--format", format)).out).toBe(out);
  });

  it("prints YAML, and JSON lines of one", async () => {
    expect((await replay(texts[0], "--format", "yaml")).out).toMatch(
      /^decision: approve\nconfidence: 0.8421\n/,
    );
    const { out } = await replay(texts[0], "--format", "jsonl");
    expect(out.trimEnd().split("\n")).toHaveLength(1);
  });

  it("needs no store, and makes none", async () => {
    const empty = workplace();
    expect((await empty.run(["replay", "--payload", texts[0]])).code).toBe(0);
    expect(filesIn(empty.root).some(([path]) => path.startsWith("store"))).toBe(false);
  });
});
