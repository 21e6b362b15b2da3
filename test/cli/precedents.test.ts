import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { PrecedentComparison } from "../../src/lineage/precedents.js";
import type { Assessment } from "../../src/lineage/deviations.js";
import type { Precedent } from "../../src/model/lineage.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const mine = `
decision:
  id: credit
  type: binary
  version: "1.0.0"
  entities: [{ type: customer, id: "{{ customer }}" }]
  default: { target: stage-review }
  cases: [{ label: Granted, condition: "amount <= 100", target: stage-pay }]
---
decision:
  id: tool-use
  type: policy
  tool: send_mail
  entities: [{ type: customer, id: "{{ params.to }}" }]
  policies:
    - { name: office_hours, conditions: [{ name: open, expression: "params.hour < 18" }], deny_reason: "It is {{ params.hour }} o'clock" }
    - { name: urgent, overrides: [office_hours], when: "get(params, 'urgent', false)", max_applications: 1 }
---
decision:
  id: nameless
  type: binary
  default: { target: stage-review }
  cases: [{ condition: "true", target: stage-pay }]
`;

function placeOf(): Workplace {
  const place = workplace();
  writeFileSync(join(place.decisions, "mine.yaml"), mine);
  return place;
}

async function grant(place: Workplace, customer: string, amount: number): Promise<string> {
  const input = JSON.stringify({ customer, amount });
  const { out } = await place.run(["evaluate", "credit", "--input", input]);
  return (JSON.parse(out) as { record_id: string }).record_id;
}

async function mail(place: Workplace, to: string, hour: number): Promise<Ran> {
  return place.run(["check", "send_mail", "--params", JSON.stringify({ to, hour }), "--session-id", "s"]);
}

const ask = (place: Workplace, ...words: readonly string[]): Promise<Ran> =>
  place.run(["precedents", ...words]);

async function json<Document>(place: Workplace, ...words: readonly string[]): Promise<Document> {
  const { out, err } = await ask(place, ...words, "--json");
  expect(err).toBe("");
  return JSON.parse(out) as Document;
}

const lines = ({ out }: Ran): readonly string[] => out.split("\n").filter((line) => line !== "");

const precedentsIn = ({ lineage }: DecisionRecord): readonly Precedent[] => lineage?.precedents ?? [];

async function recordsOf(place: Workplace): Promise<readonly DecisionRecord[]> {
  return lines(await place.run(["log"])).map((line) => JSON.parse(line) as DecisionRecord);
}

describe("precedents of an input", () => {
  it("are the most similar earlier records, with what the decision would answer now", async () => {
    const place = placeOf();
    const small = await grant(place, "c-1", 10);
    await grant(place, "c-2", 10);
    const large = await grant(place, "c-1", 1000);
    const found = await json<PrecedentComparison>(
      place,
      "credit",
      "--input",
      '{"customer": "c-1", "amount": 5}',
    );
    expect(found).toMatchObject({
      decision_id: "credit",
      outcome: "Granted",
      entities: [{ type: "customer", id: "c-1" }],
      sources: ["amount"],
      precedents: [
        { record_id: large, outcome: "default", outcome_matched: false, similarity: 1, seq: 3 },
        { record_id: small, outcome: "Granted", outcome_matched: true, similarity: 1, seq: 1 },
      ],
    });
    expect(found.precedents[0]?.match_reason).toBe("same customer:c-1; both read amount");
  });

  it("record nothing and count nothing", async () => {
    const place = placeOf();
    const context = { tool: "send_mail", params: { to: "c-1", hour: 20, urgent: true } };
    for (let times = 0; times < 2; times++) {
      const found = await json<PrecedentComparison>(place, "tool-use", "--input", JSON.stringify(context));
      expect(found).toMatchObject({ outcome: "allowed_by_exception", precedents: [] });
    }
    expect(await recordsOf(place)).toEqual([]);
  });

  it("come from a file or standard input too, in every format", async () => {
    const place = placeOf();
    const id = await grant(place, "c-1", 10);
    const input = '{"customer": "c-1", "amount": 5}';
    writeFileSync(join(place.root, "context.json"), input);
    const file = await ask(place, "credit", "--input", `@${join(place.root, "context.json")}`, "--json");
    const piped = await place.run(["precedents", "credit", "--input", "-"], { stdin: input });
    expect(piped).toEqual(file);
    const plain = await ask(place, "credit", "--input", input, "--format", "plain");
    expect(plain.out).toMatch(
      new RegExp(`^1\tGranted\tmatched\t${id}\t1\t\\S+Z\tsame customer:c-1; both read amount\n$`),
    );
    const one = lines(await ask(place, "credit", "--input", input, "--format", "jsonl"));
    expect(one.map((line) => (JSON.parse(line) as Precedent).record_id)).toEqual([id]);
    expect((await ask(place, "credit", "--input", input, "--format", "yaml")).out).toContain(
      `record_id: ${id}`,
    );
  });

  it("are drawn on a terminal", async () => {
    const place = placeOf();
    const id = await grant(place, "c-1", 1000);
    const words = ["precedents", "credit", "--input", '{"customer": "c-1", "amount": 5}'];
    const { out, err } = await place.run(words, { terminal: true });
    expect(err).toBe("");
    expect(out).toBe(
      [
        "Granted  credit",
        "",
        "  entities  customer:c-1",
        "  sources   amount",
        "",
        "SIMILARITY  OUTCOME              RECORD                                WHY",
        `1.00        default  ✗ deviated  ${id}  same customer:c-1; both read`,
        `${" ".repeat(71)}amount`,
        "",
      ].join("\n"),
    );
    const none = await place.run(["precedents", "credit", "--input", '{"customer": "c-9", "amount": 5}'], {
      terminal: true,
    });
    expect(none.err).toBe("no similar earlier decisions\n");
  });

  it("are as many and as similar as wanted", async () => {
    const place = placeOf();
    for (let n = 0; n < 7; n++) await grant(place, "c-1", n);
    const input = ["credit", "--input", '{"customer": ["c-1", "c-2"], "amount": 5}'];
    const count = async (...words: readonly string[]): Promise<number> =>
      (await json<PrecedentComparison>(place, ...input, ...words)).precedents.length;
    expect(await count()).toBe(0);
    expect(await count("--min-similarity", "0.6")).toBe(5);
    expect(await count("--min-similarity", ".6", "--limit", "2")).toBe(2);
    expect(await count("--min-similarity", "0", "--limit", "100")).toBe(7);
  });

  it("are empty with a hint if the decision declares no entities", async () => {
    const { code, out, err } = await ask(placeOf(), "nameless", "--input", "{}", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ entities: [], precedents: [] });
    expect(err).toBe(
      "warning: `nameless` has no precedents because it declares no entities; declare them, " +
        'for example entities: [{ type: customer, id: "{{ customer.id }}" }]\n',
    );
  });

  it("are none where the input does not say what it is about", async () => {
    const { code, err } = await ask(placeOf(), "credit", "--input", '{"amount": 5}');
    expect([code, err]).toEqual([0, "warning: the input contains none of the entities of `credit`\n"]);
  });
});

describe("precedents of a record", () => {
  it("are those before it, and neither itself nor later ones", async () => {
    const place = placeOf();
    const ids: string[] = [];
    for (const amount of [10, 1000, 20, 30]) ids.push(await grant(place, "c-1", amount));
    const found = await json<PrecedentComparison>(place, "--record", ids[2] ?? "");
    expect(found).toMatchObject({ decision_id: "credit", record_id: ids[2], outcome: "Granted" });
    const told = found.precedents.map(({ record_id, outcome_matched }) => [record_id, outcome_matched]);
    expect(told).toEqual([
      [ids[1], false],
      [ids[0], true],
    ]);
    expect(await json<PrecedentComparison>(place, "credit", "--record", "3")).toEqual(found);
  });

  it("are limited to those that a policy or an override took part in", async () => {
    const place = placeOf();
    const check = (params: object): Promise<Ran> =>
      place.run(["check", "send_mail", "--params", JSON.stringify(params), "--session-id", "s"]);
    await check({ to: "c-1", hour: 20, urgent: true });
    await check({ to: "c-1", hour: 9, urgent: false });
    await check({ to: "c-1", hour: 9, urgent: false });
    const seqs = async (...words: readonly string[]): Promise<readonly number[]> =>
      (await json<PrecedentComparison>(place, ...words)).precedents.map(({ seq }) => seq);
    expect(await seqs("--record", "3")).toEqual([2, 1]);
    expect(await seqs("--record", "3", "--policy", "office_hours", "--limit", "1")).toEqual([2]);
    expect(await seqs("--record", "3", "--policy", "urgent", "--limit", "1")).toEqual([1]);
    expect(await seqs("--record", "3", "--policy", "other")).toEqual([]);
    const context = { tool: "send_mail", params: { to: "c-1", hour: 9, urgent: false } };
    const input = ["tool-use", "--input", JSON.stringify(context)];
    expect(await seqs(...input)).toEqual([3, 2, 1]);
    expect(await seqs(...input, "--policy", "urgent")).toEqual([1]);
    const { code, err } = await ask(place, "--record", "3", "--policy", "");
    expect([code, err.split("\n")[0]]).toEqual([2, "error: --policy must not be empty"]);
  });

  it("need the store alone", async () => {
    const place = placeOf();
    for (const amount of [10, 20]) await grant(place, "c-1", amount);
    rmSync(place.decisions, { recursive: true });
    const { precedents } = await json<PrecedentComparison>(place, "--record", "latest");
    expect(precedents).toHaveLength(1);
  });

  it("are empty if the recorded definition declares no entities", async () => {
    const place = placeOf();
    await place.run(["evaluate", "nameless", "--input", "{}"]);
    await place.run(["evaluate", "credit", "--input", '{"amount": 1}']);
    rmSync(place.decisions, { recursive: true });
    expect((await ask(place, "--record", "1")).err).toContain(
      "`nameless` has no precedents because it declares",
    );
    expect((await ask(place, "--record", "2")).err).toBe(
      "warning: record 2 has no precedents because its context contains none of its entities\n",
    );
  });

  it.each([
    [
      "another decision's",
      ["tool-use", "--record", "1"],
      "record 1 is a record of `credit`, not of `tool-use`",
    ],
    ["no decision", ["--record", "3"], "record 3 is not a decision, so it has no precedents"],
    ["not there", ["--record", "9"], "record `9` not found"],
  ])("are rejected if the record is %s", async (_, words, message) => {
    const place = placeOf();
    await grant(place, "c-1", 1);
    await mail(place, "c-1", 9);
    await place.run(["result", "send_mail", "--session-id", "s", "--ok"]);
    const { code, out, err } = await ask(place, ...words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
  });
});

describe("what was decided about something", () => {
  let place: Workplace;
  const found = async (...words: readonly string[]): Promise<readonly number[]> =>
    (await json<readonly DecisionRecord[]>(place, ...words)).map(({ seq }) => seq);

  beforeAll(async () => {
    place = placeOf();
    await grant(place, "c-1", 10);
    await mail(place, "c-1", 9);
    await mail(place, "c-1", 20);
    await grant(place, "c-2", 10);
    await grant(place, "urn:c:1", 10);
    await place.run([
      "check",
      "send_mail",
      "--params",
      '{"to": "c-2", "hour": 20, "urgent": true}',
      "--session-id",
      "s",
    ]);
  });

  it.each([
    { name: "an entity, newest first", words: ["--entity", "customer:c-1"], expected: [3, 2, 1] },
    { name: "an entity, by one decision", words: ["credit", "--entity", "customer:c-1"], expected: [1] },
    { name: "an entity whose id holds colons", words: ["--entity", "customer:urn:c:1"], expected: [5] },
    { name: "so many", words: ["--entity", "customer:c-1", "--limit", "2"], expected: [3, 2] },
    {
      name: "so many of one decision",
      words: ["tool-use", "--entity", "customer:c-1", "--limit", "1"],
      expected: [3],
    },
    { name: "nobody", words: ["--entity", "customer:c-9"], expected: [] },
    { name: "a while ago", words: ["--entity", "customer:c-1", "--until", "1h"], expected: [] },
    { name: "lately", words: ["--entity", "customer:c-2", "--since", "1h"], expected: [6, 4] },
    { name: "with a policy", words: ["--policy", "office_hours"], expected: [6, 3, 2] },
    { name: "with an override", words: ["--policy", "urgent"], expected: [6] },
    { name: "denied", words: ["--policy", "office_hours", "--outcome", "denied"], expected: [3] },
    { name: "allowed", words: ["--policy", "office_hours", "--outcome", "allowed"], expected: [2] },
    {
      name: "by exception",
      words: ["tool-use", "--policy", "office_hours", "--outcome", "allowed_by_exception"],
      expected: [6],
    },
    {
      name: "with a policy, by another decision",
      words: ["credit", "--policy", "office_hours"],
      expected: [],
    },
  ])("is listed: $name", async ({ words, expected }) => {
    expect(await found(...words)).toEqual(expected);
  });

  it("is written as the log writes it", async () => {
    const log = lines(await place.run(["log", "--limit", "1"]));
    expect(lines(await ask(place, "--policy", "urgent"))).toEqual(log);
    const { out, err } = await place.run(["precedents", "--entity", "customer:c-1", "--limit", "2"], {
      terminal: true,
    });
    expect(out.split("\n").map((line) => line.trim().slice(0, 3))).toEqual(["SEQ", "3  ", "2  ", ""]);
    expect(err).toBe("showing the newest 2 records; use --limit N for more\n");
  });

  it("is empty if the decision declares no entities", async () => {
    const other = placeOf();
    await other.run(["evaluate", "nameless", "--input", "{}"]);
    const { code, out, err } = await ask(other, "nameless", "--entity", "customer:c-1", "--json");
    expect([code, out]).toEqual([0, "[]\n"]);
    expect(err).toContain("`nameless` has no precedents because it declares no entities");
  });
});

describe("deviations from precedent", () => {
  it("are reported for the newest decisions, of all or of one decision", async () => {
    const place = placeOf();
    const ids: string[] = [];
    for (const amount of [10, 1000]) ids.push(await grant(place, "c-1", amount));
    for (const hour of [19, 20]) await mail(place, "c-1", hour);
    const all = await json<Assessment>(place, "--deviations");
    expect(all).toMatchObject({
      observer: "precedent_consistency",
      summary: "1 of 4 decisions deviated from precedent",
      severity: "caution",
      decisions: 4,
      deviations: [
        {
          record_id: ids[1],
          precedent_id: ids[0],
          decision_id: "credit",
          deviation_type: "outcome_differs",
          explanation: "`default` now, `Granted` before",
        },
      ],
    });
    const credit = await json<Assessment>(place, "credit", "--deviations");
    expect(credit.summary).toBe("1 of 2 decisions deviated from precedent");
    const last = await json<Assessment>(place, "--deviations", "--last", "1");
    expect(last.summary).toBe("0 of 1 decision deviated from precedent");
  });

  it("exit with 6 under --check if an outcome deviates, not if only the rationale does", async () => {
    const place = placeOf();
    for (const hour of [19, 20]) await mail(place, "c-1", hour);
    expect((await ask(place, "--deviations", "--check")).code).toBe(0);
    await mail(place, "c-1", 9);
    expect((await ask(place, "--deviations", "--check")).code).toBe(6);
    expect((await ask(place, "--deviations")).code).toBe(0);
    expect((await ask(place, "--deviations", "--check", "--last", "1")).code).toBe(6);
    await mail(place, "c-2", 9);
    expect((await ask(place, "--deviations", "--check", "--last", "1")).code).toBe(0);
  });

  it("need the store alone", async () => {
    const place = placeOf();
    for (const amount of [10, 1000]) await grant(place, "c-1", amount);
    rmSync(place.decisions, { recursive: true });
    expect((await ask(place, "credit", "--deviations", "--check")).code).toBe(6);
    expect((await ask(place, "credit", "--entity", "customer:c-1")).code).toBe(0);
  });

  it("are written for people and for scripts", async () => {
    const place = placeOf();
    const [first, second] = [await grant(place, "c-1", 10), await grant(place, "c-1", 1000)];
    const { out } = await place.run(["precedents", "--deviations"], { terminal: true });
    expect(out).toBe(
      [
        "caution  1 of 2 decisions deviated from precedent",
        "",
        `  ${second}  credit`,
        "  outcome differs: `default` now, `Granted` before",
        `    precedent ${first}`,
        "",
        "  → Check whether the different outcome is intended",
        "  → If it is, publish a new version of the definition; if not, restore the earlier behaviour",
        "",
      ].join("\n"),
    );
    const plain = await ask(place, "--deviations", "--format", "plain");
    expect(plain.out).toBe(
      "caution\t1 of 2 decisions deviated from precedent\n" +
        `outcome_differs\t${second}\t${first}\tcredit\t\`default\` now, \`Granted\` before\n`,
    );
  });

  it("are shown once for each decision and difference", async () => {
    const place = placeOf();
    const ids: string[] = [];
    for (const amount of [10, 20, 1000, 2000]) ids.push(await grant(place, "c-1", amount));
    const { out } = await place.run(["precedents", "--deviations"], { terminal: true });
    const difference = "  outcome differs: `default` now, `Granted` before";
    const precedents = [ids[1], ids[0]].map((id) => `    precedent ${id}`);
    expect(out.split("\n").slice(2, 11)).toEqual([
      ...[`  ${ids[3]}  credit`, difference, ...precedents, ""],
      ...[`  ${ids[2]}  credit`, difference, ...precedents],
    ]);
  });

  it("are none where nothing is recorded, or nothing is about anything", async () => {
    const place = placeOf();
    expect(await json<Assessment>(place, "--deviations")).toMatchObject({
      summary: "0 of 0 decisions deviated from precedent",
      severity: "info",
      decisions: 0,
    });
    await place.run(["evaluate", "nameless", "--input", "{}"]);
    const { code, err } = await ask(place, "nameless", "--deviations", "--check");
    expect(code).toBe(0);
    expect(err).toContain("`nameless` has no precedents because it declares no entities");
  });
});

