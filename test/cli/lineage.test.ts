import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { compose } from "../../src/compose.js";
import type { DrawnEdge, DrawnNode } from "../../src/model/drawing.js";
import type { LogRecord } from "../../src/model/record.js";
import { openJsonlStore } from "../../src/store/drivers/jsonl/store.js";
import { readDot, readMermaid } from "../present/picture-readers.js";
import { newId, noted, TestClock } from "../store/entries.js";
import { fakeIo } from "./fake-io.js";
import type { Ran } from "./workspace.js";
import { workplace } from "./workspace.js";

const { decisions, store, root, ...place } = workplace();
const run: typeof place.run = (words, options) => place.run(words, options);

const definitions = `decision:
  id: intake
  type: switch
  artifacts: ["{{ artifact.id }}"]
  entities: [{ type: customer, id: "{{ customer }}" }]
  cases:
    - { condition: "artifact.score > 0.5", target: quality, label: Good }
  default: { target: stage-inbox }
---
decision:
  id: quality
  type: binary
  artifacts: ["{{ artifact.id }}"]
  entities: [{ type: customer, id: "{{ customer }}" }]
  cases:
    - { condition: "artifact.score >= 0.8", target: stage-deploy, label: Pass }
  default: { target: stage-rework }
---
decision:
  id: may-deploy
  type: policy
  tool: deploy
  artifacts: ["{{ params.on }}"]
  policies:
    - { name: ops_only, conditions: [{ name: who, expression: "params.by == 'ops'" }] }
---
decision:
  id: not-on-friday
  type: policy
  tool: deploy
  policies:
    - { name: weekday, conditions: [{ name: day, expression: "params.day != 'friday'" }] }
`;

const ids: string[] = [];

/** Records 1 to 6: quality of an older build; intake, quality below it, two policies below that, how the call went. */
beforeAll(async () => {
  rmSync(decisions, { recursive: true });
  mkdirSync(decisions);
  writeFileSync(join(decisions, "all.yaml"), definitions);
  const world = await compose({ decisions, store: { directory: store } });
  const about = (id: string): object => ({ artifact: { id, score: 0.9 }, customer: "eu:c-1" });
  await world.decide({ decision_id: "quality", context: about("build-41") });
  const first = await world.decide({ decision_id: "intake", context: about("build-42"), session_id: "s-1" });
  const second = await world.decide({
    decision_id: "quality",
    context: about("build-42"),
    ...(first.record_id !== undefined && { parent_record_id: first.record_id }),
  });
  await world.check({
    tool: "deploy",
    params: { by: "ops", day: "monday", on: second.record_id },
    session_id: "s-1",
  });
  await world.recordToolResult({ tool: "deploy", session_id: "s-1", ok: true });
  await world.close();
  // Nothing here may need a definition.
  rmSync(decisions, { recursive: true });
  for (const { record_id } of await logged()) ids.push(record_id);
});

async function logged(): Promise<readonly LogRecord[]> {
  const { out } = await run(["log", "--kind", "all", "--json"]);
  return JSON.parse(out) as readonly LogRecord[];
}

const lineage = (...words: readonly string[]): Promise<Ran> => run(["lineage", ...words]);
const shown = (...words: readonly string[]): Promise<Ran> => run(["lineage", ...words], { terminal: true });

interface Answer {
  readonly record_id: string;
  readonly decision_id?: string;
  readonly rested_on: Readonly<Record<string, readonly unknown[]>>;
  readonly led_to: Readonly<Record<string, readonly unknown[]>>;
  readonly same_check: readonly unknown[];
  readonly complete: boolean;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

async function json<T = Answer>(...words: readonly string[]): Promise<T> {
  const { code, out, err } = await lineage(...words);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out) as T;
}

