import { describe, expect, it } from "vitest";
import type { DecisionError } from "../../src/errors.js";
import type { RuleTableDefinition } from "../../src/model/definition.js";
import type { Diagnostic } from "../../src/model/diagnostic.js";
import { exportTable } from "../../src/tables/export-table.js";
import { importTables } from "../../src/tables/import-tables.js";
import { readDmn } from "../../src/tables/read-dmn.js";
import type { DmnParts } from "./dmn-file.js";
import { dmnFile } from "./dmn-file.js";

async function read(document: string): Promise<RuleTableDefinition> {
  const { definitions } = await importTables("t.dmn", await readDmn("t.dmn", document), { fallbackId: "t" });
  const [definition] = definitions;
  if (definition === undefined) throw new Error("no definition");
  return definition;
}

const readParts = (parts: DmnParts): Promise<RuleTableDefinition> => read(dmnFile(parts));

async function problemsOf(document: string): Promise<readonly string[]> {
  try {
    await read(document);
  } catch (error) {
    const { problems } = (error as DecisionError).details as { readonly problems: readonly Diagnostic[] };
    return problems.map(({ line, message }) => `${line}: ${message}`);
  }
  return [];
}

const rule = (cell: string, out = '"a"'): DmnParts["rules"][number] => ({ in: [cell], out: [out] });

describe("an input entry", () => {
  it.each<[feel: string, condition: string]>([
    ["-", "true"],
    ["", "true"],
    ["5", "n == 5"],
    ["-5.5", "n == -5.5"],
    [".5", "n == 0.5"],
    ['"gold"', "n == 'gold'"],
    [String.raw`"a\"b\u0041\n"`, `n == 'a"bA\n'`],
    ["true", "n == true"],
    ["false", "n == false"],
    ["null", "not exists(n)"],
    ["not(null)", "exists(n)"],
    ["? = null", "n == null"],
    ["? != null", "n != null"],
    ["< 5", "n < 5"],
    ["<= 5", "n <= 5"],
    ["> 5", "n > 5"],
    [">= 5", "n >= 5"],
    ["= 5", "n == 5"],
    ["!= 5", "n != 5"],
    ["? < 5", "n < 5"],
    ["5 > ?", "n < 5"],
    ["? in [1..5]", "n >= 1 and n <= 5"],
    ["[1..10]", "n >= 1 and n <= 10"],
    ["[1..10)", "n >= 1 and n < 10"],
    ["(1..10]", "n > 1 and n <= 10"],
    ["(1..10)", "n > 1 and n < 10"],
    ["]1..10[", "n > 1 and n < 10"],
    ["[1..10[", "n >= 1 and n < 10"],
    ["]1..10]", "n > 1 and n <= 10"],
    ['["a".."m"]', "n >= 'a' and n <= 'm'"],
    ["1, 2, 3", "n in (1, 2, 3)"],
    ['5, < 3, [7..8], "x"', "n in (5, 'x') or n < 3 or (n >= 7 and n <= 8)"],
    ["null, 5", "not exists(n) or n == 5"],
    ["not(5)", "n != 5"],
    ['not("a", "b")', "n not in ('a', 'b')"],
    ["not(< 5)", "not (n < 5)"],
    ["not([1..3])", "not (n >= 1 and n <= 3)"],
    ['date("2026-01-31")', "n == '2026-01-31'"],
    ['@"2026-01-31"', "n == '2026-01-31'"],
    ['< date("2026-01-31")', "n < '2026-01-31'"],
    ['[date("2026-01-01")..date("2026-02-01")]', "n >= '2026-01-01' and n <= '2026-02-01'"],
    ['>= time("08:30:00")', "n >= '08:30:00'"],
    ['< date and time("2026-01-31T12:00:00+01:00")', "date(n) < date('2026-01-31T12:00:00+01:00')"],
    ['contains(?, "x")', "contains(n, 'x')"],
    ['starts with(?, "x")', "starts_with(n, 'x')"],
    ['not(ends with(?, "x"))', "not ends_with(n, 'x')"],
    ["5 // five", "n == 5"],
    ["(5)", "n == 5"],
  ])("%s is %s", async (feel, condition) => {
    const { rules = [] } = await readParts({ rules: [rule(feel)] });
    expect(rules[0]?.condition).toBe(condition);
  });

  it.each<[feel: string, message: string]>([
    ["x", "`x` cannot be converted"],
    ["> x", "`x` cannot be converted"],
    ["1 + 1", "`1 + 1` cannot be converted"],
    ["[1..", "`[1..` is not a FEEL expression"],
    ['"open', '`"open` is not a FEEL expression'],
    ['["a", "b"]', '`["a", "b"]` cannot be converted'],
    ["> 5 and < 10", "`5 and < 10` cannot be converted"],
    ["not(not(5))", "`not(5)` cannot be converted"],
    ['matches(?, "x")', '`matches(?, "x")` cannot be converted'],
    ['duration("P1D")', '`duration("P1D")` cannot be converted'],
    ['date("2026-02-31")', '`date("2026-02-31")` cannot be converted'],
    ['date("2026-01-" + "31")', '`date("2026-01-" + "31")` cannot be converted'],
    ['date and time("2026-01-31T12:00:00")', '`date and time("2026-01-31T12:00:00")` cannot be converted'],
    ["[5..1]", "the interval `[5..1]` is empty"],
    ['< 5, > "a"', "the cell compares the value with different types"],
    ["12345678901234567890", "`12345678901234567890` is an integer that a number cannot represent exactly"],
  ])("%s is reported", async (feel, message) => {
    expect(await problemsOf(dmnFile({ rules: [rule("1"), rule(feel)] }))).toEqual([
      `8: rule 2, input \`n\`: ${message}`,
    ]);
  });
});

