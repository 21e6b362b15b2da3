import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { run, samples, temporaryDirectory } from "../acceptance/command.js";
import type { Exchange, Phase } from "./soaking/accounts.js";
import { exchangeOf, faultsOfLog } from "./soaking/accounts.js";
import type { Places, Rest } from "./soaking/disturbances.js";
import { changeDefinitions, decideByCommand, resting } from "./soaking/disturbances.js";
import { keptRecords } from "./soaking/kept-records.js";
import { RawConnection } from "./soaking/raw-connection.js";
import { requestMix } from "./soaking/request-mix.js";
import type { Watched } from "./soaking/resident-memory.js";
import { halves, watchMetrics } from "./soaking/resident-memory.js";
import type { Ended } from "./soaking/served-process.js";
import { ServedProcess } from "./soaking/served-process.js";

export interface SoakOptions {
  readonly seconds: number;
  readonly connections: number;
  /** Between an answer and the next request of a connection, in milliseconds. */
  readonly pause: number;
}

export interface SoakReport {
  /** Problems found. */
  readonly faults: readonly string[];
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** How the server ended: first by a shutdown, then killed. */
  readonly ended: readonly Ended[];
  readonly reloads: Watched["reloads"];
  /** The median memory in megabytes of the earlier and the later half, before the shutdown. */
  readonly memory: readonly [number, number];
  readonly records: number;
  readonly verified: number | undefined;
}

/**
 * Many connections send valid and invalid requests while the definitions change and a command writes to the
 * store. After three fifths of the time the server is shut down and restarted; at the end it is killed.
 */
export async function soak({ seconds, connections, pause: between }: SoakOptions): Promise<SoakReport> {
  const places = prepared();
  const served: Served = { life: { phase: "ending", port: 0 } };
  const [firstLife, all] = [resting(), resting()];

  const first = await begin(served, places);
  const watching = watchMetrics(first.port, firstLife.rest);
  const changing = changeDefinitions(places, firstLife.rest);
  const commanding = decideByCommand(places, all.rest);
  const asking = Array.from({ length: connections }, (_, index) => askOn(index, served, { ...all, between }));
  await pause(seconds * 600);
  firstLife.end();
  const [{ samples: memory, reloads }] = await Promise.all([watching, changing]);
  const stopped = await end(first, served, "SIGTERM");
  const second = await begin(served, places);
  await pause(seconds * 400);
  const killed = await end(second, served, "SIGKILL");
  all.end();

  const exchanges = (await Promise.all(asking)).flat();
  const byCommand = await commanding;
  const kept = await keptRecords(places.store);
  const { exitCode } = await run(["decision", "verify", "--store", places.store]);
  return {
    faults: [
      ...[first, second].flatMap(({ complaints }) => complaints),
      ...exchanges.flatMap(({ fault }) => fault ?? []),
      ...faultsOfLog(exchanges, kept, byCommand),
    ],
    statuses: counted(exchanges),
    ended: [stopped, killed],
    reloads,
    memory: halves(memory),
    records: kept.length,
    verified: exitCode,
  };
}

/** One run of the server. */
interface Life {
  phase: Phase;
  readonly port: number;
}

interface Served {
  life: Life;
}

async function begin(served: Served, { decisions, store }: Places): Promise<ServedProcess> {
  const words = ["--port", String(served.life.port), "--decisions", decisions, "--store", store];
  const server = await ServedProcess.start(words);
  served.life = { phase: "serving", port: server.port };
  return server;
}

function end(server: ServedProcess, { life }: Served, signal: "SIGTERM" | "SIGKILL"): Promise<Ended> {
  life.phase = signal === "SIGTERM" ? "ending" : "killed";
  return server.end(signal);
}

function counted(exchanges: readonly Exchange[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of exchanges) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function prepared(): Places {
  const home = temporaryDirectory();
  const places = { decisions: join(home, "decisions"), store: join(home, "store") };
  cpSync(samples, places.decisions, { recursive: true });
  return places;
}

/** One connection, reopened whenever it closes. */
async function askOn(
  index: number,
  served: Served,
  { rest, between }: { readonly rest: Rest; readonly between: number },
): Promise<Exchange[]> {
  const connection = new RawConnection(() => served.life.port);
  const exchanges: Exchange[] = [];
  let recordId: string | undefined;
  for (let turn = 0; await rest(between); turn++) {
    const { life } = served;
    const asked = requestMix[(index + turn) % requestMix.length]!;
    const correlationId = `soak-${index}-${turn}`;
    const heard = await connection.ask(asked.request({ turn, recordId }), correlationId);
    if (heard === "refused") {
      if (life.phase === "serving") throw new Error("the server is there and takes no connections");
      await rest(20);
      continue;
    }
    const exchange = exchangeOf(asked, heard, { correlationId, phase: life.phase });
    exchanges.push(exchange);
    recordId = exchange.records[0] ?? recordId;
  }
  connection.end();
  return exchanges;
}
