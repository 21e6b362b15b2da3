import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { displayWidth } from "../../src/present/text-width.js";
import type { Ran } from "./workspace.js";
import { workplace } from "./workspace.js";

const place = workplace();

/** The note on columns that have no room. */
const hiddenColumns = /^columns hidden: .*\n(?: .*\n)*/m;

/** Ends a progress line. */
const eraseRest = "\u001b[K";

const colours = { FORCE_COLOR: "1", NO_COLOR: "" };

async function show(words: readonly string[], columns: number, env = {}): Promise<Ran> {
  const ran = await place.run(words, { terminal: true, columns, env });
  const messages = ran.err.split("\r").filter((part) => !part.endsWith(eraseRest));
  return { ...ran, err: messages.join("").replaceAll(eraseRest, "").replace(hiddenColumns, "") };
}

const json = (value: unknown): string => JSON.stringify(value);

const loan = json({ credit: { score: 450, defaults: 1 }, loan: { rate: 1500 }, income: { monthly: 2000 } });
const wire = json({ amount: 20_000, payee: { country: "DE" } });
const severe = json({ severity: "critical", attempts: 3, quality_score: 0.7 });
const call = ["filter_customers", "--session-id", "session-of-the-quarterly-report"];
const params = json({ segment: "enterprise", filter: "active = true and region in ('EMEA', 'APAC')" });

const longId = "decision-with-an-id-that-takes-most-of-a-line-of-80-columns";
const longCondition =
  "animal.temperature > 39.5 and animal.kind in ('dog', 'cat', 'rabbit', 'guinea pig') and lower(animal.name) != 'x'";
const animal = json({
  animal: { temperature: 40, kind: "dog", age: 3, name: "Bello of the High Fir Trees", owner: "somebody" },
});
const tested = join(place.root, "tested");

/** The views, each with the arguments of `agent-33 decision`. */
const views: readonly (readonly [name: string, ...words: string[]])[] = [
  ["a rule table", "evaluate", "decision-escalation-rules", "--explain", "--input", severe],
  ["a rule table without a match", "evaluate", "decision-escalation-rules", "--explain", "--input", "{}"],
  ["scored", "evaluate", "decision-loan-approval", "--explain", "--input", loan],
  ["weighted", "evaluate", "decision-ab-prompt-variant", "--explain", "--input", '{"request":{"id":"u"}}'],
  ["a gate", "gate", "acme/payments/wire.approve", "--explain", "--input", wire],
  ["a denied call", "check", ...call, "--params", params, "--explain"],
  ["explain", "explain", "latest"],
  ["explain --verbose of a call", "explain", "latest", "--verbose"],
  ["explain --verbose of a scored decision", "explain", "3", "--verbose"],
  ["explain --verbose of a rule table", "explain", "1", "--verbose"],
  ["explain of a session", "explain", "--session-id", "session-of-the-quarterly-report"],
  ["log", "log"],
  ["backtest", "backtest", "decision-quality-gate", "--against", join(place.root, "draft.yaml")],
  ["replay", "replay", "--all"],
  ["verify", "verify"],
  ["distribution", "distribution", "decision-ab-prompt-variant"],
  ["distribution --by", "distribution", "decision-ab-prompt-variant", "--by", "hour", "--all-definitions"],
  ["lineage", "lineage", "latest"],
  ["precedents", "precedents", "--record", "latest"],
  ["list", "list"],
  ["show of a rule table", "show", "decision-artifact-type-router"],
  ["show of a policy", "show", "policy-filter-customers"],
  ["show of a gate", "show", "gate-wire-approve"],
  ["show of a scored decision", "show", "decision-loan-approval"],
  ["validate", "validate", join(place.root, "broken.yaml")],
  ["overrides", "overrides"],
  ["endpoints", "endpoints"],
  ["cache status", "cache", "status"],
  ["config", "config", "list"],
  ["graph", "graph", "decision-release-route"],
  ["test", "test", tested, "--coverage", "--mutate"],
  ["log of a long id", "log", "--decision-id", longId],
  ["evaluate with a long input", "evaluate", longId, "--decisions", tested, "--input", animal],
  ["validate with a caret near the end of a line", "validate", join(place.root, "misspelt.yaml")],
];