describe("a question that cannot be answered", () => {
  it.each([
    [[], "specify which precedents to show"],
    [["credit"], "specify which precedents to show"],
    [["--input", "{}"], "specify a decision"],
    [["credit", "--input", "{}", "--record", "1"], "--input and --record cannot be combined"],
    [["--entity", "a:b", "--policy", "p"], "--entity and --policy cannot be combined"],
    [["--deviations", "--policy", "p"], "--policy and --deviations cannot be combined"],
    [["--record", "1", "--since", "1d"], "--since cannot be combined with --record"],
    [["--entity", "a:b", "--min-similarity", "0.5"], "--min-similarity cannot be combined with --entity"],
    [["--entity", "a:b", "--outcome", "denied"], "--outcome cannot be combined with --entity"],
    [["--policy", "p", "--check"], "--check cannot be combined with --policy"],
    [["--deviations", "--limit", "5"], "--limit cannot be combined with --deviations"],
    [["--record", "1", "--last", "5"], "--last cannot be combined with --record"],
    [["--record", "1", "--session-id", "s"], "--session-id cannot be combined with --record"],
    [["--entity", "customer"], "--entity must be TYPE:ID (got `customer`)"],
    [["--entity", ":c-1"], "--entity must be TYPE:ID (got `:c-1`)"],
    [["--entity", "customer:"], "--entity must be TYPE:ID (got `customer:`)"],
    [["--policy", ""], "--policy must not be empty"],
    [["--policy", "p", "--outcome", "allow"], "unknown outcome `allow`"],
    [["--policy", "p", "--limit", "0"], "--limit must be a whole number of 1 or more (got `0`)"],
    [["--deviations", "--last", "few"], "--last must be a whole number of 1 or more (got `few`)"],
    [
      ["--record", "1", "--min-similarity", "1.1"],
      "--min-similarity must be a number from 0 to 1 (got `1.1`)",
    ],
    [["--record", "1", "--min-similarity", "-1"], "--min-similarity must be a number from 0 to 1 (got `-1`)"],
    [["--record", "1", "--min-similarity", ""], "--min-similarity must be a number from 0 to 1 (got ``)"],
    [["credti", "--input", "{}"], "no decision called `credti`"],
    [["credti", "--deviations"], "no decision called `credti`"],
    [["credti", "--entity", "a:b"], "no decision called `credti`"],
    [["credit", "--input", "{"], "--input is not valid JSON"],
    [["credit", "--input", "[]"], "the context must be a JSON object"],
    [["--deviations", "--format", "xml"], "unknown format `xml`"],
  ])("is the asker's mistake: %j", async (words, message) => {
    const { code, out, err } = await ask(placeOf(), ...words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).toContain("hint: ");
  });

  it("is not one of a decision that is defined and was never made", async () => {
    const { code, out } = await ask(placeOf(), "credit", "--entity", "customer:c-1", "--json");
    expect([code, out]).toEqual([0, "[]\n"]);
  });

  it("is not one of a decision whose file is broken now", async () => {
    const place = placeOf();
    writeFileSync(join(place.decisions, "mine.yaml"), "decision: { id: credit, type: nonsense }");
    expect((await ask(place, "credit", "--deviations")).code).toBe(0);
    expect((await ask(place, "credit", "--input", "{}")).code).toBe(3);
  });
});