describe("the lineage of a record", () => {
  it("is a tree on a terminal", async () => {
    const { code, out, err } = await shown("3");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [first = "", ...lines] = out.trimEnd().split("\n");
    expect(first).toMatch(/^#3 quality {2}Pass → stage-deploy \(decision, binary, [\d-]{10} [\d:]{8}\)$/);
    expect(lines).toEqual([
      "├─ depends on",
      "│  ├─ build-42 (artifact)",
      "│  ├─ customer:eu:c-1 (entity)",
      "│  ├─ artifact  score (input)",
      "│  ├─ parent → #2 intake  Good → quality (decision, switch)",
      "│  └─ precedent, same outcome (similarity 1) → #1 quality  Pass → stage-deploy (decision, binary)",
      "└─ led to",
      "   ├─ Pass → stage-deploy (target)",
      "   └─ input of → #4 may-deploy  allowed: deploy (decision, policy)",
      "      └─ result → #6 deploy (result, ok)",
    ]);
  });

  it("is found by id, the beginning of one, number or `latest`", async () => {
    for (const reference of [ids[4] ?? "", "5", "latest"]) {
      expect(await json(reference)).toMatchObject({ record_id: ids[4], decision_id: "not-on-friday" });
    }
  });

  it("has fields for programs, in a pipe", async () => {
    const answer = await json("3");
    expect(answer).toMatchObject({
      record_id: ids[2],
      decision_id: "quality",
      selected_labels: ["Pass"],
      rested_on: {
        artifacts: ["build-42"],
        artifact_records: [],
        entities: [{ type: "customer", id: "eu:c-1" }],
        inputs: [{ source: "artifact", keys: ["score"] }],
        policies: [],
        override: null,
        allowed_by: [],
        parents: [{ kind: "decision", record_id: ids[1], decision_id: "intake", session_id: "s-1" }],
        cached_from: null,
        precedents: [{ record_id: ids[0], similarity: 1, outcome_matched: true, record: { seq: 1 } }],
      },
      led_to: {
        branches: [{ label: "Pass", target: "stage-deploy" }],
        proposed: null,
        decisions: [
          { relation: "input_of", from: { record_id: ids[2] }, record_id: ids[3], decision_id: "may-deploy" },
        ],
        tool_results: [{ relation: "result", from: { record_id: ids[3] }, record_id: ids[5], ok: true }],
      },
      same_check: [],
      complete: true,
    });
    const known = new Set(answer.nodes.map(({ id }) => id));
    expect(answer.edges.every(({ from, to }) => known.has(from) && known.has(to))).toBe(true);
    expect(answer.edges).toContainEqual({
      from: `record:${ids[1] ?? ""}`,
      to: `record:${ids[2] ?? ""}`,
      kind: "child",
    });
  });

  it("names the other decisions of the same check, and artifacts that are records", async () => {
    expect(await json("4")).toMatchObject({
      same_check: [{ record_id: ids[4], decision_id: "not-on-friday" }],
      rested_on: { artifacts: [ids[2]], artifact_records: [{ record_id: ids[2] }] },
    });
  });

  it("is that of a call, too", async () => {
    expect(await json("6")).toMatchObject({
      kind: "tool_result",
      rested_on: { allowed_by: [{ record_id: ids[3] }, { record_id: ids[4] }] },
      led_to: { branches: [] },
    });
  });

  it.each([
    { format: "mermaid", read: readMermaid },
    { format: "dot", read: readDot },
  ])("is a picture for those who read $format", async ({ format, read }) => {
    const { nodes, edges } = await json("3");
    const { code, out } = await lineage("3", "--format", format);
    const picture = await read(out);
    expect(code).toBe(0);
    expect(picture.nodes.map((text) => text.split("\n")[0])).toEqual(nodes.map(({ name }) => name));
    expect(picture.edges).toHaveLength(edges.length);
  });

  it("is one line an edge in plain text", async () => {
    const { out } = await lineage("2", "--format", "plain");
    expect(out.split("\n")[0]).toBe(`artifact:build-42\tinput of\trecord:${ids[1] ?? ""}\tinput_of`);
  });

  it("warns where there is more than the limit lets in", async () => {
    const { code, out, err } = await lineage("2", "--limit", "1");
    expect(code).toBe(0);
    expect(err).toBe("warning: incomplete: stopped after 1 records; use --limit N for more\n");
    expect((JSON.parse(out) as Answer).complete).toBe(false);
    expect((await lineage("2", "--limit", "1", "--quiet")).err).toBe("");
  });

  it("fits a narrow terminal", async () => {
    const io = fakeIo({ terminal: true, columns: 30, env: { AGENT33_STORE: store, NO_COLOR: "1" } });
    expect(await main(["decision", "lineage", "2"], io)).toBe(0);
    const lines = io.written.out.trimEnd().split("\n");
    expect(lines).toContain("   └─ child → #3 quality  Pas…");
    expect(lines.filter((line) => line.length > 30)).toEqual([]);
  });
});

describe("the decisions that touched something", () => {
  const numbers = ({ out }: Ran): readonly number[] =>
    out
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as LogRecord).seq);

  it("are listed newest first, as the log writes them", async () => {
    expect(numbers(await lineage("--artifact", "build-42"))).toEqual([3, 2]);
    const byEntity = await lineage("--entity", "customer:eu:c-1");
    expect(numbers(byEntity)).toEqual([3, 2, 1]);
    expect(JSON.parse(byEntity.out.split("\n")[1] ?? "")).toMatchObject({
      record_id: ids[1],
      decision_id: "intake",
      selected_targets: ["quality"],
      selected_labels: ["Good"],
      type: "switch",
      session_id: "s-1",
    });
  });

  it("are a table on a terminal", async () => {
    const { code, out, err } = await shown("--artifact", "build-42");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^ +3 .* quality .*\n +2 .* intake /m);
  });

  it("are the newest so many, and those of a time", async () => {
    const entity = ["--entity", "customer:eu:c-1"];
    expect(await lineage(...entity, "--limit", "1")).toMatchObject({ code: 0, err: "" });
    expect(numbers(await lineage(...entity, "--limit", "1"))).toEqual([3]);
    const [, { timestamp }] = (await logged()) as [LogRecord, LogRecord];
    expect(numbers(await lineage(...entity, "--since", timestamp))).toEqual([3, 2]);
    expect(numbers(await lineage(...entity, "--until", timestamp))).toEqual([2, 1]);
  });

  it.each([
    { words: ["--artifact", "nope"], said: "no decisions with the artifact `nope` as an input\n" },
    { words: ["--entity", "customer:x"], said: "no decisions about the entity `customer:x`\n" },
  ])("are an empty list for $words, with exit code 0", async ({ words, said }) => {
    expect(await lineage(...words, "--json")).toEqual({ code: 0, out: "[]\n", err: "" });
    expect(await shown(...words)).toEqual({ code: 0, out: "", err: said });
    expect(await shown(...words, "--quiet")).toEqual({ code: 0, out: "", err: "" });
  });

  it("are limited to 100 by default", async () => {
    const directory = join(root, "many");
    const world = await compose({ decisions: samples(), store: { directory, durability: "fast" } });
    for (let made = 0; made < 101; made++) {
      await world.decide({ decision_id: "about", context: { id: "a" } });
    }
    await world.close();
    const many = await run(["lineage", "--artifact", "a", "--store", directory]);
    expect(many.out.trimEnd().split("\n")).toHaveLength(100);
    expect(many.err).toBe("warning: showing the newest 100 records; use --limit N for more\n");
    const impact = await run(["lineage", "--impact", "a", "--store", directory]);
    expect(impact.err).toContain("incomplete: stopped after 100 records");
  });
});

