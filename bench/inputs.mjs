import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleave, median, medianRatio, millisecondsOf } from "./measure.mjs";
import { escalation } from "./tables.mjs";
import { command, decisions, runNode } from "./tool.mjs";

const jsonOnly = fileURLToPath(new URL("json-only.mjs", import.meta.url));
const sampleSize = 1_000;

/** Both sides as rates of processing: ours is the whole process less that of a run without lines. */
export async function measureInputs({ rounds, lines }, directory) {
  const files = writeFiles(lines, directory);
  answer(files.sample, files.answers, directory);
  const bound = () => runJsonOnly(files, directory);
  const ours = () => millisecondsOf(() => answer(files.lines, devNull, directory));
  const empty = () => millisecondsOf(() => answer(files.empty, devNull, directory));
  const samples = await interleave([bound, ours, empty], rounds, (run) => run());

  const boundTook = samples.get(bound);
  const oursTook = samples.get(ours).map((whole, round) => whole - samples.get(empty)[round]);
  const perSecond = (milliseconds) => (lines * 1000) / median(milliseconds);
  return {
    name: "inputs",
    title: `--inputs: ${lines.toLocaleString("en")} lines for the escalation table`,
    unit: "per second",
    ratio: "to JSON only",
    rows: [
      {
        contestant: "JSON only",
        figure: perSecond(boundTook),
        ratio: 1,
        note: "parses each line and writes an answer made before",
      },
      {
        contestant: "agent-33 --inputs",
        figure: perSecond(oursTook),
        ratio: medianRatio(boundTook, oursTook),
        target: { least: 0.35 },
      },
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
    result: join(directory, "milliseconds.txt"),
  };
}

function contextAt(index) {
  const { contexts } = escalation;
  return { ...contexts[index % contexts.length], quality_score: ((index * 7919) % 1000) / 1000 };
}

function answer(lines, destination, directory) {
  const flags = ["--inputs", lines, "--decisions", decisions];
  const output = openSync(destination, "w");
  runNode([command, "decision", "evaluate", escalation.id, ...flags], directory, output);
  closeSync(output);
}

function runJsonOnly({ lines, answers, result }, directory) {
  runNode([jsonOnly, lines, answers, devNull, result], directory);
  return Number(readFileSync(result, "utf8"));
}
