/** What is told of one metric, in the text format of Prometheus. */
export interface Metric {
  text(): string;
}

type Labels = Readonly<Record<string, string>>;

/** Grows and never shrinks. */
export class Counter implements Metric {
  readonly #about: About;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#about = { name, help, type: "counter" };
  }

  add(labels: Labels = {}, by = 1): void {
    const key = labelText(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  text(): string {
    return written(
      this.#about,
      [...this.#values].map(([labels, value]) => [labels, value]),
    );
  }
}

/** Is asked for what it is when it is told. */
export class Gauge implements Metric {
  readonly #about: About;
  readonly #read: () => number;

  constructor(name: string, help: string, read: () => number) {
    this.#about = { name, help, type: "gauge" };
    this.#read = read;
  }

  text(): string {
    return written(this.#about, [["", this.#read()]]);
  }
}

/** In seconds: from a decision in a process to one that waits for others. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Observed {
  readonly counts: number[];
  sum: number;
}

/** How long things took. */
export class Histogram implements Metric {
  readonly #about: About;
  readonly #observed = new Map<string, Observed>();

  constructor(name: string, help: string) {
    this.#about = { name, help, type: "histogram" };
  }

  observe(labels: Labels, seconds: number): void {
    const key = labelText(labels);
    let observed = this.#observed.get(key);
    if (observed === undefined) {
      observed = { counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
      this.#observed.set(key, observed);
    }
    const at = bounds.findIndex((bound) => seconds <= bound);
    const place = at === -1 ? bounds.length : at;
    observed.counts[place] = (observed.counts[place] ?? 0) + 1;
    observed.sum += seconds;
  }

  text(): string {
    const { name } = this.#about;
    const lines = [...this.#observed].flatMap(([labels, { counts, sum }]) => {
      let total = 0;
      const buckets = counts.map((count, index) => {
        total += count;
        return `${name}_bucket${joined(labels, `le="${bounds[index] ?? "+Inf"}"`)} ${total}`;
      });
      return [...buckets, `${name}_sum${joined(labels)} ${sum}`, `${name}_count${joined(labels)} ${total}`];
    });
    return `${heading(this.#about)}${lines.map((line) => `${line}\n`).join("")}`;
  }
}

interface About {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
}

const heading = ({ name, help, type }: About): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

const written = (about: About, values: readonly (readonly [string, number])[]): string =>
  heading(about) + values.map(([labels, value]) => `${about.name}${joined(labels)} ${value}\n`).join("");

const joined = (...labels: readonly string[]): string => {
  const given = labels.filter((each) => each !== "").join(",");
  return given === "" ? "" : `{${given}}`;
};

/** There are few labels, and many things that have them. */
const labelTexts = new Map<string, string>();
const mostTexts = 10_000;

function labelText(labels: Labels): string {
  let key = "";
  for (const name in labels) key += `${name}\0${labels[name] ?? ""}\0`;
  const known = labelTexts.get(key);
  if (known !== undefined) return known;
  const entries = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  const text = entries.join(",");
  if (labelTexts.size < mostTexts) labelTexts.set(key, text);
  return text;
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
