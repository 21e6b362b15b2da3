import { systemClock } from "../clock.js";
import { openAuthenticator } from "../serve/auth/open-authenticator.js";
import type { HttpServer } from "../serve/http/http-server.js";
import { openHttpServer } from "../serve/http/http-server.js";
import { LivingWorld } from "../serve/living-world.js";
import type { Change } from "../serve/living-world.js";
import { LogLines } from "../serve/log-lines.js";
import { Metrics } from "../serve/metrics/metrics.js";
import { observedWorld } from "../serve/observed-world.js";
import type { ExitCode } from "./exit-codes.js";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import { listening } from "./listening.js";
import type { ServeOptions } from "./serve-options.js";
import { toStandardError } from "./standard-error.js";
import type { Served } from "./world.js";
import { openServed, warnOfProblems } from "./world.js";

/** How often definitions are looked at. */
const everyMilliseconds = 250;

/** How long the end waits for whoever reads the log. */
const patience = 1_000;

/** Answers over HTTP until it is told to end; resolves once all that was begun is answered and kept. */
export async function runServer(options: ServeOptions, flags: DecideFlags, io: Io): Promise<ExitCode> {
  const log = new LogLines(toStandardError(), { clock: systemClock, quiet: flags.quiet ?? false });
  const report = (message: string): void => log.log("warn", message);
  const authenticate = options.tokens && (await openAuthenticator(options.tokens, { report }));
  const served = await openServed(flags, io);
  try {
    const metrics: Metrics = new Metrics({
      inFlight: () => server.inFlight(),
      decisions: () => living.current.definitions.ids.length,
      isStale: () => living.refused !== undefined,
    });
    const living = await openLiving(served, metrics, log);
    warnOfProblems(flags, io, living.current.definitions.problems);
    const server = await openHttpServer({ ...options, mcp: undefined, living, authenticate, metrics, log });
    const signal = await answering(server, living, { options, log });
    return signal === "SIGINT" ? 130 : 0;
  } finally {
    await served.records.store.close();
    await log.flush(patience);
  }
}

function openLiving(served: Served, metrics: Metrics, log: LogLines): Promise<LivingWorld> {
  return LivingWorld.open({
    open: async () => observedWorld(await served.open(), (result) => metrics.decided(result)),
    stamp: served.stamp,
    keepsSound: !served.mustBeApproved,
    everyMilliseconds,
    onChange: (change) => {
      metrics.reloads.add({ became: change.became });
      tellChange(change, log);
    },
  });
}

interface Answering {
  readonly options: ServeOptions;
  readonly log: LogLines;
}

async function answering(
  server: HttpServer,
  living: LivingWorld,
  { options, log }: Answering,
): Promise<Ending> {
  const { port } = await listening(server, options);
  const reload = (): void => void living.reload();
  process.on("SIGHUP", reload);
  const told = untilTold();
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  log.say(`listening on http://${host}:${port}`);
  if (options.tokens === undefined) {
    log.say("no tokens are asked for, so it listens to this machine alone; give --jwks to let others ask");
  }
  const signal = await told;
  log.log("info", "ending", { signal });
  await server.drain(options.grace);
  await living.stop();
  process.removeListener("SIGHUP", reload);
  return signal;
}

const endings = ["SIGTERM", "SIGINT"] as const;
type Ending = (typeof endings)[number];

/** The first time it is asked to end; the second time it ends at once, by whichever signal. */
function untilTold(): Promise<Ending> {
  return new Promise((resolve) => {
    const end = (name: NodeJS.Signals): void => {
      for (const each of endings) process.removeListener(each, end);
      resolve(name as Ending);
    };
    for (const each of endings) process.on(each, end);
  });
}

function tellChange(change: Change, log: LogLines): void {
  if (change.became === "current") {
    log.log("info", "definitions taken up", {
      decisions: change.decisions,
      problems: change.problems.length,
    });
    return;
  }
  const problems = change.problems.map(
    ({ file, line, column, message }) => `${file}:${line}:${column} ${message}`,
  );
  log.log("error", `a change of the definitions is not taken up: ${change.reason}`, { problems });
}
