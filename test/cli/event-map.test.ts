import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workplace } from "./workspace.js";

const place = workplace();
const router = "decision-artifact-type-router";
const map = '{"artifact": {"type": "{{ kind }}", "from": "{{ event.source }}"}}';
const target = ["--format", "target"];

describe("--map", () => {
  it.each(["evaluate", "dry-run"])("makes the context of %s", async (verb) => {
    const event = '{"kind": "workflow", "source": "ci"}';
    const ran = await place.run([verb, router, "--input", event, "--map", map, ...target]);
    expect(ran).toEqual({ code: 0, out: "stage-workflow-validation\n", err: "" });
  });

  it("makes the context of gate", async () => {
    const words = ["gate", "acme/payments/wire.approve", "--input", '{"sum": 250, "to": "DE"}'];
    const given = '{"amount": "{{ sum }}", "payee": {"country": "{{ to }}"}}';
    expect(await place.run([...words, "--map", given, ...target])).toMatchObject({ code: 0, out: "GREEN\n" });
  });

  it("may be a file, and the event come from standard input", async () => {
    writeFileSync(join(place.root, "map.json"), `\ufeff${map}\n`);
    const words = ["dry-run", router, "--input", "-", "--map", `@${join(place.root, "map.json")}`, ...target];
    const ran = await place.run(words, { stdin: '{"kind": "schema", "source": "ci"}' });
    expect(ran).toEqual({ code: 0, out: "stage-schema-validation\n", err: "" });
  });

  it("makes the context that is recorded", async () => {
    const event = '{"kind": "agent", "source": {"id": 7}, "secret": "x"}';
    await place.run(["evaluate", router, "--input", event, "--map", map]);
    const { out } = await place.run(["log", "--limit", "1", "--format", "jsonl"]);
    expect(JSON.parse(out)).toMatchObject({ input_value: "agent" });
    expect((JSON.parse(out) as { context: unknown }).context).toEqual({
      artifact: { type: "agent", from: { id: 7 } },
    });
  });
});

describe("--map that is a wrong request", () => {
  const event = ["--input", '{"kind": "prompt"}'];
  it.each([
    ["no JSON", "{", /^error: --map is not valid JSON: .*\nhint: quote the JSON/],
    ["empty", "", /^error: --map is empty\n/],
    ["a list", "[]", /^error: the map must be a JSON object \(got a list\)\n/],
    ["standard input", "-", /^error: --map cannot be read from standard input\n/],
    ["a file that is not there", "@nowhere.json", /^error: cannot read `nowhere.json`/],
    [
      "a template that does not compile",
      '{"artifact": {"type": "a {{ lenght(kind) }}"}}',
      /^error: the map cannot be used at `\/artifact\/type`: there is no function `lenght`\n {2}a \{\{ lenght\(kind\) }}\n {7}\^\nhint: did you mean `length`\?\n$/,
    ],
    [
      "more than the event has",
      '{"artifact": {"type": "{{ kin }}"}}',
      /^error: the map has no value for `\/artifact\/type`: `kin` is missing\nhint: guard optional values/,
    ],
  ])("because it is %s exits with 2", async (_what, wrong, message) => {
    const ran = await place.run(["evaluate", router, ...event, "--map", wrong]);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toMatch(message);
  });

  it("is found out before any line is read", async () => {
    const words = ["evaluate", router, "--inputs", "-", "--map", '{"a": "{{ b"}'];
    const ran = await place.run(words, { stdin: '{"b": 1}\n' });
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain("the map cannot be used at `/a`: missing closing `}}`");
  });
});

describe("--map with --inputs", () => {
  const words = ["dry-run", router, "--inputs", "-", "--map", '{"artifact": {"type": "{{ kind }}"}}'];
  const stdin = '{"kind": "prompt"}\n{"sort": "prompt"}\n"text"\n{"kind": "agent"}\n';

  it("reports an event that does not match the template with its line, and continues", async () => {
    const { code, out } = await place.run(words, { stdin });
    const answers = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(code).toBe(1);
    expect(answers).toMatchObject([
      { selected_targets: ["stage-prompt-validation"] },
      {
        line: 2,
        error: {
          code: "input_invalid",
          message: "the map has no value for `/artifact/type`: `kind` is missing",
        },
      },
      { line: 3, error: { details: { pointer: "/artifact/type" } } },
      { selected_targets: ["stage-agent-validation"] },
    ]);
  });

  it("keeps targets and events in step", async () => {
    const { code, out, err } = await place.run([...words, ...target], { stdin });
    expect({ code, out }).toEqual({
      code: 1,
      out: "stage-prompt-validation\n\n\nstage-agent-validation\n",
    });
    expect(err).toContain("error: line 2: the map has no value for `/artifact/type`: `kind` is missing\n");
  });
});
