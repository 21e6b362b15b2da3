import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OverrideStatus } from "../../src/record/override-status.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const day = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * day).toISOString();

const denying = "{ name: p, conditions: [{ name: never, expression: 'false' }] }";

/** A place with a policy of its own that has overrides of every status. */
function placeWith(): Workplace {
  const place = workplace();
  const overrides = [
    "{ name: always, overrides: [p], when: 'params.n == 1' }",
    `{ name: soon, overrides: [p], when: 'params.n == 2', effective_from: "${inDays(1)}" }`,
    `{ name: over, overrides: [p], expires_at: "${inDays(-1)}" }`,
    `{ name: once, version: 1.2.3, overrides: [p], max_applications: 1, expires_at: "${inDays(10)}" }`,
    `{ name: later, overrides: [p], when: 'params.n == 3', expires_at: "${inDays(60)}" }`,
  ];
  writeFileSync(
    join(place.decisions, "mine.yaml"),
    `decision: { id: mine, type: policy, tool: t, policies: [${[denying, ...overrides].join(", ")}] }`,
  );
  return place;
}

async function use(place: Workplace, n: number): Promise<string> {
  const ran = await place.run(["check", "t", "--params", JSON.stringify({ n }), "--session-id", "s"]);
  const { decisions } = JSON.parse(ran.out) as { decisions: readonly { record_id: string }[] };
  return decisions[0]?.record_id ?? "";
}

async function overridesIn(
  place: Workplace,
  ...words: readonly string[]
): Promise<readonly OverrideStatus[]> {
  const { out } = await place.run(["overrides", "--json", ...words]);
  return JSON.parse(out) as readonly OverrideStatus[];
}

const mine = ["--decision-id", "mine"];

const errorOf = ({ err }: Ran): { code: string; message: string } =>
  (JSON.parse(err) as { error: { code: string; message: string } }).error;

