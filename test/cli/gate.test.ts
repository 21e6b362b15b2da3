import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GateResult } from "../../src/model/result.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const key = "acme/payments/wire.approve";

const paying = (amount: number, country = "DE", more: object = {}): string =>
  JSON.stringify({ amount, payee: { country }, ...more });

const gate = (input: string, ...more: readonly string[]): readonly string[] => [
  "gate",
  key,
  "--input",
  input,
  ...more,
];

const resultOf = ({ out }: Ran): GateResult => JSON.parse(out) as GateResult;
const errorOf = ({ err }: Ran): { code: string; message: string; hint: string } =>
  (JSON.parse(err) as { error: { code: string; message: string; hint: string } }).error;

/** A place with a newer and an older gate for the same action. */
function placeWithVersions(): Workplace {
  const place = workplace();
  for (const [version, status] of [
    [1, "RED"],
    [12, "YELLOW"],
  ] as const) {
    writeFileSync(
      join(place.decisions, `wire-${version}.yaml`),
      `decision:\n  id: wire-${version}\n  type: gate\n  action: { org: acme, domain: payments, name: wire.approve, world_model_version: ${version} }\n  rules: [{ id: all, tier: T2, severity: 1, when: "true", status: ${status} }]\n`,
    );
  }
  return place;
}

describe("a gate evaluated by its key", () => {
  it.each<[string, string, number, GateResult["status"]]>([
    ["a routine payment", paying(250), 0, "GREEN"],
    ["one that was paid already", paying(250, "DE", { already_paid: true }), 0, "GREEN-SKIP"],
    ["a large one", paying(20_000), 5, "YELLOW"],
    ["one to a sanctioned country", paying(1, "XX"), 4, "RED"],
    ["one that lacks what is needed", "{}", 5, "YELLOW"],
  ])("answers by its exit code: %s", async (_what, input, code, status) => {
    const ran = await workplace().run(gate(input));
    expect([ran.code, resultOf(ran).status]).toEqual([code, status]);
    expect(resultOf(ran).decision_id).toBe("gate-wire-approve");
  });

  it("is recorded like any decision", async () => {
    const place = workplace();
    const { record_id } = resultOf(await place.run(gate(paying(1), "--session-id", "s-1")));
    const log = JSON.parse((await place.run(["log", "--json"])).out) as readonly object[];
    expect(log).toMatchObject([{ record_id, session_id: "s-1", type: "gate", status: "GREEN" }]);
  });

  it("answers with the status alone, or with a column for each thing", async () => {
    const answer = (format: string): Promise<Ran> =>
      workplace().run(gate(paying(20_000), "--format", format));
    expect(await answer("target")).toMatchObject({ code: 5, out: "YELLOW\n" });
    expect((await answer("plain")).out.trimEnd().split("\t")).toContain("YELLOW");
  });

  it("shows the status first on a terminal, then the next action", async () => {
    const { out } = await workplace().run(gate(paying(20_000)), { terminal: true });
    expect(out.split("\n")[0]).toBe("YELLOW  20000 is more than 10000");
    expect(out).toContain("prepare_review_packet");
    expect(out).toContain("treasury");
  });
});

describe("the version of a gate", () => {
  it.each([
    ["", "wire-12"],
    ["@12", "wire-12"],
    ["@3", "gate-wire-approve"],
    ["@1", "wire-1"],
  ])("%j is that of %s", async (version, id) => {
    const ran = await placeWithVersions().run(["gate", `${key}${version}`, "--input", paying(1)]);
    expect(resultOf(ran).decision_id).toBe(id);
  });
});

