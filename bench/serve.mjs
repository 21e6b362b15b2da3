import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleave, median, medianRatio } from "./measure.mjs";
import { runAside, startServer } from "./servers.mjs";
import { command, decisions, runNode } from "./tool.mjs";

const connections = 16;
const path = "/decide";
const question = JSON.stringify({
  org_id: "acme",
  domain: "payments",
  action: "wire.approve",
  context: { amount: 250, payee: { country: "DE" } },
});
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What a decision over HTTP costs, recorded on the disk, beside a server that decides nothing and keeps nothing. */
export async function measureServe({ rounds, seconds }, directory) {
  const section = {
    name: "serve",
    title: `POST ${path} beside a bare node:http server, ${connections} connections`,
    unit: "per second",
    ratio: "ratio",
  };
  const places = { directory, store: join(directory, "served") };
  try {
    const { samples, ours, bare, records } = await measureBoth(places, { rounds, seconds });
    return { ...section, rows: rowsOf(samples, ours, bare), failures: faultsOf([ours, bare], records) };
  } catch (error) {
    const rows = [{ contestant: `POST ${path}`, note: "left out: it failed" }];
    return { ...section, rows, failures: [`POST ${path}: ${error.message.split("\n")[0]}`] };
  }
}

async function measureBoth(places, { rounds, seconds }) {
  const serving = [command, "decision", "serve", "--port", "0", "--decisions", decisions];
  const server = await startServer([...serving, "--store", places.store], places);
  const ours = { name: `POST ${path}, recorded on the disk`, server, statuses: {} };
  let samples, bare;
  try {
    const answer = await ask(ours);
    const other = await startServer([file("bare-server.mjs"), answer], places);
    bare = { name: "bare node:http", server: other, statuses: {} };
    try {
      const load = (each) => loadOf(each, seconds, places);
      await interleave([bare, ours], 1, load);
      samples = await interleave([bare, ours], rounds, load);
    } finally {
      await other.stop();
    }
  } finally {
    await server.stop();
  }
  const verified = runNode([command, "decision", "verify", "--json"], places);
  return { samples, ours, bare, records: JSON.parse(verified).size };
}

/** One question before all others: its answer is what the bare server gives. */
async function ask({ server, statuses }) {
  const headers = { "content-type": "application/json" };
  const response = await globalThis.fetch(server.url + path, { method: "POST", headers, body: question });
  const text = await response.text();
  if (!response.ok) throw new Error(`it answers with ${response.status}: ${text}`);
  statuses[response.status] = 1;
  return text;
}

async function loadOf({ server, statuses }, seconds, places) {
  const { port } = new URL(server.url);
  const args = [file("load.mjs"), port, String(connections), String(seconds), path, question];
  const loaded = JSON.parse(await runAside(args, places));
  for (const [status, count] of Object.entries(loaded.statuses))
    statuses[status] = (statuses[status] ?? 0) + count;
  return loaded.per_second;
}

function rowsOf(samples, ours, bare) {
  const figures = [samples.get(ours), samples.get(bare)];
  const ratio = { ratio: medianRatio(...figures), target: { least: 0.6 }, note: `÷ ${bare.name}` };
  return [
    { contestant: bare.name, figure: median(figures[1]) },
    { contestant: ours.name, figure: median(figures[0]), ...ratio },
  ];
}

/** Whatever was answered must be a success, and have exactly one record. */
function faultsOf(contestants, records) {
  const [ours] = contestants;
  const bad = contestants.flatMap(({ name, statuses }) =>
    Object.entries(statuses)
      .filter(([status]) => !status.startsWith("2"))
      .map(([status, count]) => `${name}: answered ${count} times with ${status}`),
  );
  const answers = Object.values(ours.statuses).reduce((sum, count) => sum + count, 0);
  return records === answers ? bad : [...bad, `${ours.name}: ${answers} answers, but ${records} records`];
}