/** A decision with failing tests, a condition that could not be evaluated, and a branch without a test. */
const kinds = `
decision:
  id: kinds
  type: switch
  input: "{{ animal.kind }}"
  cases:
    - { condition: "input == 'cat'", target: stage-a }
    - { condition: "input == 'dog'", target: stage-b }
  default: { target: stage-c }
tests:
  - { name: a dog, decision: kinds, input: { animal: { kind: dog } }, expect: { target: stage-a } }
  - { name: no kind, decision: kinds, input: { animal: {} }, expect: { target: stage-c } }
  - name: a dog that is old and has a temperature of more than 39.5 degrees goes to the veterinarian
    decision: ${longId}
    input: ${animal}
    expect: { target: stage-c }
---
decision:
  id: ${longId}
  type: switch
  cases:
    - condition: "${longCondition}"
      target: stage-veterinarian-on-duty
  default: { target: stage-c }
`;

beforeAll(async () => {
  for (const [, ...words] of views.slice(0, 6)) await show(words, 80);
  const inputs = Array.from({ length: 1200 }, (_, index) => json({ request: { id: `user-${index}` } }));
  const batch = ["--inputs", "-", "--durability", "fast"];
  await place.run(["evaluate", "decision-ab-prompt-variant", ...batch], { stdin: inputs.join("\n") });
  const scores = [0.75, 0.79, 0.9, 0.2].map((score) => json({ artifact: { quality_score: score } }));
  await place.run(["evaluate", "decision-quality-gate", ...batch], { stdin: scores.join("\n") });
  await place.run(["check", ...call, "--params", params]);
  const gate = readFileSync(join(place.decisions, "quality-gate.yaml"), "utf8");
  writeFileSync(join(place.root, "draft.yaml"), gate.replaceAll("0.8", "0.7"));
  writeFileSync(
    join(place.root, "broken.yaml"),
    gate.replace("type: binary", "type: binari").replace("target: stage-deploy", "targt: stage-deploy"),
  );
  writeFileSync(
    join(place.root, "misspelt.yaml"),
    kinds.replace("lower(animal.name)", "lowr(animal.name)").slice(kinds.indexOf("---")),
  );
  mkdirSync(tested);
  writeFileSync(join(tested, "kinds.yaml"), kinds);
  await show(["evaluate", longId, "--decisions", tested, "--input", animal], 80);
}, 60_000);

/** The words of a text, without those that were truncated and without bars. JSON may be split after a comma. */
const wordsOf = (text: string): readonly string[] =>
  text.split(/[\s,;]+/).filter((word) => !word.includes("…") && !/^[█░│├└─→]*$/.test(word));

/** The lines that are too wide although they have a place to break. */
const tooWide = (text: string, columns: number): readonly string[] =>
  text.split("\n").filter((line) => displayWidth(line) > columns && /\S \S/.test(line.trim()));

describe("a terminal of 80 columns", () => {
  it.each(views)(
    "shows no line that is too wide, no broken word and no code of a colour: %s",
    async (_, ...words) => {
      const coloured = await show(words, 80, colours);
      const narrow = {
        ...coloured,
        out: stripVTControlCharacters(coloured.out),
        err: stripVTControlCharacters(coloured.err),
      };
      const wide = await show(words, 1000);
      expect(narrow.code).not.toBe(2);
      expect(narrow.out).not.toContain("\\u001b");
      expect(tooWide(narrow.out, 80)).toEqual([]);
      expect(tooWide(narrow.err, 80)).toEqual([]);
      const whole = new Set(wordsOf(`${wide.out} ${wide.err}`));
      // Each run has new ids, and a narrow table has dates without years.
      const isNew = (word: string): boolean =>
        /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d\d-\d\d)$/.test(word);
      expect(
        wordsOf(`${narrow.out} ${narrow.err}`).filter((word) => !whole.has(word) && !isNew(word)),
      ).toEqual([]);
    },
  );

  it.each([
    { words: ["log"], hidden: "BECAUSE, CACHED, ORIGIN" },
    { words: ["lineage", "--entity", "segment:enterprise"], hidden: "ORIGIN" },
    { words: ["log", "--limit", "1", "--kind", "note"], hidden: undefined },
    { words: ["overrides"], hidden: "RECORD, VERSION, WINDOW, LAST USED (UTC)" },
  ])("names the columns that have no room: $words", async ({ words, hidden }) => {
    const note = hidden && `columns hidden: ${hidden}; widen the terminal or use --format plain\n`;
    const narrow = { terminal: true, columns: 80 };
    const [shown] = hiddenColumns.exec((await place.run(words, narrow)).err) ?? [];
    expect(shown?.replaceAll("\n  ", " ")).toBe(note);
    for (const options of [{ terminal: true, columns: 1000 }, { terminal: false }])
      expect((await place.run(words, options)).err).not.toContain("columns hidden");
    for (const more of ["--quiet", "--format=plain"])
      expect((await place.run([...words, more], narrow)).err).not.toContain("columns hidden");
  });
});