/** A decision about whatever it is told of. */
function samples(): string {
  const directory = join(root, "about");
  mkdirSync(directory, { recursive: true });
  const text = `decision:
  id: about
  type: binary
  artifacts: ["{{ id }}"]
  cases: [{ condition: "id != ''", target: t }]
  default: { target: t }
`;
  writeFileSync(join(directory, "about.yaml"), text);
  return directory;
}

describe("the impact of an artifact", () => {
  it("is a tree of all that came of it", async () => {
    const { code, out, err } = await shown("--impact", "build-42");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trimEnd().split("\n")).toEqual([
      "build-42 (artifact)",
      "├─ input of → #2 intake  Good → quality (decision, switch)",
      "│  ├─ Good → quality (target)",
      "│  └─ child → #3 quality  Pass → stage-deploy (decision, binary)",
      "│     ├─ Pass → stage-deploy (target)",
      "│     └─ input of → #4 may-deploy  allowed: deploy (decision, policy)",
      "│        └─ result → #6 deploy (result, ok)",
      "└─ input of → #3 quality (again)",
    ]);
  });

  it("has each record once, for programs", async () => {
    const answer = await json<{ decisions: { seq: number }[]; tool_results: { seq: number }[] }>(
      "--impact",
      "build-42",
    );
    expect(answer.decisions.map(({ seq }) => seq)).toEqual([2, 3, 4]);
    expect(answer).toMatchObject({
      artifact: "build-42",
      tool_results: [{ seq: 6, relation: "result" }],
      targets: ["quality", "stage-deploy"],
      complete: true,
    });
  });

  it("is empty for an unknown artifact, with exit code 0", async () => {
    expect(await json("--impact", "nope")).toMatchObject({ decisions: [], tool_results: [], edges: [] });
    expect(await shown("--impact", "nope")).toEqual({
      code: 0,
      out: "nope (artifact)\n",
      err: "no decisions with the artifact `nope` as an input\n",
    });
  });
});

