import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { segmentsOf } from "./long-log-stores.mjs";
import { interleave, median, medianRatio, millisecondsOf } from "./measure.mjs";
import { routing, scored } from "./replay-requests.mjs";
import { command, decisions, run, runNode } from "./tool.mjs";

const target = { least: 0.3 };

/** Asking recorded questions again, beside parsing the same lines; rates are of whole processes less starting one. */
export async function measureReplay({ records, rounds }, directory) {
  const rows = [];
  for (const [kind, id] of [
    ["routing", routing],
    ["mixed", scored],
  ])
    rows.push(...(await measureLog({ kind, id, records, rounds }, directory)));
  return {
    name: "replay",
    title: `Replaying logs of ${records.toLocaleString("en")} records`,
    unit: "per second",
    ratio: "to parsing them",
    rows,
    failures: [],
  };
}

async function measureLog({ kind, id, records, rounds }, directory) {
  const store = join(directory, `store-of-${kind}-replay`);
  const script = fileURLToPath(new URL("grow-replayed-log.mjs", import.meta.url));
  const places = { directory, store };
  runNode([script, kind, store, String(records)], { directory, stderr: "inherit" });
  // What is still on its way to the disk would get in the way of what is measured.
  run("sync", [], { directory });

  const pairs = [
    { name: `replay --all, ${kind}`, args: ["replay", "--all"], lines: parsing(places, "") },
    {
      name: `backtest ${id}, ${kind}`,
      args: ["backtest", id, "--decisions", decisions],
      lines: parsing(places, id),
    },
  ].map((pair) => ({ ...pair, again: () => millisecondsOf(() => tool(places, pair.args)) }));
  for (const { args, lines } of pairs) assertSame(tool(places, args), lines().parsed);

  const nothing = { directory, store: join(directory, "store-of-nothing") };
  const empty = () => millisecondsOf(() => tool(nothing, pairs[0].args));
  const parsed = new Map(pairs.map(({ lines }) => [lines, () => lines().milliseconds]));
  const all = [...pairs.map(({ again }) => again), ...parsed.values(), empty];
  const samples = await interleave(all, rounds, (each) => each());
  return pairs.flatMap(({ name, lines, again }) => {
    const bound = samples.get(parsed.get(lines));
    const ours = samples.get(again).map((whole, round) => whole - samples.get(empty)[round]);
    const count = lines().parsed;
    const perSecond = (milliseconds) => (count * 1000) / median(milliseconds);
    return [
      {
        contestant: `JSON.parse of ${count.toLocaleString("en")} lines, ${kind}`,
        figure: perSecond(bound),
        ratio: 1,
      },
      { contestant: name, figure: perSecond(ours), ratio: medianRatio(bound, ours), target },
    ];
  });
}

/** Reading the same log, and parsing every line of it or those of one decision. */
function parsing(places, id) {
  const script = fileURLToPath(new URL("parse-log.mjs", import.meta.url));
  const result = join(places.directory, "parsed.json");
  return () => {
    runNode([script, result, id, ...segmentsOf(places)], places);
    return JSON.parse(readFileSync(result, "utf8"));
  };
}

const tool = (places, args) => JSON.parse(runNode([command, "decision", ...args, "--json"], places));

function assertSame({ total, not_replayable, mismatched = 0, changed = 0 }, count) {
  if (total === count && not_replayable + mismatched + changed === 0) return;
  throw new Error(`of ${count} records, ${total} were asked again and did not all come to the same`);
}
