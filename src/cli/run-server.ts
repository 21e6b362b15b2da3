import { openAuthenticator } from "../serve/auth/open-authenticator.js";
import type { HttpServer } from "../serve/http/http-server.js";
import { openHttpServer } from "../serve/http/http-server.js";
import type { LivingWorld } from "../serve/living-world.js";
import type { LogLines } from "../serve/log-lines.js";
import type { McpHttp } from "../serve/mcp/http.js";
import { Metrics } from "../serve/metrics/metrics.js";
import { version } from "../version.js";
import type { ExitCode } from "./exit-codes.js";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import { listening } from "./listening.js";
import { openLiving } from "./open-living.js";
import type { ServeOptions } from "./serve-options.js";
import { logLines } from "./standard-error.js";

/** How long the end waits for whoever reads the log. */
const patience = 1_000;

/** Answers over HTTP until it is told to end; resolves once all that was begun is answered and kept. */
export async function runServer(options: ServeOptions, flags: DecideFlags, io: Io): Promise<ExitCode> {
  const log = logLines(flags.quiet ?? false);
  const report = (message: string): void => log.log("warn", message);
  const authenticate = options.tokens && (await openAuthenticator(options.tokens, { report }));
  const metrics: Metrics = new Metrics({
    inFlight: () => server.inFlight(),
    decisions: () => living.current.definitions.ids.length,
    isStale: () => living.refused !== undefined,
  });
  const living: LivingWorld = await openLiving(flags, io, {
    log,
    onChange: ({ became }) => metrics.reloads.add({ became }),
    onDecided: (result) => metrics.decided(result),
  });
  const mcp = options.mcp ? await openMcp(living, log) : undefined;
  const parts = { living, authenticate, metrics, log, mcp: mcp?.handle };
  const server: HttpServer = await openHttpServer({ ...options, ...parts });
  try {
    const signal = await answering({ server, mcp, living }, options, log);
    return signal === "SIGINT" ? 130 : 0;
  } finally {
    await living.stop();
    await living.current.close();
    await log.flush(patience);
  }
}

interface Doors {
  readonly server: HttpServer;
  readonly mcp: McpHttp | undefined;
  readonly living: LivingWorld;
}

async function answering(
  { server, mcp, living }: Doors,
  options: ServeOptions,
  log: LogLines,
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
  await Promise.all([mcp?.close(), server.drain(options.grace)]);
  process.removeListener("SIGHUP", reload);
  return signal;
}

/** The door within the door: the SDK is loaded where it is wanted. */
async function openMcp(living: LivingWorld, log: LogLines): Promise<McpHttp> {
  const { mcpHttp } = await import("../serve/mcp/http.js");
  return mcpHttp({
    world: () => living.current,
    subscribe: living.subscribe,
    log: ({ level, ...entry }) => log.log(level, "mcp", entry),
    version,
  });
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
