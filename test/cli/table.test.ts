import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Ran } from "../acceptance/command.js";
import { temporaryDirectory } from "../acceptance/command.js";
import { dmnFile } from "../tables/dmn-file.js";
import { xlsxParts, zipOf } from "../tables/xlsx-file.js";
import { runInProcess } from "./in-process.js";

const rates = `if:tier,if:amount,then:target,then:label
gold,-,pay,Gold
"silver, bronze",[10..1000],check,Small
`;
const withDefault = `${rates}-,-,review,default\n`;
const model = dmnFile({
  rules: [{ in: ["< 5"], out: ['"a"'] }],
  more: '<decision id="x" name="Sum"><literalExpression><text>1 + 1</text></literalExpression></decision>',
});
const twoTables = dmnFile({ rules: [{ in: ["1"], out: ["1"] }] }).replace(
  /<decision id="dish"[^]*<\/decision>/,
  (decision) => `${decision}\n${decision.replaceAll("dish", "wine").replaceAll('id="table"', 'id="other"')}`,
);
const loan = `decision:
  id: loan
  type: rule_table
  hit_policy: unique
  rules:
    - { condition: "score > 700 and income >= 2000", target: approve }
    - { condition: "score <= 700", target: review, label: Low }
  default: { target: reject }
  guardrails:
    - { type: no_disabled_targets }
`;
const margin = `decision:
  id: margin
  type: switch
  cases:
    - { condition: "price > 100", target: accept }
    - { condition: "price > cost * 2 and a or b", target: wide }
  default: { target: reject }
`;

const computed = `decision:
  id: computed
  type: rule_table
  rules:
    - { condition: "n == 1", output: "{{ amount * 0.1 }}" }
    - { condition: "n == 2", target: "t", output: ["a", { note: "about \${ amount }" }] }
  default: { output: "{{ amount }}" }
`;

interface Place {
  readonly folder: string;
  readonly run: (...words: readonly string[]) => Promise<Ran>;
  readonly read: (file: string) => string;
}