describe("an input expression", () => {
  it.each([
    ["season", "season == 1"],
    ["customer.tier", "customer.tier == 1"],
    ["Applicant  Age", "get(context, 'Applicant Age') == 1"],
    ["order.line item.price", "get(get(order, 'line item'), 'price') == 1"],
    ["input", "context.input == 1"],
    ["in-flight", "get(context, 'in-flight') == 1"],
  ])("%s is a path", async (input, condition) => {
    const more = '<inputData id="i" name="in-flight"/>';
    const { rules = [] } = await readParts({ inputs: [input], rules: [rule("1")], more });
    expect(rules[0]?.condition).toBe(condition);
  });

  it.each(["a + 1", "max(a)", "a[1]", '"a"', ""])("%j is reported", async (input) => {
    expect(await problemsOf(dmnFile({ inputs: [input], rules: [rule("1")] }))).toHaveLength(1);
  });
});

describe("a hit policy", () => {
  const two = [rule("1", '"low"'), rule("1", '"high"')];
  const ranked = [{ values: '"high", "low"' }];

  it.each<[parts: Omit<DmnParts, "rules">, expected: Partial<RuleTableDefinition>]>([
    [{}, { hit_policy: "unique", default: { output: null } }],
    [{ hitPolicy: "UNIQUE" }, { hit_policy: "unique" }],
    [{ hitPolicy: "FIRST" }, { hit_policy: "first" }],
    [{ hitPolicy: "ANY" }, { hit_policy: "any" }],
    [{ hitPolicy: "COLLECT" }, { hit_policy: "collect" }],
    [{ hitPolicy: "RULE ORDER" }, { hit_policy: "rule_order" }],
    [
      { hitPolicy: "OUTPUT ORDER", outputs: ranked },
      { hit_policy: "output_order", output_values: ["high", "low"] },
    ],
    [{ outputs: [{ fallback: '"none"' }] }, { default: { output: "none" } }],
    [{ outputs: [{ name: "target" }] }, { default: { output: null } }],
  ])("%j is read", async (parts, expected) => {
    expect(await readParts({ ...parts, rules: two })).toMatchObject(expected);
  });

  it("that ranks outputs gives priorities", async () => {
    const { rules = [] } = await readParts({ hitPolicy: "PRIORITY", outputs: ranked, rules: two });
    expect(rules.map(({ priority }) => priority)).toEqual([2, 1]);
  });

  it.each(["SUM", "MIN", "MAX", "COUNT"])("COLLECT aggregates with %s", async (aggregation) => {
    const definition = await readParts({ hitPolicy: "COLLECT", aggregation, rules: [rule("1", "2")] });
    expect(definition.aggregate).toBe(aggregation.toLowerCase());
    expect(definition.default).toEqual({ output: aggregation === "COUNT" ? 0 : null });
  });

  it.each<[parts: Omit<DmnParts, "rules">, message: string]>([
    [{ hitPolicy: "BEST" }, "4: unknown hit policy `BEST`"],
    [{ hitPolicy: "FIRST", aggregation: "SUM" }, "4: the aggregation `SUM` cannot be used with `FIRST`"],
    [{ hitPolicy: "PRIORITY" }, "4: the hit policy needs output values, which rank the outputs"],
    [
      { hitPolicy: "OUTPUT ORDER", outputs: [{ values: '"high"' }] },
      "7: rule 1, output `output`: it is not one of the output values, which rank the outputs",
    ],
  ])("%j is reported", async (parts, message) => {
    expect(await problemsOf(dmnFile({ ...parts, rules: two }))).toContain(message);
  });
});

