import { RawConnection } from "./raw-connection.js";
import type { Rest } from "./disturbances.js";

export interface Watched {
  /** In megabytes, in order. */
  readonly samples: readonly number[];
  /** The numbers of applied and rejected changes of the definitions. */
  readonly reloads: { readonly current: number; readonly refused: number };
}

/** Polls the metrics of a server until the soak ends. */
export async function watchMetrics(port: number, rest: Rest): Promise<Watched> {
  const connection = new RawConnection(() => port);
  const samples: number[] = [];
  let reloads = { current: 0, refused: 0 };
  while (await rest(50)) {
    const heard = await connection.ask({ method: "GET", path: "/metrics" }, "metrics");
    if (typeof heard === "string") break;
    const valueOf = (pattern: RegExp): number => Number(pattern.exec(heard.body)?.[1] ?? 0);
    samples.push(valueOf(/^process_resident_memory_bytes (\S+)$/m) / 2 ** 20);
    reloads = {
      current: valueOf(/^agent33_definition_reloads_total\{became="current"\} (\d+)$/m),
      refused: valueOf(/^agent33_definition_reloads_total\{became="refused"\} (\d+)$/m),
    };
  }
  connection.end();
  return { samples, reloads };
}

/** Skips the first third as warm-up, and returns the medians of both halves of the rest. */
export function halves(samples: readonly number[]): readonly [number, number] {
  const warm = samples.slice(Math.floor(samples.length / 3));
  const middle = Math.floor(warm.length / 2);
  return [median(warm.slice(0, middle)), median(warm.slice(middle))];
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
