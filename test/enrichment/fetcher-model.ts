import type { Endpoint, Fetch } from "../../src/model/endpoint.js";
import type { Scripted } from "./fetching.js";

/** The expected outcome of a fetch, its number of requests and its end. */
export interface Expected {
  readonly outcome: string;
  readonly requests: number;
  readonly over: number;
}

/** The numbers of an endpoint of the model, in microseconds. */
export interface Numbers {
  readonly endpoint: Endpoint;
  readonly timeout: number;
  readonly attempts: number;
  readonly base: number;
  readonly most: number;
  readonly ttl?: number;
  readonly count?: number;
  readonly stretch: number;
  readonly threshold: number;
  readonly openFor: number;
  readonly needed: number;
}

type Circuit = "CLOSED" | "OPEN" | "HALF_OPEN";

const day = 86_400e6;
const lastingly = [408, 425, 429, 500, 502, 503, 504];

/** The specification of an endpoint, as simple as possible and without regard to speed. */
export class ModelEndpoint {
  readonly #numbers: Numbers;
  circuit: Circuit = "CLOSED";
  #failures = 0;
  #successes = 0;
  #openedAt = 0;
  /** The end of a probe whose process died. */
  #deadUntil = 0;
  readonly sent: number[] = [];
  /** By fetcher. */
  readonly #drySent = new Map<number, number[]>();
  readonly #kept = new Map<string, { readonly at: number; readonly data: string }>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  fetch(
    asked: Pick<Fetch, "cached" | "dryRun"> & { readonly key: string; readonly by: number },
    start: number,
    script: readonly Scripted[],
  ): Expected {
    const { method = "get" } = this.#numbers.endpoint;
    const entered = this.#enter(asked, start);
    if ("outcome" in entered) return { ...entered, requests: 0, over: start };
    if (asked.dryRun && method !== "get") return { outcome: "left out", requests: 0, over: start };
    const { outcome, requests, over } = this.#attempt(asked, entered.turn, { start, script });
    if (!asked.dryRun)
      this.#settle(outcome, over, { probed: entered.probed, requests, turn: entered.turn, start });
    const isKept = outcome.startsWith("endpoint") && this.#isCached(asked) && !asked.dryRun;
    if (isKept) this.#kept.set(asked.key, { at: over, data: outcome.slice("endpoint ".length) });
    return { outcome, requests, over };
  }

  /** A fetch starts, and its process dies. */
  die(asked: { readonly key: string; readonly by: number }, start: number): void {
    const entered = this.#enter({ ...asked, cached: true, dryRun: false }, start);
    if ("outcome" in entered || !entered.probed) return;
    this.#deadUntil = start + this.#numbers.timeout;
  }

  #isCached({ cached }: { readonly cached: boolean }): boolean {
    return cached && this.#numbers.ttl !== undefined;
  }

  #enter(
    asked: Pick<Fetch, "cached" | "dryRun"> & { readonly key: string; readonly by: number },
    now: number,
  ): { readonly outcome: string } | { readonly turn: number; readonly probed: boolean } {
    const { ttl = 0, openFor, endpoint, timeout } = this.#numbers;
    const kept = this.#isCached(asked) ? this.#kept.get(asked.key) : undefined;
    if (kept !== undefined && now < kept.at + ttl) return { outcome: `cache ${kept.data}` };
    const isOpen =
      (this.circuit === "OPEN" && now < this.#openedAt + openFor) ||
      (this.circuit === "HALF_OPEN" && now < this.#deadUntil);
    if (isOpen) {
      const isStale = kept !== undefined && now < kept.at + ttl + day;
      return { outcome: isStale ? `stale_cache ${kept.data}` : "circuit_open" };
    }
    const turn = this.#turn(asked, now);
    if (turn >= now + timeout) {
      return { outcome: asked.dryRun && (endpoint.method ?? "get") !== "get" ? "left out" : "rate_limited" };
    }
    this.#take(asked, turn);
    const probed = this.circuit !== "CLOSED";
    if (!asked.dryRun && this.circuit === "OPEN") {
      this.circuit = "HALF_OPEN";
      this.#successes = 0;
    }
    return { turn, probed };
  }

  /** The first time at which fewer requests than the limit were sent in the period before. */
  #turn({ dryRun, by }: { readonly dryRun: boolean; readonly by: number }, now: number): number {
    const { count, stretch } = this.#numbers;
    if (count === undefined) return now;
    const all = [...this.sent, ...(dryRun ? (this.#drySent.get(by) ?? []) : [])];
    const fits = (at: number): boolean =>
      all.filter((sent) => sent > at - stretch && sent < at + stretch).length < count;
    const moments = [now, ...all.map((sent) => sent + stretch)].filter((at) => at >= now);
    return Math.min(...moments.filter(fits));
  }

  #take({ dryRun, by }: { readonly dryRun: boolean; readonly by: number }, turn: number): void {
    if (dryRun) this.#drySent.set(by, [...(this.#drySent.get(by) ?? []), turn]);
    else this.sent.push(turn);
  }

  #attempt(
    asked: { readonly dryRun: boolean; readonly by: number },
    firstTurn: number,
    { start, script }: { readonly start: number; readonly script: readonly Scripted[] },
  ): Expected {
    const { timeout, attempts, base, most, endpoint } = this.#numbers;
    const end = start + timeout;
    let now = firstTurn;
    let requests = 0;
    for (;;) {
      const does = script[Math.min(requests, script.length - 1)] ?? "hang";
      requests++;
      const over = does === "hang" ? end : now + (does.after ?? 0);
      if (does === "hang" || over >= end) return { outcome: "request_timeout", requests, over: end };
      now = over;
      const { exchanged } = does;
      if (exchanged.kind === "answer")
        return { outcome: `endpoint ${JSON.stringify(exchanged.data)}`, requests, over };
      const outcome = this.#nameOf(exchanged);
      const again =
        (exchanged.kind === "network" && endpoint.method !== "post") ||
        (exchanged.kind === "status" && lastingly.includes(exchanged.status));
      if (!again || requests === attempts) return { outcome, requests, over };
      const wanted = exchanged.kind === "status" ? Number(exchanged.retryAfter ?? "0") * 1e6 : 0;
      const pause = Math.max(wanted, 0.5 * Math.min(most, base * 2 ** (requests - 1)));
      if (now + pause >= end) return { outcome, requests, over };
      now += pause;
      const turn = this.#turn(asked, now);
      if (turn >= end) return { outcome, requests, over: now };
      this.#take(asked, turn);
      now = turn;
    }
  }

  #nameOf(exchanged: Exclude<Scripted, "hang">["exchanged"]): string {
    switch (exchanged.kind) {
      case "status":
        return `request_failed ${exchanged.status}`;
      case "network":
        return "network_failed";
      case "refused":
        return "fetch_refused";
      default:
        return "request_failed";
    }
  }

  #settle(
    outcome: string,
    now: number,
    { probed, requests, turn, start }: { probed: boolean; requests: number; turn: number; start: number },
  ): void {
    const { threshold, needed, timeout } = this.#numbers;
    // A fetch that spent its time waiting for a slot says nothing about the service.
    const isHasty = outcome === "request_timeout" && requests === 1 && start + timeout - turn < timeout / 2;
    if (outcome === "fetch_refused" || isHasty) return;
    const status = Number(/^request_failed (\d+)$/.exec(outcome)?.[1] ?? "500");
    const isAlive =
      outcome.startsWith("endpoint") ||
      (outcome.startsWith("request_failed") && status < 500 && ![408, 425, 429].includes(status));
    if (isAlive && !probed) this.#failures = 0;
    else if (isAlive) {
      this.#successes++;
      if (this.#successes < needed) return;
      this.circuit = "CLOSED";
      this.#failures = 0;
    } else {
      this.#failures++;
      if (!probed && this.#failures < threshold) return;
      this.circuit = "OPEN";
      this.#openedAt = now;
    }
  }
}