describe("an output", () => {
  it.each<[feel: string, output: unknown]>([
    ['"a"', "a"],
    ["-1.5", -1.5],
    ["true", true],
    ["null", null],
    ["", null],
    ['[1, "a"]', [1, "a"]],
    ['{a: 1, "b c": {d: null}}', { a: 1, "b c": { d: null } }],
    ['date("2026-01-31")', "2026-01-31"],
  ])("%s is read", async (feel, output) => {
    const { rules = [] } = await readParts({ rules: [rule("1", feel)] });
    expect(rules[0]?.output).toEqual(output);
  });

  it("named target is the target, several are an object", async () => {
    const outputs = [{ name: "target" }, { name: "fee" }, { name: "Review Note" }];
    const { rules = [] } = await readParts({
      outputs,
      rules: [{ in: ["1"], out: ['"a"', "5", ""], note: "why" }],
    });
    expect(rules).toEqual([{ condition: "n == 1", target: "a", output: { fee: 5 }, description: "why" }]);
  });

  it.each(["a", "1 + 1", "foo(1)", '"{{ n }}"'])("%s is reported", async (feel) => {
    expect(await problemsOf(dmnFile({ rules: [rule("1", feel)] }))).toHaveLength(1);
  });
});

describe("a model", () => {
  it.each([
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
    "http://www.omg.org/spec/DMN/20180521/MODEL/",
    "https://www.omg.org/spec/DMN/20191111/MODEL/",
    "https://www.omg.org/spec/DMN/20211108/MODEL/",
    "https://www.omg.org/spec/DMN/20230324/MODEL/",
    "https://www.omg.org/spec/DMN/20240513/MODEL/",
  ])("in the namespace %s is read", async (namespace) => {
    expect(await readParts({ namespace, rules: [rule("1")] })).toMatchObject({ id: "dish", name: "Dish" });
  });

  it("is imported without its other decisions, with a warning for each", async () => {
    const more =
      '<decision id="x" name="Sum"><literalExpression><text>1 + 1</text></literalExpression></decision>\n' +
      '<businessKnowledgeModel id="b" name="Helper"/>';
    const tables = await readDmn("t.dmn", dmnFile({ rules: [rule("1")], more }));
    expect(tables.problems.map(({ line, severity, message }) => `${line} ${severity} ${message}`)).toEqual([
      "10 warning the decision `Sum` is not imported: it is a literal expression, not a decision table",
      "11 warning the business knowledge model `Helper` is not imported",
    ]);
    expect((await importTables("t.dmn", tables, { fallbackId: "t" })).definitions).toHaveLength(1);
  });

  it("is not imported at all if one rule of one table cannot be converted, with all problems", async () => {
    const document = dmnFile({ rules: [rule("x"), rule("1"), { in: ["1", "2"], out: ["y"] }] });
    expect(await problemsOf(document)).toEqual([
      "7: rule 1, input `n`: `x` cannot be converted",
      "9: rule 3: it has 2 input entries for 1 inputs",
      "9: rule 3, output `output`: `y` cannot be converted",
    ]);
  });

  it.each<[name: string, change: (document: string) => string, message: string]>([
    [
      "text outside of text",
      (text) => text.replace("<rule>", "<rule>lost"),
      "7: `rule` contains text outside of `<text>`",
    ],
    [
      "a misspelt attribute",
      (text) => text.replace("<rule>", '<rule hitpolicy="FIRST">'),
      "7: unknown attribute `hitpolicy` of `rule`",
    ],
    [
      "another language",
      (text) => text.replace("<inputEntry>", '<inputEntry expressionLanguage="juel">'),
      "7: rule 1, input `n`: the expression language `juel` is not FEEL",
    ],
    [
      "B-FEEL",
      (text) =>
        text.replace(
          ' id="model"',
          ' id="model" expressionLanguage="https://www.omg.org/spec/DMN/20240513/B-FEEL/"',
        ),
      "5: input 1: the expression language `https://www.omg.org/spec/DMN/20240513/B-FEEL/` is not FEEL",
    ],
    [
      "an id twice",
      (text) => text.replace("<rule>", '<rule id="dish">'),
      "1: the model is invalid: duplicate ID <dish>",
    ],
    [
      "imported values",
      (text) => text.replace("<inputEntry>", "<inputEntry><importedValues/>"),
      "7: `importedValues` in `inputEntry` cannot be converted",
    ],
  ])("with %s is refused", async (_name, change, message) => {
    expect(await problemsOf(change(dmnFile({ rules: [rule("1")] })))).toContain(message);
  });
});

