import { statSync } from "node:fs";
import { busy, cached, quiet, rare, requestAt, scoreAt } from "./long-log-decisions.mjs";
import { handful, makeStores, removeIndex, segmentsOf } from "./long-log-stores.mjs";
import { timeProcesses } from "./processes.mjs";
import { command, run, runNode } from "./tool.mjs";

/** From here on a log is long enough for the time of reading it to be more than that of starting. */
const enough = 1_000_000;
const listed = 20;

/** What a log and a cache of so many entries cost those who use them. */
export async function measureLongLog({ records, rounds, readings }, directory) {
  const stores = makeStores(records, directory);
  const files = segmentsOf(stores.long);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const measured = [
    await timeProcesses(evaluations(stores), { rounds }),
    await timeProcesses(hits(stores), { rounds }),
    await timeProcesses(questions(stores), { rounds }),
    await timeProcesses(wholeReadings(stores, records, files), { rounds: readings }),
  ];
  const count = records.toLocaleString("en");
  return {
    name: "long-log",
    title: `A log of ${count} records (${Math.round(bytes / 1e6)} MB), a cache of ${count} answers`,
    unit: "ms",
    ratio: "ratio",
    rows: measured.flatMap(({ rows }) => rows),
    failures: measured.flatMap(({ failures }) => failures),
  };
}

function evaluations({ long, short }) {
  const asked = [quiet[0].id, scoreAt(1)];
  const few = { name: `evaluate, a log of ${handful} records`, run: () => evaluate(short, ...asked) };
  const many = { name: "evaluate, the long log", run: () => evaluate(long, ...asked) };
  return [few, { ...many, against: few, target: { most: 1.1 }, note: `÷ ${few.name}` }];
}

function hits({ manyAnswers, fewAnswers }) {
  const hit = (places) => ({
    run: () => evaluate(places, cached.id, scoreAt(0)),
    check: (output) => JSON.parse(output).cached,
  });
  const few = { name: `cache hit, ${handful} answers`, ...hit(fewAnswers) };
  const many = { name: "cache hit, the large cache", ...hit(manyAnswers) };
  return [few, { ...many, against: few, target: { most: 1.1 }, note: `÷ ${few.name}` }];
}

/** The index is there and, but for the row that says otherwise, up to date. */
function questions({ long }) {
  const bare = { name: "node -e 0", run: () => runNode(["-e", "0"], long) };
  const rows = [
    { ...distribution(long), name: "distribution, warm", target: { most: 1.6 } },
    {
      ...distribution(long),
      name: "distribution, one record later",
      before() {
        evaluate(long, busy.id, requestAt(0).context);
        long.busy++;
      },
    },
    { ...newest(long, rare.id), name: `log of the rare decision, ${listed}`, target: { most: 2 } },
    { ...newest(long, busy.id), name: `log of the busy decision, ${listed}`, target: { most: 2 } },
    { name: "explain latest", run: () => tool(long, "explain", "latest", "--json") },
  ];
  return [bare, ...rows.map((row) => ({ ...row, against: bare, note: "÷ node -e 0" }))];
}

function wholeReadings({ long }, records, files) {
  const lines = { name: "wc -l", run: () => run("wc", ["-l", ...files], long) };
  const sums = { name: "sha256sum", run: () => run("sha256sum", files, long) };
  const cold = {
    ...distribution(long),
    name: "distribution, cold",
    before: () => removeIndex(long),
    against: lines,
    note: "÷ wc -l; the index removed before each run",
    ...(records >= enough && { target: { most: 10 } }),
  };
  const verify = { name: "verify", run: () => tool(long, "verify"), against: sums, note: "÷ sha256sum" };
  return [lines, cold, sums, verify];
}

function distribution(places) {
  return {
    run: () => tool(places, "distribution", busy.id, "--json", "--decisions", places.decisions),
    check: (output) => JSON.parse(output).total === places.busy,
  };
}

function newest(places, id) {
  return {
    run: () => tool(places, "log", "--decision-id", id, "--limit", String(listed)),
    check(output) {
      const lines = output.trimEnd().split("\n");
      return lines.length === listed && lines.every((line) => JSON.parse(line).decision_id === id);
    },
  };
}

function evaluate(places, id, context) {
  const flags = ["--input", JSON.stringify(context), "--json", "--decisions", places.decisions];
  return tool(places, "evaluate", id, ...flags);
}

function tool(places, ...args) {
  return runNode([command, "decision", ...args], places);
}