describe("an invalid gate request", () => {
  it.each<[string, readonly string[], string, string]>([
    [
      "a key that is nearly right",
      ["gate", "acme/payments/wire.aprove", "--input", "{}"],
      "no gate for `acme/payments/wire.aprove`",
      "did you mean `acme/payments/wire.approve`?",
    ],
    [
      "a key of something else",
      ["gate", "x/y/z", "--input", "{}"],
      "no gate for `x/y/z`",
      "defined gates: acme/payments/wire.approve@3",
    ],
    [
      "a version that is not there",
      ["gate", `${key}@2`, "--input", "{}"],
      `\`${key}\` has no version 2`,
      "it has 3",
    ],
    [
      "the id of a decision",
      ["gate", "gate-wire-approve", "--input", "{}"],
      "`gate-wire-approve` is not a gate key",
      `write ${key}@3, or use \`agent-33 decision evaluate gate-wire-approve\``,
    ],
    ["no input", ["gate", key], "specify a context", "--input"],
    ["input that is no JSON", gate("{amount}"), "--input is not valid JSON", "quote the JSON"],
    ["input that is no object", gate("[]"), "the context must be a JSON object", ""],
    [
      "a supplied system",
      gate('{"system":{"request_time":"now"}}'),
      "the context must not have the reserved key `system`",
      "remove or rename the key",
    ],
  ])("exits 2: %s", async (_what, words, message, hint) => {
    const place = workplace();
    const ran = await place.run([...words, "--json"]);
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(errorOf(ran).message).toContain(message);
    expect(errorOf(ran).hint).toContain(hint);
    expect((await place.run(["log", "--json"])).out).toBe("[]\n");
  });

  it("exits 3 where two gates have its key", async () => {
    const place = workplace();
    writeFileSync(
      join(place.decisions, "twin.yaml"),
      `decision:\n  id: twin\n  type: gate\n  action: { org: acme, domain: payments, name: wire.approve, world_model_version: 3 }\n  rules: [{ id: all, tier: T2, severity: 1, when: "true", status: GREEN }]\n`,
    );
    const ran = await place.run([...gate(paying(1)), "--json"]);
    expect([ran.code, ran.out]).toEqual([3, ""]);
    expect(errorOf(ran).message).toBe("a gate of `acme/payments/wire.approve` is not valid");
  });

  it.each([
    ["a newer one", "status: REDD"],
    ["a file that is no YAML", "status: ["],
    ["one that does not compile", 'status: RED }, { id: c, tier: T2, severity: 2, when: "1 +", status: RED'],
  ])(
    "exits 3 where %s of its gates is broken, and does not let an older one answer",
    async (_what, status) => {
      const place = workplace();
      const rule = `{ id: all, tier: T2, severity: 1, when: "true", ${status} }`;
      const action = "{ org: acme, domain: payments, name: wire.approve, world_model_version: 4 }";
      writeFileSync(
        join(place.decisions, "newer.yaml"),
        `decision:\n  id: newer\n  type: gate\n  action: ${action}\n  rules: [${rule}]\n`,
      );
      const ran = await place.run([...gate(paying(1)), "--json"]);
      expect([ran.code, ran.out]).toEqual([3, ""]);
      expect(ran.err).toContain("newer.yaml");
      const other = await place.run(["evaluate", "gate-wire-approve", "--input", paying(1)]);
      expect(other.code).toBe(0);
    },
  );

  it("is not kept from answering by a broken file about something else", async () => {
    const place = workplace();
    writeFileSync(
      join(place.decisions, "other.yaml"),
      "decision: { id: o, type: gate, action: { name: other } }",
    );
    writeFileSync(
      join(place.decisions, "route.yaml"),
      "decision: { id: r, type: switch, name: wire.approve }",
    );
    expect((await place.run([...gate(paying(1)), "--json"])).code).toBe(0);
  });

  it("refuses a context that holds `context` where a rule reads all of it", async () => {
    const place = workplace();
    const action = "{ org: acme, domain: ops, name: deploy }";
    const rules = [
      `{ id: frozen, tier: T1, severity: 9, when: "get(context, 'freeze', false)", status: RED }`,
      `{ id: fine, tier: T3, severity: 1, when: "true", status: GREEN }`,
    ];
    writeFileSync(
      join(place.decisions, "deploy.yaml"),
      `decision:\n  id: deploy\n  type: gate\n  action: ${action}\n  rules: [${rules.join(", ")}]\n`,
    );
    const asked = (input: object): readonly string[] => [
      "gate",
      "acme/ops/deploy",
      "--input",
      JSON.stringify(input),
    ];
    expect((await place.run(asked({ freeze: true }))).code).toBe(4);
    expect((await place.run(asked({ freeze: true, context: { freeze: false } }))).code).toBe(2);
  });
});

