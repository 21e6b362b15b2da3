import type { Result } from "../model/result.js";

interface MetricSources {
  readonly inFlight: () => number;
  readonly decisions: () => number;
  /** Whether there is a change of the definitions that is not taken up. */
  readonly isStale: () => boolean;
}

/** What a server tells of itself. */
export class Metrics {
  readonly requests = new Counter("agent33_requests_total", "Requests answered, by route and status.");
  readonly durations = new Histogram("agent33_request_duration_seconds", "How long answers took, by route.");
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
  countDecision({ decision_id, selected_labels, blocked }: Result): void {
    const label = blocked && selected_labels.length === 0 ? "blocked" : selected_labels.join(",");
    this.#decisions.add({ decision_id, label });
  }

  text(): string {
    const all = [this.requests, this.durations, this.#decisions, this.reloads, ...this.#gauges];
    return all.map((metric) => metric.text()).join("");
  }
}

/** What is told of one metric, in the text format of Prometheus. */
interface Metric {
  text(): string;
}

type Labels = Readonly<Record<string, string>>;

/** Grows and never shrinks. */
export class Counter implements Metric {
  readonly #about: MetricInfo;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#about = { name, help, type: "counter" };
  }

  add(labels: Labels = {}, by = 1): void {
    const key = formatLabels(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  text(): string {
    return writeSamples(
      this.#about,
      [...this.#values].map(([labels, value]) => [labels, value]),
    );
  }
}

/** Is asked for what it is when it is told. */
export class Gauge implements Metric {
  readonly #about: MetricInfo;
  readonly #read: () => number;

  constructor(name: string, help: string, read: () => number) {
    this.#about = { name, help, type: "gauge" };
    this.#read = read;
  }

  text(): string {
    return writeSamples(this.#about, [["", this.#read()]]);
  }
}

/** In seconds: from a decision in a process to one that waits for others. */
const bucketBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Observations {
  readonly counts: number[];
  sum: number;
}

/** How long things took. */
export class Histogram implements Metric {
  readonly #about: MetricInfo;
  readonly #observed = new Map<string, Observations>();

  constructor(name: string, help: string) {
    this.#about = { name, help, type: "histogram" };
  }

  observe(labels: Labels, seconds: number): void {
    const key = formatLabels(labels);
    let observed = this.#observed.get(key);
    if (observed === undefined) {
      observed = { counts: Array.from({ length: bucketBounds.length + 1 }, () => 0), sum: 0 };
      this.#observed.set(key, observed);
    }
    const at = bucketBounds.findIndex((bound) => seconds <= bound);
    const place = at === -1 ? bucketBounds.length : at;
    observed.counts[place] = (observed.counts[place] ?? 0) + 1;
    observed.sum += seconds;
  }

  text(): string {
    const { name } = this.#about;
    const lines = [...this.#observed].flatMap(([labels, { counts, sum }]) => {
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
    return `${writeHeader(this.#about)}${lines.map((line) => `${line}\n`).join("")}`;
  }
}

interface MetricInfo {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
}

const writeHeader = ({ name, help, type }: MetricInfo): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

const writeSamples = (about: MetricInfo, values: readonly (readonly [string, number])[]): string =>
  writeHeader(about) +
  values.map(([labels, value]) => `${about.name}${labelSet(labels)} ${value}\n`).join("");

const labelSet = (...labels: readonly string[]): string => {
  const given = labels.filter((each) => each !== "").join(",");
  return given === "" ? "" : `{${given}}`;
};

/** There are few labels, and many things that have them. */
const labelTexts = new Map<string, string>();
const mostTexts = 10_000;

function formatLabels(labels: Labels): string {
  let key = "";
  for (const name in labels) key += `${name}\0${labels[name] ?? ""}\0`;
  const known = labelTexts.get(key);
  if (known !== undefined) return known;
  const entries = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  const text = entries.join(",");
  if (labelTexts.size < mostTexts) labelTexts.set(key, text);
  return text;
}

const escapeLabel = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
