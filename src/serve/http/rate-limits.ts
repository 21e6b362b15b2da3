import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { tooManyRequests } from "./problem.js";

/** So many requests in so many milliseconds. */
export interface RateLimit {
  readonly count: number;
  readonly per: number;
}

export interface RateLimits {
  readonly caller?: RateLimit | undefined;
  readonly org?: RateLimit | undefined;
}

/** Counts a request for a caller or an organisation; throws once there are too many. */
export type CountRequest = (request: FastifyRequest, kind: keyof RateLimits, name: string) => Promise<void>;

/** So many callers and organisations are told apart; the one that asked longest ago is forgotten first. */
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
    const counted = await limiter(request);
    if (counted.isAllowed || !counted.isExceeded) return;
    throw tooManyRequests(kind === "caller" ? "by this caller" : `for \`${name}\``, counted.ttlInSeconds);
  };
}

type RateLimiter = ReturnType<FastifyInstance["createRateLimit"]>;

const createLimiter = (app: FastifyInstance, { count, per }: RateLimit): RateLimiter =>
  app.createRateLimit({ max: count, timeWindow: per, keyGenerator: ({ countedAs }) => countedAs });

declare module "fastify" {
  interface FastifyRequest {
    /** What the request is counted for at the moment. */
    countedAs: string;
  }
}