describe("decisions as they are made", () => {
  it("rest on the earlier lines of a batch", async () => {
    const place = placeOf();
    const inputs = [10, 1000, 20].map((amount) => JSON.stringify({ customer: "c-1", amount })).join("\n");
    expect((await place.run(["evaluate", "credit", "--inputs", "-"], { stdin: inputs })).code).toBe(0);
    const records = await recordsOf(place);
    const ids = records.map(({ record_id }) => record_id);
    const cited = records.map((record) =>
      precedentsIn(record).map(({ record_id, outcome_matched }) => [ids.indexOf(record_id), outcome_matched]),
    );
    expect(cited).toEqual([
      [],
      [[0, false]],
      [
        [1, false],
        [0, true],
      ],
    ]);
    expect(records.map(({ context }) => context?.["amount"])).toEqual([10, 1000, 20]);
  });

  it("tell their precedents where they are explained, one a line", async () => {
    const place = placeOf();
    await mail(place, "c-1", 9);
    await mail(place, "c-1", 20);
    const [denied, allowed] = (await recordsOf(place)).map(({ record_id }) => record_id).toReversed();
    const expected = [
      `  precedent ${denied ?? ""}  similarity 1, deviated`,
      `  precedent ${allowed ?? ""}  similarity 1, matched`,
    ];
    const call = [
      "check",
      "send_mail",
      "--params",
      '{"to": "c-1", "hour": 8}',
      "--session-id",
      "s",
      "--dry-run",
    ];
    const input = '{"tool": "send_mail", "params": {"to": "c-1", "hour": 8}}';
    for (const words of [call, ["dry-run", "tool-use", "--input", input]]) {
      const told = ({ out }: Ran): readonly string[] =>
        out.split("\n").filter((line) => line.startsWith("  precedent"));
      expect(told(await place.run([...words, "--explain"], { terminal: true }))).toEqual(expected);
      expect(told(await place.run(words, { terminal: true }))).toEqual([]);
    }
    expect(await recordsOf(place)).toHaveLength(2);
  });
});