describe("a wrong question", () => {
  it.each([
    { words: [], says: "specify a record, artifact or entity" },
    { words: ["3", "--artifact", "a"], says: "RECORD and --artifact cannot be combined" },
    { words: ["--artifact", "a", "--impact", "b"], says: "--artifact and --impact cannot be combined" },
    { words: ["--entity", "customer"], says: "--entity must be TYPE:ID (got `customer`)" },
    { words: ["--entity", ":x"], says: "--entity must be TYPE:ID (got `:x`)" },
    { words: ["--entity", "customer:"], says: "--entity must be TYPE:ID (got `customer:`)" },
    { words: ["--artifact", ""], says: "--artifact must not be empty" },
    { words: ["--impact", ""], says: "--impact must not be empty" },
    { words: ["3", "--since", "7d"], says: "--since requires --artifact or --entity" },
    { words: ["--impact", "a", "--until", "7d"], says: "--until requires --artifact or --entity" },
    { words: ["--artifact", "a", "--format", "dot"], says: "--format dot requires a record or --impact" },
    { words: ["3", "--limit", "0"], says: "--limit must be a whole number of 1 or more (got `0`)" },
    { words: ["99"], says: "record `99` not found" },
    { words: ["3", "--format", "dott"], says: "unknown format `dott`" },
  ])("is rejected with a hint: $words", async ({ words, says }) => {
    const { code, out, err } = await lineage(...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`error: ${says}\nhint: `);
  });

  it("is one about a note, which is no decision", async () => {
    const directory = join(root, "noted");
    const clock = new TestClock();
    const opened = openJsonlStore({ directory, clock: clock.read, newId });
    await opened.log.append({ body: noted() });
    await opened.close();
    expect(await run(["lineage", "1", "--store", directory])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("error: record `1` is a note about the log, not a decision\n") as string,
    });
  });
});

describe("a log that is damaged", () => {
  it("is answered from as far as it goes", async () => {
    const directory = join(root, "damaged");
    mkdirSync(join(directory, "log"), { recursive: true });
    const lines = readFileSync(join(store, "log/000000000001.jsonl"), "utf8").split("\n");
    lines[2] = (lines[2] ?? "").replace('"because":', '"becase":');
    lines[1] = (lines[1] ?? "").replace(/"artifacts":\[[^\]]*\]/, '"artifacts":{"build-42":[null]}');
    writeFileSync(join(directory, "log/000000000001.jsonl"), lines.join("\n"));
    const traced = await run(["lineage", "2", "--store", directory]);
    expect(traced.code).toBe(0);
    expect(JSON.parse(traced.out)).toMatchObject({ rested_on: { artifacts: [] }, led_to: { decisions: [] } });
    expect(traced.err).toContain("warning: record 2 was modified after it was written");
    expect(traced.err).toContain("warning: skipped damaged records");
    const listed = await run(["lineage", "--artifact", "build-42", "--store", directory]);
    expect([listed.code, listed.out]).toEqual([0, ""]);
    expect(listed.err).toContain("warning: skipped damaged records");
    expect((await run(["lineage", "--impact", "build-42", "--store", directory])).code).toBe(0);
  });
});

it("completes its flags and `latest`", async () => {
  const complete = async (...words: readonly string[]): Promise<string> => {
    const io = fakeIo();
    await main(["__complete", "--", "decision", "lineage", ...words], io);
    return io.written.out;
  };
  expect(await complete("--im")).toBe("--impact\n");
  expect(await complete("la")).toBe("latest\n");
  expect(await complete("--format", "mer")).toBe("mermaid\n");
});
