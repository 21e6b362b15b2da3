import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { AssessmentRecord } from "../../src/model/record.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const observed = `
observers: [{ type: precedent_consistency, every: 3 }]
---
decision:
  id: tool-use
  type: policy
  tool: send_mail
  entities: [{ type: customer, id: "{{ params.to }}" }]
  policies:
    - { name: office_hours, version: 1.0.0, conditions: [{ name: open, expression: "params.hour < 18" }] }
`;

let place: Workplace;

function placeOf(definitions = observed): Workplace {
  const made = workplace();
  writeFileSync(join(made.decisions, "mine.yaml"), definitions);
  return made;
}

const mail = (hour: number, session = "s"): Promise<Ran> =>
  place.run(["check", "send_mail", "--params", `{"to": "c-1", "hour": ${hour}}`, "--session-id", session]);

const lines = ({ out }: Ran): readonly string[] => out.split("\n").filter((line) => line !== "");

describe("an observer", () => {
  beforeAll(async () => {
    place = placeOf();
    for (const hour of [9, 10, 20]) await mail(hour);
  });

  it("records its assessment after commands that know nothing of each other", async () => {
    const [line, ...others] = lines(await place.run(["log", "--kind", "assessment"]));
    expect(others).toEqual([]);
    expect(JSON.parse(line ?? "")).toMatchObject({
      seq: 4,
      kind: "assessment",
      severity: "caution",
      session_id: "s",
      summary: "1 of 3 decisions deviated from precedent",
    });
    expect(lines(await place.run(["log"]))).toHaveLength(3);
    expect(lines(await place.run(["log", "--kind", "all"]))).toHaveLength(4);
  });

  it("leaves a log that is intact and can be replayed", async () => {
    expect((await place.run(["verify"])).code).toBe(0);
    const { code, out } = await place.run(["replay", "--all", "--json"]);
    expect([code, JSON.parse(out)]).toMatchObject([0, { total: 3, matched: 3 }]);
    expect((await place.run(["replay", "4"])).err).toContain("is not a decision");
  });

  it("is shown in tables and in plain text", async () => {
    const table = await place.run(["log", "--kind", "all"], { terminal: true });
    expect(table.out).toMatch(/ 4 .* precedent_consistency +caution +1 of 3/);
    const [, , , plain] = lines(await place.run(["log", "--kind", "all", "--format", "plain"]));
    expect(plain?.split("\t").slice(2, 4)).toEqual(["precedent_consistency", "caution"]);
    const csv = await place.run(["export", "--format", "csv"]);
    expect(csv.out).toContain(",assessment,");
  });

  it("is explained", async () => {
    const { out } = await place.run(["explain", "4", "--format", "plain"]);
    expect(out).toContain("answer\t1 of 3 decisions deviated from precedent\n");
    expect(out).toContain("deviation\ttool-use, outcome differs: `denied` now, `allowed` before\trecord ");
    expect(out).toContain("suggestion\tCheck whether the different outcome is intended\n");
    const table = await place.run(["explain", "4"], { terminal: true });
    expect(table.out).toMatch(/^1 of 3 decisions deviated from precedent\n/);
  });

  it("is part of the report of its session", async () => {
    const json = JSON.parse((await place.run(["explain", "--session-id", "s", "--json"])).out) as {
      readonly assessments: readonly AssessmentRecord[];
    };
    expect(json.assessments).toMatchObject([{ seq: 4, severity: "caution" }]);
    const tree = await place.run(["explain", "--session-id", "s"], { terminal: true });
    expect(tree.out).toContain("! precedent_consistency caution: 1 of 3 decisions deviated from precedent");
    const plain = lines(await place.run(["explain", "--session-id", "s", "--format", "plain"]));
    expect(plain[3]?.split("\t").slice(2, 6)).toEqual([
      "precedent_consistency",
      "caution",
      "1 of 3 decisions deviated from precedent",
      "",
    ]);
    const report = await place.run(["explain", "--session-id", "s", "--format", "methodology"]);
    expect(report.out).toContain(
      "\n\nAssessments:\n- precedent_consistency: 1 of 3 decisions deviated from precedent (caution)\n",
    );
  });

  it("runs in a batch, and finds nothing without precedents", async () => {
    const inputs = [9, 20, 9, 20, 9, 20].map((hour) => ({
      tool: "send_mail",
      params: { to: "c-2", hour },
    }));
    const file = join(place.root, "inputs.jsonl");
    writeFileSync(file, inputs.map((each) => JSON.stringify(each)).join("\n"));
    const batch = ["evaluate", "tool-use", "--inputs", file, "--quiet", "--session-id"];
    const found = async (session: string): Promise<number> =>
      lines(await place.run(["log", "--kind", "assessment", "--session-id", session])).length;
    await place.run([...batch, "b"]);
    expect(await found("b")).toBe(2);
    for (const name of ["AGENT33_LINEAGE_ENABLED", "AGENT33_LINEAGE_STORE_PRECEDENTS"]) {
      await place.run([...batch, name], { env: { [name]: "false" } });
      expect(await found(name)).toBe(0);
    }
    expect((await place.run(["verify"])).code).toBe(0);
    expect((await place.run(["replay", "--all"])).code).toBe(0);
  });

  it("is warned of where no decision has entities", async () => {
    const other = placeOf(observed.replace(/ {2}entities: .*\n/, ""));
    const { out } = await other.run(["validate", join(other.decisions, "mine.yaml"), "--format", "plain"]);
    expect(out).toContain("`precedent_consistency` finds nothing, because no decision declares entities");
  });
});
