import type { AddressInfo } from "node:net";
import type { ExitCode } from "./exit-codes.js";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import { openReloadingWorld, openServerLog } from "./server-world.js";
import type { ServeOptions } from "./commands/serve.js";
import { DecisionError } from "../errors.js";
import { openAuthenticator } from "../serve/auth/open-authenticator.js";
import type { HttpServer } from "../serve/http/http-server.js";
import { openHttpServer } from "../serve/http/http-server.js";
import type { ReloadingWorld } from "../serve/reloading-world.js";
import type { LogWriter } from "../serve/log-writer.js";
import type { McpHttp } from "../serve/mcp/http.js";
import { Metrics } from "../serve/metrics.js";
import { version } from "../version.js";

/** How long the end waits for whoever reads the log. */
const logFlushTimeout = 1_000;

/** Answers over HTTP until it is told to end; resolves once all that was begun is answered and kept. */
export async function runServer(options: ServeOptions, flags: DecideFlags, io: Io): Promise<ExitCode> {
  const log = openServerLog(flags.quiet ?? false);
  const report = (message: string): void => log.log("warn", message);
  const authenticate = options.tokens && (await openAuthenticator(options.tokens, { report }));
  const metrics: Metrics = new Metrics({
    inFlight: () => server.inFlight(),
    decisions: () => living.current.definitions.ids.length,
    isStale: () => living.rejected !== undefined,
  });
  const living: ReloadingWorld = await openReloadingWorld(flags, io, {
    log,
    onChange: (outcome) => metrics.countReload(outcome),
    onDecided: (result) => metrics.countDecision(result),
  });
  const mcp = options.mcp ? await openMcp(living, log) : undefined;
  const parts = { reloadingWorld: living, authenticate, metrics, log, mcp: mcp?.handle };
  const server: HttpServer = await openHttpServer({ ...options, ...parts });
  try {
    const signal = await serveUntilSignal({ server, mcp, living }, options, log);
    return signal === "SIGINT" ? 130 : 0;
  } finally {
    await living.stop();
    await living.current.close();
    await log.flush(logFlushTimeout);
  }
}

interface RunningServer {
  readonly server: HttpServer;
  readonly mcp: McpHttp | undefined;
  readonly living: ReloadingWorld;
}

async function serveUntilSignal(
  { server, mcp, living }: RunningServer,
  options: ServeOptions,
  log: LogWriter,
): Promise<StopSignal> {
  const { port } = await listening(server, options);
  const reload = (): void => void living.reload();
  process.on("SIGHUP", reload);
  const told = waitForSignal();
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  log.writeText(`listening on http://${host}:${port}`);
  if (options.tokens === undefined) {
    log.writeText(
      "no tokens are asked for, so it listens to this machine alone; give --jwks to let others ask",
    );
  }
  const signal = await told;
  log.log("info", "ending", { signal });
  await Promise.all([mcp?.close(), server.drain(options.grace)]);
  process.removeListener("SIGHUP", reload);
  return signal;
}

/** The door within the door: the SDK is loaded where it is wanted. */
async function openMcp(living: ReloadingWorld, log: LogWriter): Promise<McpHttp> {
  const { createMcpHttp: mcpHttp } = await import("../serve/mcp/http.js");
  return mcpHttp({
    world: () => living.current,
    subscribe: living.subscribe,
    log: ({ level, ...entry }) => log.log(level, "mcp", entry),
    version,
  });
}

const stopSignals = ["SIGTERM", "SIGINT"] as const;
type StopSignal = (typeof stopSignals)[number];

/** The first time it is asked to end; the second time it ends at once, by whichever signal. */
function waitForSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    const end = (name: NodeJS.Signals): void => {
      for (const each of stopSignals) process.removeListener(each, end);
      resolve(name as StopSignal);
    };
    for (const each of stopSignals) process.on(each, end);
  });
}

/** Where it listens; throws what to do where it cannot. */
export async function listening(
  server: Pick<HttpServer, "listen">,
  { host, port }: Pick<ServeOptions, "host" | "port">,
): Promise<AddressInfo> {
  try {
    return await server.listen(host, port);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const [why, hint] = listenErrors[code] ?? [];
    if (why === undefined) throw error;
    throw new DecisionError("network_failed", `cannot listen on \`${host}\`, port ${port}: ${why}`, {
      hint,
      cause: error,
    });
  }
}

/** Why the system lets nobody listen there, and what to do. */
const listenErrors: Readonly<Record<string, readonly [string, string]>> = {
  EADDRINUSE: ["it is in use", "end what listens there, or give another with --port; 0 takes a free one"],
  EACCES: ["that is not permitted", "give a port above 1023 with --port"],
  EPERM: ["that is not permitted", "give another with --host or --port"],
  EADDRNOTAVAIL: ["this machine has no such address", "give one of its addresses with --host"],
  EINVAL: ["this is no address to listen on", "give one of the machine's addresses with --host"],
  ENOTFOUND: ["there is no such host", "give one of the machine's addresses with --host"],
  EAI_AGAIN: ["its address cannot be found out", "give one of the machine's addresses with --host"],
  EAFNOSUPPORT: ["this machine has no such addresses", "give another with --host"],
};
