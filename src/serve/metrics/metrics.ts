import type { Result } from "../../model/result.js";
import { Counter, Gauge, Histogram } from "./metric.js";

export interface MetricSources {
  readonly inFlight: () => number;
  readonly decisions: () => number;
  /** Whether there is a change of the definitions that is not taken up. */
  readonly isStale: () => boolean;
}

/** What a server tells of itself. */
export class Metrics {
  readonly requests = new Counter("agent33_requests_total", "Requests answered, by route and status.");
  readonly seconds = new Histogram("agent33_request_duration_seconds", "How long answers took, by route.");
  readonly #decisions = new Counter("agent33_decisions_total", "Decisions made, by decision and label.");
  readonly reloads = new Counter("agent33_definition_reloads_total", "Changes of the definitions.");
  readonly #gauges: readonly Gauge[];

  constructor({ inFlight, decisions, isStale }: MetricSources) {
    const startedAt = Date.now() / 1000;
    this.#gauges = [
      new Gauge("agent33_requests_in_flight", "Requests that are being answered.", inFlight),
      new Gauge("agent33_definitions", "Decisions that are defined and can be made.", decisions),
      new Gauge("agent33_definitions_stale", "1: a change is not taken up, as it breaks something.", () =>
        Number(isStale()),
      ),
      new Gauge("process_resident_memory_bytes", "Memory in use.", () => process.memoryUsage.rss()),
      new Gauge("process_start_time_seconds", "When it was started, since 1970.", () => startedAt),
    ];
  }

  /** Labels come from definitions, so there are never many. */
  decided({ decision_id, selected_labels, blocked }: Result): void {
    const label = blocked && selected_labels.length === 0 ? "blocked" : selected_labels.join(",");
    this.#decisions.add({ decision_id, label });
  }

  text(): string {
    const all = [this.requests, this.seconds, this.#decisions, this.reloads, ...this.#gauges];
    return all.map((metric) => metric.text()).join("");
  }
}
