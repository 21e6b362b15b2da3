import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { tooManyRequests } from "./problem.js";

/** At most `count` requests in `per` milliseconds. */
export interface RateLimit {
  readonly count: number;
  readonly per: number;
}

export interface RateLimits {
  readonly caller?: RateLimit | undefined;
  readonly org?: RateLimit | undefined;
}

/** Counts a request for a caller or an organisation. Throws when the limit is exceeded. */
export type CountRequest = (request: FastifyRequest, kind: keyof RateLimits, name: string) => Promise<void>;

/** The number of callers and organisations that are counted; the least recently active is dropped first. */
const maxTracked = 10_000;

export async function openRateLimits(app: FastifyInstance, rates: RateLimits): Promise<CountRequest> {
  await app.register(rateLimit, { global: false, cache: maxTracked });
  app.decorateRequest("countedAs", "");
  const limiters = new Map(
    (["caller", "org"] as const).flatMap((kind) => {
      const rate = rates[kind];
      return rate === undefined ? [] : [[kind, createLimiter(app, rate)] as const];
    }),
  );
  return async (request, kind, name) => {
    const limiter = limiters.get(kind);
    if (limiter === undefined) return;
    request.countedAs = name;
    const usage = await limiter(request);
    if (usage.isAllowed || !usage.isExceeded) return;
    throw tooManyRequests(kind === "caller" ? "from this caller" : `for \`${name}\``, usage.ttlInSeconds);
  };
}

type RateLimiter = ReturnType<FastifyInstance["createRateLimit"]>;

const createLimiter = (app: FastifyInstance, { count, per }: RateLimit): RateLimiter =>
  app.createRateLimit({ max: count, timeWindow: per, keyGenerator: ({ countedAs }) => countedAs });

declare module "fastify" {
  interface FastifyRequest {
    /** The caller or organisation that the running limiter counts. */
    countedAs: string;
  }
}
