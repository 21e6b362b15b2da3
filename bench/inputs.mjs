import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleave, median, medianRatio, millisecondsOf } from "./measure.mjs";
import { escalation } from "./tables.mjs";
import { command, decisions, runNode } from "./tool.mjs";

const sampleSize = 1_000;
const target = { least: 0.35 };

/** Rates of processing: ours is the whole process less that of a run without lines. */
export async function measureInputs({ rounds, lines }, directory) {
  const files = writeFiles(lines, directory);
  const logged = { directory, store: join(directory, "store-of-inputs") };
  const bounds = boundsOf(files, directory);
  const timed = (verb, file) => millisecondsOf(() => answer(verb, file, devNull, logged));
  const dryRun = () => timed("dry-run", files.lines);
  const evaluate = () => {
    rmSync(logged.store, { recursive: true, force: true });
    return timed("evaluate", files.lines);
  };
  const empty = () => timed("dry-run", files.empty);
  const samples = await interleave(
    [bounds.jsonOnly, dryRun, bounds.jsonAndLog, evaluate, empty],
    rounds,
    (run) => run(),
  );
  assertRecorded(lines, logged);

  const lessEmpty = (run) => samples.get(run).map((whole, round) => whole - samples.get(empty)[round]);
  const perSecond = (milliseconds) => (lines * 1000) / median(milliseconds);
  const boundRow = (bound) => ({ figure: perSecond(samples.get(bound)), ratio: 1 });
  const row = (run, bound) => ({
    figure: perSecond(lessEmpty(run)),
    ratio: medianRatio(samples.get(bound), lessEmpty(run)),
    target,
  });
  const recordSize = Math.round(statSync(files.log).size / lines);
  return {
    name: "inputs",
    title: `--inputs: ${lines.toLocaleString("en")} lines for the escalation table`,
    unit: "per second",
    ratio: "to the bound above",
    rows: [
      {
        contestant: "JSON only",
        ...boundRow(bounds.jsonOnly),
        note: "parses each line and writes an answer made before",
      },
      { contestant: "dry-run --inputs", ...row(dryRun, bounds.jsonOnly) },
      {
        contestant: "JSON and a log",
        ...boundRow(bounds.jsonAndLog),
        note: `also chains records of ${recordSize} bytes by SHA-256; fdatasync after 256`,
      },
      { contestant: "evaluate --inputs", ...row(evaluate, bounds.jsonAndLog) },
    ],
    failures: [],
  };
}

function writeFiles(lines, directory) {
  const texts = Array.from({ length: lines }, (_, index) => JSON.stringify(contextAt(index)));
  const write = (name, content) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  return {
    lines: write("lines.jsonl", `${texts.join("\n")}\n`),
    sample: write("sample.jsonl", `${texts.slice(0, sampleSize).join("\n")}\n`),
    empty: write("empty.jsonl", ""),
    answers: join(directory, "answers.jsonl"),
    recordedAnswers: join(directory, "recorded-answers.jsonl"),
    result: join(directory, "milliseconds.txt"),
    log: join(directory, "bound.jsonl"),
  };
}

function contextAt(index) {
  const { contexts } = escalation;
  return { ...contexts[index % contexts.length], quality_score: ((index * 7919) % 1000) / 1000 };
}

/** What the bounds write are real answers and records, of the first lines. */
function boundsOf(files, directory) {
  const store = join(directory, "store-of-sample");
  answer("dry-run", files.sample, files.answers, { directory, store });
  answer("evaluate", files.sample, files.recordedAnswers, { directory, store });
  const records = join(store, "log", "000000000001.jsonl");
  const timed = (script, ...args) => {
    runNode([fileURLToPath(new URL(script, import.meta.url)), ...args], { directory });
    return Number(readFileSync(files.result, "utf8"));
  };
  return {
    jsonOnly: () => timed("json-only.mjs", files.lines, files.answers, devNull, files.result),
    jsonAndLog() {
      rmSync(files.log, { force: true });
      const given = [files.lines, files.recordedAnswers, devNull, files.result];
      return timed("json-and-log.mjs", ...given, records, files.log);
    },
  };
}

function answer(verb, lines, destination, places) {
  const output = openSync(destination, "w");
  const flags = ["--inputs", lines, "--decisions", decisions];
  runNode([command, "decision", verb, escalation.id, ...flags], { ...places, stdout: output });
  closeSync(output);
}

function assertRecorded(lines, places) {
  const { size } = JSON.parse(runNode([command, "decision", "verify", "--json"], places));
  if (size !== lines) throw new Error(`${lines} lines were answered, ${size} recorded`);
}
