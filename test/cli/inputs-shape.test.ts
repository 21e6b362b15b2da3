import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workplace } from "./workspace.js";

const place = workplace();
const words = ["dry-run", "decision-quality-gate", "--inputs", "-", "--format", "target"];
const good = '{"artifact":{"quality_score":0.9}}';

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
const one = { artifact: { quality_score: 0.9 } };

describe("--inputs", () => {
  it.each([
    ["a JSON array", pretty([one, one]), "jq -c '.[]'"],
    ["a JSON array", JSON.stringify([one, one]), "jq -c '.[]'"],
    ["a JSON array", `\ufeff[ {\n${good.slice(1)}\n]`, "jq -c '.[]'"],
    ["JSON over several lines", pretty(one), "jq -c ."],
    ["JSON over several lines", `${pretty(one)}\n${pretty(one)}`, "jq -c ."],
    ["JSON over several lines", '{ "artifact":\n{ "quality_score": 0.9 }\n}', "jq -c ."],
    ["CSV", "id,score\n1,0.5\n2,0.7\n", "mlr --icsv --ojsonl cat"],
    ["CSV", "id;score\n1;0,5\n", "mlr --icsv --ojsonl --ifs ';' cat"],
    ["CSV", "id\tscore\n1\t0.5\n", "mlr --icsv --ojsonl --ifs tab cat"],
    ["CSV", "id,score\n", "mlr --icsv --ojsonl cat"],
    ["UTF-16 text", Buffer.from(`\ufeff${good}\n`, "utf16le"), "iconv -f UTF-16 -t UTF-8"],
  ])("reports %s once, with the fix: %j", async (name, stdin, fix) => {
    expect(await place.run(words, { stdin })).toEqual({
      code: 2,
      out: "",
      err: `error: standard input is ${name}, but --inputs needs one JSON object per line\nhint: convert it first, for example with \`${fix}\`\n`,
    });
  });

  it("takes a path without the sign that --input needs", async () => {
    const { code, err } = await place.run(["dry-run", "decision-quality-gate", "--inputs", "@in.jsonl"]);
    expect(code).toBe(2);
    expect(err).toContain("--inputs takes a path without `@`: use --inputs in.jsonl");
  });

  it.each([
    ["an incomplete first line", `{"artifact":{"quality_score":0.9}\n${good}`, "\nstage-deploy\n"],
    ["a first line of another kind", `hello\n${good}`, "\nstage-deploy\n"],
    ["a first line with commas", `hello, world\n${good}`, "\nstage-deploy\n"],
    ["a first line that is a list", `[1, 2]\n${good}`, "\nstage-deploy\n"],
    ["a stray bracket later", `${good}\n}\n${good}`, "stage-deploy\n\nstage-deploy\n"],
  ])("reports single bad lines on their own: %s", async (_, stdin, out) => {
    expect(await place.run(words, { stdin })).toMatchObject({ code: 1, out });
  });
});

describe("--input", () => {
  it.each([
    {
      name: "UTF-16",
      bytes: Buffer.from(`\ufeff${good}`, "utf16le"),
      hint: "it is UTF-16: save it as UTF-8, or use `iconv -f UTF-16 -t UTF-8`",
    },
    { name: "Latin-1", bytes: Buffer.from('{"name": "\u00e9"}', "latin1"), hint: "save it as UTF-8" },
  ])("is refused as $name", async ({ bytes, hint }) => {
    const stdin = { code: 2, out: "", err: `error: standard input is not UTF-8 text\nhint: ${hint}\n` };
    const ask = ["dry-run", "decision-quality-gate", "--input"];
    expect(await place.run([...ask, "-"], { stdin: bytes })).toEqual(stdin);
    const path = join(place.root, "input.json");
    writeFileSync(path, bytes);
    const file = { ...stdin, err: stdin.err.replace("standard input", `\`${path}\``) };
    expect(await place.run([...ask, `@${path}`])).toEqual(file);
  });

  it("has the line and column of a mistake in a file", async () => {
    const path = join(place.root, "broken.json");
    writeFileSync(path, '{\n  "artifact": {\n    "scores": [1, 2,]\n  }\n}\n');
    expect(await place.run(["dry-run", "decision-quality-gate", "--input", `@${path}`])).toEqual({
      code: 2,
      out: "",
      err: `error: \`${path}\` is not valid JSON: unexpected \`]\` after \`,\` (line 3, column 21)\nhint: remove the \`,\` before it\n`,
    });
  });
});