describe("what a gate could not evaluate", () => {
  const definition = `decision:
  id: discharge
  type: gate
  action: { org: paws, domain: ward, name: discharge }
  computed: { fever: "temperature > 39" }
  rules:
    - { id: closed, tier: T1, severity: 90, when: "closed", status: RED }
    - { id: ill, tier: T2, severity: 50, when: "fever", status: YELLOW }
    - { id: well, tier: T3, severity: 10, when: "not fever", status: GREEN }
`;
  const summary = "the computed value `fever` and 2 conditions could not be evaluated";

  it.each([
    {
      name: "is a reason where no rule matched",
      input: '{"closed": false}',
      rows: [`because   no rule matched; ${summary}`],
    },
    {
      name: "is shown once where another rule decided",
      input: '{"closed": true}',
      rows: ["because   closed", `errored   ${summary}`],
    },
  ])("$name, with as many conditions as the table has, and with the cause", async ({ input, rows }) => {
    const place = workplace();
    writeFileSync(join(place.decisions, "discharge.yaml"), definition);
    const words = ["gate", "paws/ward/discharge", "--input", input, "--explain"];
    const { out } = await place.run(words, { terminal: true, columns: 120 });
    const lines = out.split("\n").map((line) => line.trim());
    expect(lines.filter((line) => /^(because|errored) /.test(line))).toEqual(rows);
    expect(lines.filter((line) => line.includes("! errored")).map((line) => line.split(/ {2,}/))).toEqual([
      ["ill", "! errored", "fever", "computed value `fever`: `temperature` is missing"],
      ["well", "! errored", "not fever", "computed value `fever`: `temperature` is missing"],
    ]);
  });
});

describe("the limits of a gate", () => {
  it("are shown, stop the action with exit code 4, and verify and replay", async () => {
    const place = workplace();
    const limits =
      "  max_calls: { count: 9, per: session, window: 1h }\n  max_sum: { of: amount, most: 5, per: org }";
    writeFileSync(
      join(place.decisions, "refund.yaml"),
      `decision:\n  id: refund\n  type: gate\n  action: { org: acme, domain: payments, name: refund }\n  rules: [{ id: all, tier: T3, severity: 1, when: "true", status: GREEN }]\n${limits}\n`,
    );
    const shown = await place.run(["show", "refund"], { terminal: true });
    expect(shown.out).toContain("at most 9 calls per session in 1h; amount of at most 5 per org");
    const refund = (amount: number): Promise<Ran> =>
      place.run(["gate", "acme/payments/refund", "--input", `{"amount":${amount}}`, "--session-id", "s"]);
    expect((await refund(3)).code).toBe(0);
    expect((await refund(3)).code).toBe(4);
    expect((await refund(2)).code).toBe(0);
    expect((await place.run(["replay", "--all", "--json"])).code).toBe(0);
    expect((await place.run(["verify"])).code).toBe(0);
  });
});

describe("many inputs of a gate", () => {
  it("are answered a line each, in order, the bad ones too", async () => {
    const place = workplace();
    const stdin = [paying(1), paying(20_000), "{", '{"system":{}}', paying(1, "XX")].join("\n");
    const { code, out } = await place.run(["gate", key, "--inputs", "-"], { stdin });
    const answers = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { status?: string; line?: number });
    expect(code).toBe(1);
    expect(answers.map(({ status, line }) => status ?? line)).toEqual(["GREEN", "YELLOW", 3, 4, "RED"]);
  });

  it("end with 0 where all could be answered, whatever the answers are", async () => {
    const stdin = [paying(1), paying(1, "XX")].join("\n");
    const { code, out } = await workplace().run(["gate", key, "--inputs", "-", "--format", "target"], {
      stdin,
    });
    expect([code, out]).toEqual([0, "GREEN\nRED\n"]);
  });
});

describe("the distribution of a gate", () => {
  it("counts by status", async () => {
    const place = workplace();
    for (const amount of [1, 2, 20_000]) await place.run(gate(paying(amount)));
    const { out } = await place.run(["distribution", "gate-wire-approve", "--json"]);
    expect(JSON.parse(out)).toMatchObject({ total: 3, counts: { GREEN: 2, YELLOW: 1 } });
  });
});