describe("the overrides", () => {
  it("are listed for every policy", async () => {
    const names = (await overridesIn(workplace())).map(({ decision_id, name }) => `${decision_id} ${name}`);
    expect(names).toEqual([
      "policy-select-period acquired_company_adjustment",
      "policy-filter-customers exclude_pilots_from_retention",
      "policy-read-source month_end_close",
    ]);
  });

  it("are live, pending, expired or used up", async () => {
    const place = placeWith();
    await use(place, 0);
    const statuses = (await overridesIn(place, ...mine)).map(({ name, status }) => [name, status]);
    expect(statuses).toEqual([
      ["always", "live"],
      ["soon", "pending"],
      ["over", "expired"],
      ["once", "used_up"],
      ["later", "live"],
    ]);
  });

  it("list their records, newest first, and the remaining uses", async () => {
    const place = placeWith();
    const ids: string[] = [];
    for (let times = 0; times < 3; times++) ids.unshift(await use(place, 1));
    const once = await use(place, 0);
    const all = await overridesIn(place, ...mine);
    expect(all[0]).toMatchObject({ uses: 3, uses_left: null, records: ids });
    expect(all[3]).toMatchObject({ uses: 1, uses_left: 0, records: [once], max_applications: 1 });
    expect(all[4]).toMatchObject({ uses: 0, last_used: null, records: [] });
    expect((await overridesIn(place, ...mine, "--limit", "2"))[0]?.records).toEqual(ids.slice(0, 2));
  });

  it("can be those that expire soon", async () => {
    const place = placeWith();
    const names = async (within: string): Promise<readonly string[]> =>
      (await overridesIn(place, ...mine, "--expiring", within)).map(({ name }) => name);
    expect(await names("30d")).toEqual(["once"]);
    expect(await names("1h")).toEqual([]);
    expect(await names("13w")).toEqual(["once", "later"]);
  });

  it("can be those of a policy, in any document, at a time", async () => {
    const place = placeWith();
    const foreign = "{ name: q }, { name: foreign, overrides: [p] }, { name: of_q, overrides: [q] }";
    writeFileSync(
      join(place.decisions, "others.yaml"),
      `decision: { id: others, type: policy, tool: t, policies: [${foreign}] }`,
    );
    await use(place, 0);
    const found = async (...words: readonly string[]): Promise<readonly unknown[]> =>
      (await overridesIn(place, ...words)).map(({ name, status, uses }) => [name, status, uses]);
    expect(await found("--policy", "q")).toEqual([["of_q", "live", 0]]);
    expect(await found("--policy", "p", "--at", "2d")).toEqual([
      ["always", "live", 0],
      ["soon", "pending", 0],
      ["over", "live", 0],
      ["once", "live", 0],
      ["later", "live", 0],
      ["foreign", "live", 0],
    ]);
    const at = await found("--policy", "p", "--at", inDays(30));
    expect(at.slice(0, 4)).toEqual([
      ["always", "live", 0],
      ["soon", "live", 0],
      ["over", "expired", 0],
      ["once", "expired", 1],
    ]);
    const unknown = await place.run(["overrides", "--json", "--policy", "P"]);
    expect([unknown.code, errorOf(unknown)]).toMatchObject([2, { message: "no policy called `P`" }]);
    const bad = await place.run(["overrides", "--json", "--at", "soon"]);
    expect([bad.code, errorOf(bad)]).toMatchObject([2, { code: "usage" }]);
  });

  it("are JSON lines in a pipe, and a line each as plain text", async () => {
    const place = placeWith();
    const id = await use(place, 0);
    const lines = (await place.run(["overrides", ...mine])).out.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as OverrideStatus).name)).toHaveLength(5);
    const { out } = await place.run(["overrides", ...mine, "--format", "plain"]);
    const columns = out
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(columns[0]).toEqual(["mine", "always", "0.0.0", "live", "always", "0", "never", ""]);
    expect(columns[3]?.slice(0, 4)).toEqual(["mine", "once", "1.2.3", "used_up"]);
    expect(columns[3]?.slice(5)).toEqual(["1 of 1", expect.stringMatching(/^[\d-]{10} [\d:]{8}$/), id]);
  });

  it("are a table on a terminal", async () => {
    const { code, out } = await placeWith().run(["overrides", ...mine], { terminal: true });
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toMatch(/^DECISION +OVERRIDE +VERSION +STATUS +WINDOW +USES +LAST USED/);
    expect(out).toContain("pending");
  });

  it("say so on stderr where there are none", async () => {
    const place = workplace();
    writeFileSync(
      join(place.decisions, "bare.yaml"),
      "decision: { id: bare, type: policy, tool: t, policies: [] }",
    );
    const none = await place.run(["overrides", "--decision-id", "bare", "--json"]);
    expect(none).toEqual({ code: 0, out: "[]\n", err: "no overrides found\n" });
    const late = await place.run(["overrides", "--expiring", "1ms", "--json"]);
    expect(late).toEqual({ code: 0, out: "[]\n", err: "no matching overrides\n" });
    expect((await place.run(["overrides", "--expiring", "1ms", "--quiet"])).err).toBe("");
    const table = await place.run(["overrides", "--expiring", "1ms"], { terminal: true });
    expect([table.code, table.out]).toEqual([0, ""]);
  });

  it("are read without writing anything", async () => {
    const place = workplace();
    await place.run(["overrides"]);
    expect((await place.run(["verify", "--json"])).out).toContain('"size": 0');
  });

  it.each<[string, readonly string[], string]>([
    ["a duration that is none", ["--expiring", "soon"], "--expiring must be a duration (got `soon`)"],
    ["a limit of nothing", ["--limit", "0"], "--limit must be a whole number of 1 or more (got `0`)"],
    [
      "a decision that is no policy",
      ["--decision-id", "decision-quality-gate"],
      "`decision-quality-gate` is not a policy, so it has no overrides",
    ],
    ["an unknown decision", ["--decision-id", "nowhere"], "no decision called `nowhere`"],
  ])("exits 2: %s", async (_what, words, message) => {
    const ran = await workplace().run(["overrides", ...words, "--json"]);
    expect([ran.code, ran.out, errorOf(ran).message]).toEqual([2, "", message]);
  });

  it("exits 3 for a policy that is broken, and warns of it otherwise", async () => {
    const place = workplace();
    writeFileSync(join(place.decisions, "broken.yaml"), "decision: { id: broken, type: policy, tol: t }");
    expect((await place.run(["overrides", "--decision-id", "broken"])).code).toBe(3);
    const ran = await place.run(["overrides"]);
    expect([ran.code, ran.err.includes("broken.yaml:1:")]).toEqual([0, true]);
  });
});
