import { loopbackNames } from "../../../src/serve/check-origin.js";
import type { HttpOptions, HttpServer } from "../../../src/serve/http/http-server.js";
import { openHttpServer } from "../../../src/serve/http/http-server.js";
import { LogWriter } from "../../../src/serve/log-writer.js";
import { Metrics } from "../../../src/serve/metrics.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import type { ReloadOutcome } from "../../../src/serve/reloading-world.js";
import { ReloadingWorld, observeDecisions } from "../../../src/serve/reloading-world.js";
import { afterFile } from "../../after-file.js";
import { sampleWorld } from "../sample-world.js";

export interface Serving {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  readonly reloadingWorld: ReloadingWorld;
  readonly metrics: Metrics;
  readonly changes: readonly ReloadOutcome[];
  /** The number of the newest record. */
  readonly recorded: () => Promise<number>;
  /** The whole log so far. */
  readonly logged: () => Promise<string>;
}

export interface ServingOptions extends Partial<Omit<HttpOptions, "reloadingWorld" | "metrics" | "log">> {
  readonly world?: ServedWorld;
  readonly open?: () => Promise<ServedWorld>;
  readonly stamp?: () => string;
  readonly keepsSound?: boolean;
}

export const wire = { org_id: "acme", domain: "payments", action: "wire.approve" };
export const routine = { amount: 250, payee: { country: "DE" } };
export const routineWire = { ...wire, context: routine };

/** A server with the sample definitions on a free port, closed after the tests of the file. */
export async function serving(options: ServingOptions = {}): Promise<Serving> {
  const { world, open, stamp = () => "", keepsSound = true, ...http } = options;
  const written: string[] = [];
  const log = new LogWriter(
    (bytes, done) => {
      written.push(Buffer.from(bytes).toString());
      done(null);
    },
    { clock: () => "2026-11-15T10:30:00.000000Z", quiet: false },
  );
  const current = world ?? (open === undefined ? await sampleWorld() : undefined);
  const changes: ReloadOutcome[] = [];
  const metrics: Metrics = new Metrics({
    inFlight: () => server.inFlight(),
    decisions: () => reloadingWorld.current.definitions.ids.length,
    isStale: () => reloadingWorld.rejected !== undefined,
  });
  const reloadingWorld: ReloadingWorld = await ReloadingWorld.open({
    open: async () =>
      observeDecisions(await (open?.() ?? current!), (result) => metrics.countDecision(result)),
    stamp,
    rejectBroken: keepsSound,
    intervalMs: 10,
    onReload: (change) => void changes.push(change),
  });
  const server: HttpServer = await openHttpServer({
    authenticate: undefined,
    allowedOrigins: { hosts: loopbackNames, origins: ["https://app.example"], loopback: true },
    rateLimits: {},
    maxInFlight: 1024,
    maxBodyBytes: 1024 * 1024,
    requestTimeout: 10_000,
    publicMetrics: false,
    ...http,
    reloadingWorld,
    metrics,
    log,
  });
  const { port } = await server.listen("127.0.0.1", 0);
  afterFile(async () => {
    await server.drain(1_000);
    await reloadingWorld.stop();
  });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    reloadingWorld,
    metrics,
    changes,
    recorded: async () => (await reloadingWorld.current.records.log.state()).size,
    async logged() {
      await log.flush();
      return written.join("");
    },
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function post(
  { url }: Pick<Serving, "url">,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  return answered(
    await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    }),
  );
}

export async function get(
  { url }: Pick<Serving, "url">,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  return answered(await fetch(`${url}${path}`, { headers }));
}

async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson ? JSON.parse(text) : { text }) as Answered["body"],
  };
}
