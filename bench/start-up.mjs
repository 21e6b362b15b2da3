import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { timeProcesses } from "./processes.mjs";
import { command, decisions, runNode } from "./tool.mjs";

/** A file that changed less than 50 ms ago is read, but not cached. */
const settledAfterMilliseconds = 70;

export async function measureStartUp({ rounds }, directory) {
  return {
    name: "start-up",
    title: "Start-up: one process from start to end",
    unit: "ms",
    ratio: "to node -e 0",
    ...(await timeProcesses(contestantsIn(directory), { rounds })),
  };
}

/** Each has a store of its own: what one leaves unsynced, another would have to wait for. */
function contestantsIn(directory) {
  const warm = join(directory, "warm");
  const cold = join(directory, "cold");
  cpSync(decisions, warm, { recursive: true });
  cpSync(decisions, cold, { recursive: true });
  const approved = approvedCopy(directory);
  const starting = (args, store) => () => runNode(args, { directory, store: join(directory, store) });
  const bare = { name: "node -e 0", run: starting(["-e", "0"], "none") };
  const rows = [
    {
      name: "evaluate, warm",
      run: starting(asking("evaluate", warm), "store-of-warm"),
      target: { most: 1.8 },
      note: "with its record on the disk",
    },
    {
      name: "evaluate --durability fast",
      run: starting([...asking("evaluate", warm), "--durability", "fast"], "store-of-fast"),
      note: "without waiting for the disk",
    },
    {
      name: "dry-run",
      run: starting(asking("dry-run", warm), "store-of-dry-run"),
      target: { most: 1.6 },
      note: "without a record",
    },
    {
      name: "evaluate, cold",
      run: starting(asking("evaluate", cold), "store-of-cold"),
      before: changer(join(cold, "escalation.yaml")),
      target: { most: 3.2 },
      note: "its YAML file changed before each run",
    },
    {
      name: "evaluate --require-approval",
      run: starting([...asking("evaluate", approved), "--require-approval"], "store-of-approved"),
      note: "by a signed lock",
    },
    { name: "evaluate, scored", run: starting(loan(warm), "store-of-scored"), note: "three evaluators" },
    { name: "check", run: starting(call(warm), "store-of-check"), note: "whether a tool may be called" },
    { name: "gate", run: starting(transfer(warm), "store-of-gate"), note: "with a schema of the context" },
    { name: "--help", run: starting([command, "--help"], "none"), target: { most: 1.6 } },
    { name: "--version", run: starting([command, "--version"], "none") },
  ];
  return [bare, ...rows.map((row) => ({ ...row, against: bare }))];
}

/** The samples, every one of them approved with a key that is trusted. */
function approvedCopy(directory) {
  const folder = join(directory, "approved");
  cpSync(decisions, folder, { recursive: true });
  const run = (...words) =>
    runNode([command, "decision", ...words], { directory, store: join(directory, "store-of-approved") });
  run("keygen");
  run("config", "set", "trusted_keys", join(directory, "home", "approval-key.pem.pub"));
  run("approve", "--all", "--decisions", folder);
  return folder;
}

function asking(verb, folder) {
  const context = JSON.stringify({ severity: "critical", attempts: 3, quality_score: 0.9 });
  return [command, "decision", verb, "decision-escalation-rules", "--input", context, "--decisions", folder];
}

function loan(folder) {
  const context = { credit: { score: 720, defaults: 0 }, income: { monthly: 3000 }, loan: { rate: 900 } };
  const words = ["decision", "evaluate", "decision-loan-approval", "--input", JSON.stringify(context)];
  return [command, ...words, "--decisions", folder];
}

function call(folder) {
  const context = { session: { query: { audience: "ceo", segment: "enterprise" } } };
  const words = ["decision", "check", "select_metric", "--params", '{"name":"revenue_retention"}'];
  return [
    command,
    ...words,
    "--context",
    JSON.stringify(context),
    "--session-id",
    "s",
    "--decisions",
    folder,
  ];
}

function transfer(folder) {
  const context = { amount: 250, payee: { country: "DE" } };
  const words = ["decision", "gate", "acme/payments/wire.approve", "--input", JSON.stringify(context)];
  return [command, ...words, "--decisions", folder];
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
