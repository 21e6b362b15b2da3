import { write } from "node:fs";
import { systemClock } from "../clock.js";
import { openAuthenticator } from "../serve/auth/open-authenticator.js";
import { openHttpServer } from "../serve/http/http-server.js";
import { LivingWorld } from "../serve/living-world.js";
import type { Change } from "../serve/living-world.js";
import type { WriteBytes } from "../serve/log-lines.js";
import { LogLines } from "../serve/log-lines.js";
import { Metrics } from "../serve/metrics/metrics.js";
import { observedWorld } from "../serve/observed-world.js";
import type { ExitCode } from "./exit-codes.js";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import { listening } from "./listening.js";
import type { ServeOptions } from "./serve-options.js";
import { openServed, warnOfProblems } from "./world.js";

/** How often definitions are looked at. */
const everyMilliseconds = 250;

/** Answers over HTTP until it is told to end; resolves once all that was begun is answered and kept. */
export async function runServer(options: ServeOptions, flags: DecideFlags, io: Io): Promise<ExitCode> {
  const log = new LogLines(toStandardError, { clock: systemClock, quiet: flags.quiet ?? false });
  const served = await openServed(flags, io);
  const sources = { inFlight: () => 0, decisions: () => 0, isStale: () => false };
  const metrics = new Metrics({
    inFlight: () => sources.inFlight(),
    decisions: () => sources.decisions(),
    isStale: () => sources.isStale(),
  });
  const living = await LivingWorld.open({
    open: async () => observedWorld(await served.open(), (result) => metrics.decided(result)),
    stamp: served.stamp,
    keepsSound: !served.mustBeApproved,
    everyMilliseconds,
    onChange: (change) => {
      metrics.reloads.add({ became: change.became });
      tellChange(change, log);
    },
  });
  warnOfProblems(flags, io, living.current.definitions.problems);
  const report = (message: string): void => log.log("warn", message);
  const authenticate = options.tokens && (await openAuthenticator(options.tokens, { report }));
  const server = await openHttpServer({ ...options, mcp: undefined, living, authenticate, metrics, log });
  Object.assign(sources, {
    inFlight: server.inFlight,
    decisions: () => living.current.definitions.ids.length,
    isStale: () => living.refused !== undefined,
  });
  const told = untilTold(() => void living.reload());
  const { port } = await listening(server, options);
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  log.say(`listening on http://${host}:${port}`);
  if (authenticate === undefined) {
    log.say("no tokens are asked for, so it listens to this machine alone; give --jwks to let others ask");
  }
  const signal = await told;
  log.log("info", "ending", { signal });
  await server.drain(options.grace);
  await living.stop();
  await living.current.close();
  await log.flush();
  return signal === "SIGINT" ? 130 : 0;
}

const endings = ["SIGTERM", "SIGINT"] as const;

/** The first time it is asked to end; the second time it ends at once, by whichever signal. */
function untilTold(reload: () => void): Promise<(typeof endings)[number]> {
  process.on("SIGHUP", reload);
  return new Promise((resolve) => {
    const end = (name: NodeJS.Signals): void => {
      for (const each of endings) process.removeListener(each, end);
      resolve(name as (typeof endings)[number]);
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

const standardError = 2;

/** Without waiting for whoever reads it; where that is nobody, it is lost. */
const toStandardError: WriteBytes = (bytes, done) => {
  write(standardError, bytes, (error, written) => {
    if (error?.code === "EAGAIN") setTimeout(() => toStandardError(bytes, done), 5);
    else if (error !== null || written >= bytes.length) done(error);
    else toStandardError(bytes.subarray(written), done);
  });
};