/** A folder with tables and definitions, in which commands run. */
function place(): Place {
  const folder = temporaryDirectory();
  const files: Readonly<Record<string, string | Buffer>> = {
    "rates.csv": rates,
    "full.csv": withDefault,
    "Best Rates 2026.CSV": withDefault,
    "policy.csv": `hit_policy,unique\n${withDefault}`,
    "wrong.csv": `if:a,if:b,then:target\n1,< x,t\n=1,2,t\n-,-\n`,
    "dish.dmn": model,
    "two.dmn": twoTables,
    "wrong.dmn": dmnFile({
      rules: [
        { in: ["a + b"], out: ['"a"'] },
        { in: ["1"], out: ["f(1)"] },
      ],
    }),
    "rates.xlsx": zipOf(
      xlsxParts({
        Notes: [["x"]],
        Rates: [
          ["if:n", "then:target"],
          [1, "a"],
        ],
      }),
    ),
    "formula.xlsx": zipOf(
      xlsxParts({
        A: [
          ["if:n", "then:target"],
          [1, { formula: "A1", value: 2 }],
        ],
      }),
    ),
    "rates.xls": "old",
    notes: "",
    "taken.yaml": "mine",
    "decisions/loan.yaml": loan,
    "decisions/margin.yaml": margin,
    "decisions/computed.yaml": computed,
    "decisions/tools.yaml": "decision: { id: tools, type: policy, tool: x, policies: [] }",
    "decisions/broken.yaml": "decision: { id: broken, type: rule_table }",
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  mkdirSync(join(folder, "folder.csv"));
  symlinkSync("nowhere", join(folder, "link.yaml"));
  return {
    folder,
    run: (...words) => runInProcess(["decision", "table", ...words], { cwd: folder }),
    read: (file) => readFileSync(join(folder, file), "utf8"),
  };
}

describe("table import", () => {
  it("prints a definition, and writes messages to standard error only", async () => {
    const { run } = place();
    const { exitCode, stdout, stderr } = await run("import", "full.csv");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^decision:\n {2}id: full\n {2}type: rule_table\n {2}rules:\n/);
    expect(stdout).toMatch(/ {2}default:\n {4}target: review\n$/);
  });

  it.each<{ words: readonly string[]; shows: readonly (string | RegExp)[] }>([
    { words: ["rates.csv", "--default", "none"], shows: [/default:\n {4}target: none\n$/] },
    { words: ["full.csv", "--id", "prices.v2"], shows: ["  id: prices.v2\n"] },
    { words: ["Best Rates 2026.CSV"], shows: ["  id: Best-Rates-2026\n"] },
    { words: ["full.csv", "--hit-policy", "unique"], shows: ["  hit_policy: unique\n"] },
    { words: ["full.csv", "--hit-policy", "Rule Order"], shows: ["  hit_policy: rule_order\n"] },
    { words: ["policy.csv", "--hit-policy", "unique"], shows: ["  hit_policy: unique\n"] },
    { words: ["dish.dmn", "--id", "menu", "-q"], shows: ["  id: menu\n", "  name: Dish\n", "n < 5"] },
    { words: ["two.dmn"], shows: ["  id: dish\n", "---\ndecision:\n  id: wine\n"] },
    { words: ["rates.xlsx", "--sheet", "Rates", "--default", "b"], shows: ["n == 1", "target: a"] },
  ])("$words", async ({ words, shows }) => {
    const { exitCode, stdout, stderr } = await place().run("import", ...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    for (const text of shows) expect(stdout).toMatch(text);
  });

  it("warns of texts in a column that compares numbers", async () => {
    const { run, folder } = place();
    const texts = ["5-10", "between 5 and 10", "10+", "any", "*", "'n/a'", '"3, 1–2"', "not(all)"];
    const rows = texts.map((text) => `${text},x,t`).join("\n");
    writeFileSync(join(folder, "texts.csv"), `if:n,if:s,then:target\n> 5,y,t\n${rows}\n-,-,d\n`);
    const { exitCode, stdout, stderr } = await run("import", "texts.csv", "--default", "d");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("n == '5-10' and s == 'x'");
    const warning = (line: number, text: string, hint: string): string =>
      `texts.csv:${line}:1  warning  \`if:n\`: \`${text}\` is a text here, and equal to no number\n` +
      `    hint: ${hint}, any value is \`-\`; write '${text}' for this text\n`;
    expect(stderr).toBe(
      [
        warning(3, "5-10", "an interval is `[5..10]`"),
        warning(4, "between 5 and 10", "an interval is `[5..10]`"),
        warning(5, "10+", "this number or more is `>= 10`"),
        warning(6, "any", "an interval is `[5..10]`"),
        warning(7, "*", "an interval is `[5..10]`"),
        warning(9, "1–2", "an interval is `[1..2]`"),
        warning(10, "all", "an interval is `[5..10]`"),
      ].join(""),
    );
    expect((await run("import", "texts.csv", "--default", "d", "-q")).stderr).toBe("");
  });

  it("imports a table with many warnings", async () => {
    const { run, folder } = place();
    writeFileSync(join(folder, "texts.csv"), `if:n,then:target\n[1..5],t\n${"any,t\n".repeat(101)}`);
    const { exitCode, stderr } = await run("import", "texts.csv", "--default", "d");
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/texts\.csv:1:1 {2}warning {2}there are more warnings\n$/);
  });

  it("writes a file and says so, unless it is told to be quiet", async () => {
    const { run, read } = place();
    const printed = await run("import", "full.csv");
    expect(await run("import", "full.csv", "--out", "full.yaml")).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "wrote full.yaml\n",
    });
    expect(read("full.yaml")).toBe(printed.stdout);
    const quiet = await run("import", "full.csv", "--out", "again.yaml", "--quiet");
    expect(quiet).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  it("warns of what it leaves out", async () => {
    const { exitCode, stdout, stderr } = await place().run("import", "dish.dmn");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr:
        "dish.dmn:10:29  warning  the decision `Sum` is not imported: it is a literal expression, not a decision table\n",
    });
    expect(stdout).toContain("id: dish");
  });

  it.each<{ words: readonly string[]; exitCode: number; says: readonly string[] }>([
    {
      words: ["rates.csv"],
      exitCode: 3,
      says: ["rates.csv:3:1  error  the table has no default", "--default TARGET"],
    },
    {
      words: ["wrong.csv", "--default", "d"],
      exitCode: 3,
      says: [
        "wrong.csv:2:2  error  `if:b`",
        "wrong.csv:3:1  error  `if:a`",
        "wrong.csv:4:3  error  the row has 2 cells",
      ],
    },
    {
      words: ["wrong.dmn"],
      exitCode: 3,
      says: [
        "wrong.dmn:7:7  error  rule 1, input `n`: `a + b` cannot be converted",
        "wrong.dmn:8:46  error  rule 2, output",
      ],
    },
    {
      words: ["formula.xlsx", "--default", "d"],
      exitCode: 3,
      says: ["formula.xlsx:2:2  error  the cell `B2` contains a formula"],
    },
    {
      words: ["rates.xlsx", "--sheet", "Rate"],
      exitCode: 3,
      says: ["has no sheet `Rate`", "did you mean `Rates`?"],
    },
    {
      words: ["full.csv", "--default", "x"],
      exitCode: 2,
      says: ["`full.csv` has a default", "remove --default"],
    },
    {
      words: ["policy.csv", "--hit-policy", "first"],
      exitCode: 2,
      says: ["has the hit policy `unique`", "remove --hit-policy"],
    },
    {
      words: ["full.csv", "--hit-policy", "frist"],
      exitCode: 2,
      says: ["--hit-policy: unknown value `frist`", "did you mean `first`?"],
    },
    { words: ["full.csv", "--id", "a b"], exitCode: 2, says: ["invalid id `a b`", "hint: use up to 128"] },
    { words: ["two.dmn", "--id", "a"], exitCode: 2, says: ["has 2 tables, so --id cannot name one"] },
    { words: ["full.csv", "--sheet", "A"], exitCode: 2, says: ["--sheet is for spreadsheets only"] },
    { words: ["full.csv", "--format", "csv"], exitCode: 2, says: ["unknown option `--format`"] },
    { words: ["full.csv", "--out", ""], exitCode: 2, says: ["--out must not be empty"] },
    {
      words: ["full.csv", "--out", "missing/full.yaml"],
      exitCode: 1,
      says: ["cannot write `missing/full.yaml`", "check the path"],
    },
    {
      words: ["missing.csv"],
      exitCode: 2,
      says: ["cannot read `missing.csv`", "hint: check the path"],
    },
    { words: ["folder.csv"], exitCode: 2, says: ["cannot read `folder.csv`", "is a directory"] },
    { words: ["rates.xls"], exitCode: 2, says: ["its name ends in `.xls`", "save an older file as .xlsx"] },
    { words: ["notes"], exitCode: 2, says: ["the name of `notes` does not say what kind of table it is"] },
    {
      words: ["-"],
      exitCode: 2,
      says: ["the name of `-` does not say", "import a .csv, .xlsx or .dmn file"],
    },
    { words: [], exitCode: 2, says: ["missing required argument `file`"] },
  ])("fails: $words", async ({ words, exitCode, says }) => {
    const ran = await place().run("import", ...words);
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode, stdout: "" });
    for (const text of ["error", ...says]) expect(ran.stderr).toContain(text);
  });

  it.each(["taken.yaml", "link.yaml"])("never writes over %s", async (out) => {
    const { run, read, folder } = place();
    // Before it reads a table that cannot be imported.
    for (const file of ["full.csv", "wrong.csv"]) {
      const { exitCode, stdout, stderr } = await run("import", file, "--out", out);
      if (out === "link.yaml" && file === "wrong.csv") continue;
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain(`\`${out}\` already exists`);
    }
    expect(read("taken.yaml")).toBe("mine");
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  it("does not wait for a pipe", async () => {
    const { run, folder } = place();
    spawnSync("mkfifo", [join(folder, "pipe.csv")]);
    const { exitCode, stderr } = await run("import", "pipe.csv");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: "error: `pipe.csv` is not a regular file\nhint: copy it to a file\n",
    });
  });
});

