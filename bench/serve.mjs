import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleave, median, medianRatio } from "./measure.mjs";
import { runAside, startServer } from "./servers.mjs";
import { command, decisions, runNode } from "./tool.mjs";

const connections = 16;
const context = { amount: 250, payee: { country: "DE" } };
const decide = {
  path: "/decide",
  body: JSON.stringify({ org_id: "acme", domain: "payments", action: "wire.approve", context }),
};
const dryRun = { path: "/decisions/gate-wire-approve/dry-run", body: JSON.stringify({ context }) };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What a decision over HTTP costs, recorded on the disk, beside a server that decides nothing and keeps nothing. */
export async function measureServe({ rounds, seconds }, directory) {
  const section = {
    name: "serve",
    title: `POST ${decide.path} beside a bare node:http server, ${connections} connections`,
    unit: "per second",
    ratio: "ratio",
  };
  const places = { directory, store: join(directory, "served") };
  try {
    const { samples, contestants, records } = await measureAll(places, { rounds, seconds });
    return { ...section, rows: rowsOf(samples, contestants), failures: faultsOf(contestants, records) };
  } catch (error) {
    const rows = [{ contestant: `POST ${decide.path}`, note: "left out: it failed" }];
    return { ...section, rows, failures: [`POST ${decide.path}: ${error.message.split("\n")[0]}`] };
  }
}

async function measureAll(places, { rounds, seconds }) {
  const serving = [command, "decision", "serve", "--port", "0", "--decisions", decisions];
  const server = await startServer([...serving, "--store", places.store], places);
  const ours = { name: `POST ${decide.path}, recorded on the disk`, server, asked: decide, statuses: {} };
  const dry = { name: "the same as a dry run, not recorded", server, asked: dryRun, statuses: {} };
  let samples, bare;
  try {
    const answer = await ask(ours);
    const other = await startServer([file("bare-server.mjs"), answer], places);
    bare = { name: "bare node:http", server: other, asked: decide, statuses: {} };
    try {
      const load = (each) => loadOf(each, seconds, places);
      await interleave([bare, ours, dry], 1, load);
      samples = await interleave([bare, ours, dry], rounds, load);
    } finally {
      await other.stop();
    }
  } finally {
    await server.stop();
  }
  const verified = runNode([command, "decision", "verify", "--json"], places);
  return { samples, contestants: { ours, dry, bare }, records: JSON.parse(verified).size };
}

/** One question before all others: its answer is what the bare server gives. */
async function ask({ server, asked: { path, body }, statuses }) {
  const headers = { "content-type": "application/json" };
  const response = await globalThis.fetch(server.url + path, { method: "POST", headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`it answers with ${response.status}: ${text}`);
  statuses[response.status] = 1;
  return text;
}

async function loadOf({ server, asked: { path, body }, statuses }, seconds, places) {
  const { port } = new URL(server.url);
  const args = [file("load.mjs"), port, String(connections), String(seconds), path, body];
  const loaded = JSON.parse(await runAside(args, places));
  for (const [status, count] of Object.entries(loaded.statuses))
    statuses[status] = (statuses[status] ?? 0) + count;
  return loaded.per_second;
}

function rowsOf(samples, { ours, dry, bare }) {
  const figureOf = (each) => ({ contestant: each.name, figure: median(samples.get(each)) });
  const ratioOf = (each) => ({
    ratio: medianRatio(samples.get(each), samples.get(bare)),
    note: `÷ ${bare.name}`,
  });
  return [
    figureOf(bare),
    { ...figureOf(dry), ...ratioOf(dry) },
    { ...figureOf(ours), ...ratioOf(ours), target: { least: 0.6 } },
  ];
}

/** Whatever was answered must be a success, and have exactly one record. */
function faultsOf({ ours, dry, bare }, records) {
  const bad = [ours, dry, bare].flatMap(({ name, statuses }) =>
    Object.entries(statuses)
      .filter(([status]) => !status.startsWith("2"))
      .map(([status, count]) => `${name}: answered ${count} times with ${status}`),
  );
  const answers = Object.values(ours.statuses).reduce((sum, count) => sum + count, 0);
  return records === answers ? bad : [...bad, `${ours.name}: ${answers} answers, but ${records} records`];
}
