import type { ReloadOutcome } from "./reloading-world.js";
import type { Result } from "../model/result.js";

interface MetricSources {
  readonly inFlight: () => number;
  readonly decisions: () => number;
  /** Whether the definitions on disk have changed and the change was rejected. */
  readonly isStale: () => boolean;
}

/** The metrics of a server, in the text format of Prometheus. */
export class Metrics {
  readonly requests = new Counter("agent33_requests_total", "Requests by method, route and status.");
  readonly durations = new Histogram(
    "agent33_request_duration_seconds",
    "Duration of requests in seconds, by route.",
  );
  readonly #decisions = new Counter("agent33_decisions_total", "Decisions made, by decision and label.");
  readonly #reloads = new Counter(
    "agent33_definition_reloads_total",
    "Reloads of the definitions, by result.",
  );
  readonly #gauges: readonly Gauge[];

  constructor({ inFlight, decisions, isStale }: MetricSources) {
    const startedAt = Date.now() / 1000;
    this.#gauges = [
      new Gauge("agent33_requests_in_flight", "Requests in progress.", inFlight),
      new Gauge("agent33_definitions", "Valid decisions.", decisions),
      new Gauge("agent33_definitions_stale", "1 while a change of the definitions is rejected.", () =>
        Number(isStale()),
      ),
      new Gauge("process_resident_memory_bytes", "Resident memory in bytes.", () =>
        process.memoryUsage.rss(),
      ),
      new Gauge(
        "process_start_time_seconds",
        "Start time of the process in seconds since 1970.",
        () => startedAt,
      ),
    ];
  }

  /** Labels come from definitions, so their number is bounded. */
  countDecision({ decision_id, selected_labels, blocked }: Result): void {
    const label = blocked && selected_labels.length === 0 ? "blocked" : selected_labels.join(",");
    this.#decisions.add({ decision_id, label });
  }

  countReload({ type }: ReloadOutcome): void {
    this.#reloads.add({ became: type === "applied" ? "current" : "refused" });
  }

  text(): string {
    const all = [this.requests, this.durations, this.#decisions, this.#reloads, ...this.#gauges];
    return all.map((metric) => metric.text()).join("");
  }
}

interface Metric {
  text(): string;
}

type Labels = Readonly<Record<string, string>>;

/** A value that only grows. */
export class Counter implements Metric {
  readonly #info: MetricInfo;
  readonly #samples = new LabelledSamples(() => ({ count: 0 }));

  constructor(name: string, help: string) {
    this.#info = { name, help, type: "counter" };
  }

  add(labels: Labels = {}, by = 1): void {
    this.#samples.find(labels).count += by;
  }

  text(): string {
    return formatMetric(
      this.#info,
      this.#samples.all().map(({ labels, value }) => `${this.#info.name}${labelSet(labels)} ${value.count}`),
    );
  }
}

/** A value that is read when the metrics are requested. */
export class Gauge implements Metric {
  readonly #info: MetricInfo;
  readonly #read: () => number;

  constructor(name: string, help: string, read: () => number) {
    this.#info = { name, help, type: "gauge" };
    this.#read = read;
  }

  text(): string {
    return formatMetric(this.#info, [`${this.#info.name} ${this.#read()}`]);
  }
}

/** In seconds: from a decision in memory to one that waits for endpoints. */
const bucketBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A distribution of durations. */
export class Histogram implements Metric {
  readonly #info: MetricInfo;
  readonly #samples = new LabelledSamples(() => ({
    counts: Array.from({ length: bucketBounds.length + 1 }, () => 0),
    sum: 0,
  }));

  constructor(name: string, help: string) {
    this.#info = { name, help, type: "histogram" };
  }

  observe(labels: Labels, seconds: number): void {
    const sample = this.#samples.find(labels);
    const index = bucketBounds.findIndex((bound) => seconds <= bound);
    const bucket = index === -1 ? bucketBounds.length : index;
    sample.counts[bucket] = (sample.counts[bucket] ?? 0) + 1;
    sample.sum += seconds;
  }

  text(): string {
    const { name } = this.#info;
    const lines = this.#samples.all().flatMap(({ labels, value: { counts, sum } }) => {
      let total = 0;
      const buckets = counts.map((count, index) => {
        total += count;
        return `${name}_bucket${labelSet(labels, `le="${bucketBounds[index] ?? "+Inf"}"`)} ${total}`;
      });
      return [
        ...buckets,
        `${name}_sum${labelSet(labels)} ${sum}`,
        `${name}_count${labelSet(labels)} ${total}`,
      ];
    });
    return formatMetric(this.#info, lines);
  }
}

interface Sample<Value> {
  readonly labels: string;
  readonly value: Value;
}

/** The values of a metric, one for each combination of labels. */
class LabelledSamples<Value> {
  readonly #create: () => Value;
  readonly #byKey = new Map<string, Sample<Value>>();

  constructor(create: () => Value) {
    this.#create = create;
  }

  /** Finds or creates the value. Labels are formatted only once, because this runs on every request. */
  find(labels: Labels): Value {
    let key = "";
    for (const name in labels) key += `${name}\0${labels[name] ?? ""}\0`;
    let sample = this.#byKey.get(key);
    if (sample === undefined) {
      sample = { labels: formatLabels(labels), value: this.#create() };
      this.#byKey.set(key, sample);
    }
    return sample.value;
  }

  all(): readonly Sample<Value>[] {
    return [...this.#byKey.values()];
  }
}

interface MetricInfo {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
}

const formatMetric = ({ name, help, type }: MetricInfo, lines: readonly string[]): string =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].map((line) => `${line}\n`).join("");

const labelSet = (...labels: readonly string[]): string => {
  const present = labels.filter((each) => each !== "").join(",");
  return present === "" ? "" : `{${present}}`;
};

const formatLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");

const escapeLabel = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