describe("table export", () => {
  const guardrailWarning = "warning: a table has no place for `guardrails`\n";
  const csv = `hit_policy,unique
if:score,if:income,then:target,then:label
> 700,>= 2000,approve,
<= 700,-,review,Low
-,-,reject,default
`;

  it("prints CSV, and warns of what a table has no place for", async () => {
    const { run } = place();
    const broken = expect.stringMatching(
      /^warning: a table .*\nwarning: decisions\/broken\.yaml:1:11 is invalid: /,
    ) as string;
    expect(await run("export", "loan")).toEqual({ exitCode: 0, stdout: csv, stderr: broken });
    expect(await run("export", "loan", "--quiet")).toEqual({ exitCode: 0, stdout: csv, stderr: "" });
  });

  it.each<{ words: readonly string[]; starts: string }>([
    { words: ["--format", "csv"], starts: "hit_policy,unique\n" },
    { words: ["--format", "dmn"], starts: "<?xml" },
    { words: ["--format", "markdown"], starts: "### loan\n" },
    { words: ["--out", "loan.csv"], starts: "hit_policy,unique\n" },
    { words: ["--out", "loan.dmn"], starts: "<?xml" },
    { words: ["--out", "LOAN.MD"], starts: "### loan\n" },
    { words: ["--out", "loan.txt", "--format", "csv"], starts: "hit_policy,unique\n" },
    { words: ["--out", "loan.csv", "--format", "markdown"], starts: "### loan\n" },
  ])("$words", async ({ words, starts }) => {
    const { run, read } = place();
    const { exitCode, stdout } = await run("export", "loan", ...words);
    const out = words[0] === "--out" ? words[1] : undefined;
    expect(exitCode).toBe(0);
    const text = out === undefined ? stdout : read(out);
    expect(text.slice(0, starts.length)).toBe(starts);
    if (out !== undefined) expect(stdout).toBe("");
  });

  it("writes a file that can be imported again", async () => {
    const { run, read } = place();
    expect((await run("export", "loan", "--out", "loan.csv")).stderr).toContain("wrote loan.csv\n");
    expect((await run("import", "loan.csv", "--out", "decisions/again.yaml", "--id", "again")).exitCode).toBe(
      0,
    );
    expect((await run("export", "again", "-q")).stdout).toBe(csv);
    expect(read("loan.csv")).toBe(csv);
  });

  it.each([
    { out: "loan.xlsx", named: ".xlsx" },
    { out: "loan.yaml", named: ".yaml" },
    { out: "loan.foo", named: ".foo" },
    { out: "loan", named: "loan" },
  ])("does not guess the format of $out", async ({ out, named }) => {
    const { run, folder } = place();
    const { exitCode, stdout, stderr } = await run("export", "loan", "--out", out);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toBe(
      `error: cannot tell the format from \`${named}\`\n` +
        "hint: use a name that ends in .csv, .dmn or .md, or add --format csv, dmn or markdown\n",
    );
    expect(existsSync(join(folder, out))).toBe(false);
  });

  it.each<{ words: readonly string[]; exitCode: number; says: readonly string[] }>([
    {
      words: ["margin"],
      exitCode: 3,
      says: [
        "error: `margin` cannot be written as CSV",
        "decisions/margin.yaml:6:20  error  rule `wide`: `price > cost * 2 and a or b` cannot be written in a column",
        "--format markdown",
      ],
    },
    {
      words: ["margin", "--format", "dmn"],
      exitCode: 3,
      says: ["cannot be written as DMN", "decisions/margin.yaml:6:20"],
    },
    {
      words: ["computed", "--format", "dmn"],
      exitCode: 3,
      says: [
        "error: `computed` cannot be written as DMN",
        "decisions/computed.yaml:5:38  error  the output: the template `{{ amount * 0.1 }}` cannot be written in FEEL here",
        "hint: export the table as CSV, or replace the template by a value",
        "decisions/computed.yaml:6:51  error  the output: the template `about ${ amount }` cannot be",
        "decisions/computed.yaml:7:22  error  the output of the default: the template `{{ amount }}` cannot be",
      ],
    },
    { words: ["tools"], exitCode: 3, says: ["a `policy` decision is not a table"] },
    { words: ["broken"], exitCode: 3, says: ["the definition of `broken` is not valid"] },
    { words: ["loann"], exitCode: 2, says: ["no decision called `loann`", "did you mean `loan`?"] },
    {
      words: ["loan", "--format", "dnm"],
      exitCode: 2,
      says: ["unknown format `dnm`", "did you mean `dmn`?"],
    },
    {
      words: ["loan", "--format", "json"],
      exitCode: 2,
      says: ["unknown format `json`", "choose one of csv, dmn, markdown"],
    },
    {
      words: ["loan", "--out", "taken.yaml", "--format", "csv"],
      exitCode: 2,
      says: ["`taken.yaml` already exists", "choose another file"],
    },
    {
      words: ["loan", "--out", "link.yaml", "--format", "csv"],
      exitCode: 2,
      says: ["`link.yaml` already exists"],
    },
    { words: ["loan", "--out", ""], exitCode: 2, says: ["--out must not be empty"] },
    { words: ["loan", "--out", "missing/a.csv"], exitCode: 1, says: ["cannot write `missing/a.csv`"] },
    {
      words: ["loan", "--decisions", "nowhere"],
      exitCode: 2,
      says: ["the directory `nowhere` does not exist"],
    },
    { words: [], exitCode: 2, says: ["missing required argument `id`"] },
  ])("fails: $words", async ({ words, exitCode, says }) => {
    const { run, read, folder } = place();
    const ran = await run("export", ...words);
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode, stdout: "" });
    for (const text of ["error", ...says]) expect(ran.stderr).toContain(text);
    expect(read("taken.yaml")).toBe("mine");
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  it("shows conditions that have no column in markdown", async () => {
    const { exitCode, stdout } = await place().run("export", "margin", "--format", "markdown", "-q");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("| - | `price > cost * 2 and a or b` | wide |");
    expect(stdout).not.toContain(guardrailWarning);
  });
});

describe("table", () => {
  it.each([[[]], [["--help"]]])("with %j shows its commands", async (words) => {
    const { exitCode, stdout } = await place().run(...words);
    expect(exitCode).toBe(0);
    for (const text of ["import", "export", "agent-33 help tables"]) expect(stdout).toContain(text);
  });
});