describe("an export", () => {
  it.each<[name: string, parts: DmnParts]>([
    ["unique", { rules: [rule("1"), rule("2", '"b"')] }],
    [
      "priority",
      {
        hitPolicy: "PRIORITY",
        outputs: [{ values: '"b", "a"' }],
        rules: [rule("1"), rule("2", '"b"'), rule("> 2")],
      },
    ],
    [
      "output order",
      {
        hitPolicy: "OUTPUT ORDER",
        outputs: [{ values: '"b", "c", "a"' }],
        rules: [rule("1"), rule("2", '"b"')],
      },
    ],
    [
      "output order of several outputs",
      {
        hitPolicy: "OUTPUT ORDER",
        outputs: [
          { name: "x", values: "2, 1" },
          { name: "y", values: "1, 2" },
        ],
        rules: [
          { in: ["1"], out: ["1", "2"] },
          { in: ["> 0"], out: ["2", "2"] },
          { in: ["< 9"], out: ["2", "1"] },
        ],
      },
    ],
    ["count", { hitPolicy: "COLLECT", aggregation: "COUNT", rules: [rule("1", "2")] }],
    [
      "unused columns",
      {
        inputs: ["a", "n"],
        rules: [
          { in: ["-", "1"], out: ['"a"'] },
          { in: ["-", "-"], out: ['"b"'] },
        ],
      },
    ],
    ["dates", { rules: [rule('date("2026-01-31")', 'date("2026-02-01")'), rule("-", 'time("08:00:00")')] }],
    ["notes", { rules: [{ ...rule("1"), note: "why" }, rule("2")] }],
  ])("of a model with %s gives back its definition", async (_name, parts) => {
    const definition = await readParts(parts);
    const exported = await exportTable(definition, "dmn");
    if ("unfit" in exported) throw new Error(JSON.stringify(exported.unfit));
    const again = await read(exported.text);
    expect(again).toEqual(definition);
    expect(await exportTable(again, "dmn")).toEqual(exported);
  });

  const table = (more: Partial<RuleTableDefinition>): RuleTableDefinition => ({
    id: "t",
    type: "rule_table",
    rules: [{ condition: "n == 1", target: "a" }],
    default: { target: "b" },
    ...more,
  });

  it.each<[definition: RuleTableDefinition, message: string]>([
    [
      table({ rules: [{ condition: "n > 1 and n != 2", target: "a" }] }),
      "`n != 2` cannot be written in a column",
    ],
    [
      table({ rules: [{ condition: "matches(n, 'a')", target: "a" }] }),
      "the condition: `matches` cannot be written in FEEL here",
    ],
    [
      table({ rules: [{ condition: "get(context, 'a\"b') == 1", target: "a" }] }),
      'column 1: the path `a"b` cannot be written in FEEL',
    ],
    [
      table({ input: "{{ n + 1 }}", rules: [{ condition: "input == 1", target: "a" }] }),
      "column 1: `input` is not a path",
    ],
    [
      table({
        hit_policy: "priority",
        rules: [
          { condition: "n == 1", target: "a", priority: 1 },
          { condition: "n == 2", target: "b", priority: 2 },
          { condition: "n == 3", target: "a", priority: 3 },
        ],
      }),
      "DMN ranks outputs, and another rule with this output has another priority",
    ],
  ])("reports what DMN cannot express", async (definition, message) => {
    const exported = await exportTable(definition, "dmn");
    expect("unfit" in exported ? exported.unfit.map((each) => each.message) : exported).toEqual([message]);
  });

  it("keeps the input, the version and the effect of errors", async () => {
    const definition = table({
      version: "1.2.0",
      name: "T & U",
      description: "x < y",
      input: "{{ a.b }}",
      on_error: "fail",
      rules: [{ condition: "input == 1 and c == 2", target: "a", label: "A" }],
      hit_policy: "first",
    });
    const exported = await exportTable(definition, "dmn");
    expect(exported).toMatchObject({ text: expect.stringContaining("<dmn:text>a.b</dmn:text>") as string });
    expect(await read("text" in exported ? exported.text : "")).toEqual(definition);
  });
});
