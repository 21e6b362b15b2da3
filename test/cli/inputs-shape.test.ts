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
  ])("reports %s once, with the fix: %j", async (name, stdin, fix) => {
    expect(await place.run(words, { stdin })).toEqual({
      code: 2,
      out: "",
      err: `error: standard input is ${name}, but --inputs needs one JSON object per line\nhint: convert it first, for example with \`${fix}\`\n`,
    });
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
