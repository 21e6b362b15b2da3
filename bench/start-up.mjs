import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { interleave, median, medianRatio, millisecondsOf } from "./measure.mjs";
import { command, decisions, runNode } from "./tool.mjs";

/** A file that changed less than 50 ms ago is read, but not cached. */
const settledAfterMilliseconds = 70;
const warmUps = 2;

export async function measureStartUp({ rounds }, directory) {
  const contestants = contestantsIn(directory);
  const measure = ({ args, before }) => {
    before?.();
    return millisecondsOf(() => runNode(args, directory));
  };
  await interleave(contestants, warmUps, measure);
  const samples = await interleave(contestants, rounds, measure);
  const bare = samples.get(contestants[0]);
  return {
    name: "start-up",
    title: "Start-up: one process from start to end",
    unit: "ms",
    ratio: "to node -e 0",
    rows: contestants.map((contestant) => ({
      contestant: contestant.name,
      figure: median(samples.get(contestant)),
      ratio: medianRatio(samples.get(contestant), bare),
      target: contestant.target,
      note: contestant.note,
    })),
    failures: [],
  };
}

function contestantsIn(directory) {
  const warm = join(directory, "warm");
  const cold = join(directory, "cold");
  cpSync(decisions, warm, { recursive: true });
  cpSync(decisions, cold, { recursive: true });
  return [
    { name: "node -e 0", args: ["-e", "0"] },
    { name: "evaluate, warm", args: evaluateIn(warm), target: { most: 1.6 } },
    {
      name: "evaluate, cold",
      args: evaluateIn(cold),
      before: changer(join(cold, "escalation.yaml")),
      target: { most: 3.2 },
      note: "its YAML file changed before each run",
    },
    { name: "--help", args: [command, "--help"], target: { most: 1.6 } },
    { name: "--version", args: [command, "--version"] },
  ];
}

function evaluateIn(folder) {
  const context = JSON.stringify({ severity: "critical", attempts: 3, quality_score: 0.9 });
  const flags = ["--input", context, "--decisions", folder];
  return [command, "decision", "evaluate", "decision-escalation-rules", ...flags];
}

function changer(file) {
  const text = readFileSync(file, "utf8");
  let changes = 0;
  return () => {
    writeFileSync(file, `${text}# change ${++changes}\n`);
    pause(settledAfterMilliseconds);
  };
}

function pause(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
