import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { ExitCode } from "./exit-codes.js";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import type { Setting } from "./settings-table.js";
import { decisionsDirectory, settingsFiles, storeSettings } from "./settings.js";
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

/** Milliseconds that the shutdown waits for the log to be written. */
const logFlushTimeout = 1_000;

/** Serves HTTP until SIGTERM or SIGINT, then finishes the requests in progress. */
export async function runServer(options: ServeOptions, flags: DecideFlags, io: Io): Promise<ExitCode> {
  const log = openServerLog(flags.quiet ?? false);
  const report = (message: string): void => log.log("warn", message);
  const authenticate = options.tokens && (await openAuthenticator(options.tokens, { report }));
  const metrics: Metrics = new Metrics({
    inFlight: () => server.inFlight(),
    decisions: () => world.current.definitions.ids.length,
    isStale: () => world.rejected !== undefined,
  });
  const world: ReloadingWorld = await openReloadingWorld(flags, io, {
    log,
    onChange: (outcome) => metrics.countReload(outcome),
    onDecided: (result) => metrics.countDecision(result),
  });
  const mcp = options.mcp ? await openMcp(world, log) : undefined;
  const parts = { reloadingWorld: world, authenticate, metrics, log, mcp: mcp?.handle };
  const server: HttpServer = await openHttpServer({ ...options, ...parts });
  try {
    const signal = await serveUntilSignal(
      { server, mcp, world, sources: sourceTexts(world, flags, io) },
      options,
      log,
    );
    return signal === "SIGINT" ? 130 : 0;
  } finally {
    await world.stop();
    await world.current.close();
    await log.flush(logFlushTimeout);
  }
}

interface RunningServer {
  readonly server: HttpServer;
  readonly mcp: McpHttp | undefined;
  readonly world: ReloadingWorld;
  /** What it serves and where it records. */
  readonly sources: readonly string[];
}

/** Names the directories that the server uses, with their sources: nothing else shows that they are the wrong ones. */
function sourceTexts(world: ReloadingWorld, flags: DecideFlags, io: Io): readonly string[] {
  const files = settingsFiles(io);
  const decisions = decisionsDirectory(flags.decisions, io, files);
  const { directory: store } = storeSettings(flags, io, files);
  const { length: count } = world.current.definitions.ids;
  const textOf = ({ value, from }: Setting): string => `${resolve(io.cwd, value)} (from ${from})`;
  return [`decisions: ${count} in ${textOf(decisions)}`, `store: ${textOf(store)}`];
}

async function serveUntilSignal(
  { server, mcp, world, sources }: RunningServer,
  options: ServeOptions,
  log: LogWriter,
): Promise<StopSignal> {
  const { port } = await listenOn(server, options);
  const reload = (): void => void world.reload();
  process.on("SIGHUP", reload);
  const stopped = waitForSignal();
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  log.writeText(`listening on http://${host}:${port}`);
  for (const text of sources) log.writeText(text);
  if (options.tokens === undefined) {
    log.writeText(
      "authentication is off, so only this machine can connect; use --jwks to allow remote clients",
    );
  }
  const signal = await stopped;
  log.log("info", "shutting down", { signal });
  server.beginDrain();
  if (options.drainDelay > 0) await setTimeout(options.drainDelay);
  await Promise.all([mcp?.close(), server.drain(options.grace)]);
  process.removeListener("SIGHUP", reload);
  return signal;
}

/** Loads the MCP SDK only if MCP is enabled. */
async function openMcp(world: ReloadingWorld, log: LogWriter): Promise<McpHttp> {
  const { createMcpHttp } = await import("../serve/mcp/http.js");
  return createMcpHttp({
    world: () => world.current,
    subscribe: world.subscribe,
    log: ({ level, ...entry }) => log.log(level, "mcp", entry),
    version,
  });
}

const stopSignals = ["SIGTERM", "SIGINT"] as const;
type StopSignal = (typeof stopSignals)[number];

/** Resolves on the first signal; a second one ends the process at once. */
function waitForSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    const end = (name: NodeJS.Signals): void => {
      for (const each of stopSignals) process.removeListener(each, end);
      resolve(name as StopSignal);
    };
    for (const each of stopSignals) process.on(each, end);
  });
}

/** Starts to listen and returns the address, or throws an error with a hint. */
export async function listenOn(
  server: Pick<HttpServer, "listen">,
  { host, port }: Pick<ServeOptions, "host" | "port">,
): Promise<AddressInfo> {
  try {
    return await server.listen(host, port);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const [reason, hint] = listenErrors[code] ?? [];
    if (reason === undefined) throw error;
    throw new DecisionError("network_failed", `cannot listen on \`${host}\`, port ${port}: ${reason}`, {
      hint,
      cause: error,
    });
  }
}

/** Reason and hint for each error code of the system. */
const listenErrors: Readonly<Record<string, readonly [string, string]>> = {
  EADDRINUSE: [
    "address already in use",
    "stop the other process, or choose another port with --port; 0 picks a free one",
  ],
  EACCES: ["permission denied", "choose a port above 1023 with --port"],
  EPERM: ["permission denied", "choose another address with --host or --port"],
  EADDRNOTAVAIL: ["this machine does not have this address", "choose one of its addresses with --host"],
  EINVAL: ["invalid address", "choose one of this machine's addresses with --host"],
  ENOTFOUND: ["host not found", "choose one of this machine's addresses with --host"],
  EAI_AGAIN: ["cannot resolve the host", "choose one of this machine's addresses with --host"],
  EAFNOSUPPORT: ["address family not supported", "choose another address with --host"],
};
