import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Counter, Gauge, Histogram } from "../../src/serve/metrics.js";
import { sampleWorld } from "./sample-world.js";
import type { Answered, Serving } from "./http/serving.js";
import { get, post, routineWire, serving } from "./http/serving.js";

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, each: string) => (each === "n" ? "\n" : each));

/** Parses the Prometheus text format 0.0.4. Throws if it is invalid. */
function parse(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  for (const line of text.slice(0, -1).split("\n")) {
    const [, kind, about = "", said = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "HELP") {
      if (families.has(about)) throw new Error(`${about} appears twice`);
      families.set(about, { type: "", help: said, samples: [] });
    } else if (kind === "TYPE") {
      families.get(about)!.type = said;
    } else {
      const sample = sampleOf(line);
      const family =
        families.get(sample.name) ?? families.get(sample.name.replace(/_(bucket|sum|count)$/, ""));
      if (family === undefined) throw new Error(`nothing is said of ${line}`);
      family.samples.push(sample);
    }
  }
  return families;
}

function sampleOf(line: string): Sample {
  const whole = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (\S+)$/.exec(
    line,
  );
  if (whole === null) throw new Error(`not a sample: ${line}`);
  const labels = [...(whole[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  const value = Number(whole[3]);
  if (Number.isNaN(value)) throw new Error(`not a number: ${line}`);
  return {
    name: whole[1]!,
    labels: Object.fromEntries(labels.map(([, name = "", text = ""]) => [name, unescaped(text)])),
    value,
  };
}

describe("a metric", () => {
  it("escapes its labels", () => {
    const counter = new Counter("things_total", "Things.");
    const label = 'a"b\\c\nd\\n{},=';
    counter.add({ label, other: "" });
    counter.add({ label, other: "" }, 2);
    expect(parse(counter.text()).get("things_total")).toEqual({
      type: "counter",
      help: "Things.",
      samples: [{ name: "things_total", labels: { label, other: "" }, value: 3 }],
    });
  });

  it("reads a gauge on request", () => {
    let value = 1;
    const gauge = new Gauge("now", "Now.", () => value);
    value = 2;
    expect(parse(gauge.text()).get("now")?.samples).toEqual([{ name: "now", labels: {}, value: 2 }]);
  });

  it("counts a duration in every matching bucket", () => {
    const histogram = new Histogram("took_seconds", "How long.");
    for (const seconds of [0, 0.0005, 0.0006, 0.3, 10, 11]) histogram.observe({ route: "/x" }, seconds);
    histogram.observe({ route: "/y" }, 1);
    const samples = parse(histogram.text())
      .get("took_seconds")!
      .samples.filter(({ labels }) => labels["route"] === "/x");
    const buckets = samples.filter(({ name }) => name === "took_seconds_bucket");
    const at = (le: string): number | undefined => buckets.find(({ labels }) => labels["le"] === le)?.value;
    expect([at("0.0005"), at("0.001"), at("0.25"), at("0.5"), at("10"), at("+Inf")]).toEqual([
      2, 3, 3, 4, 5, 6,
    ]);
    expect(buckets.map(({ value }) => value)).toEqual(
      buckets.map(({ value }) => value).toSorted((a, b) => a - b),
    );
    expect(samples.find(({ name }) => name === "took_seconds_count")?.value).toBe(6);
    expect(samples.find(({ name }) => name === "took_seconds_sum")?.value).toBeCloseTo(21.3011);
  });
});

describe("the metrics of a server", () => {
  let server: Serving;

  beforeAll(async () => {
    server = await serving();
    await post(server, "/decide", routineWire);
    await post(server, "/decide", routineWire);
    await post(server, "/decisions/gate-wire-approve/dry-run", { context: routineWire.context });
    await get(server, "/records/nothing");
    await get(server, "/records/other-thing");
    await get(server, "/nowhere/1");
    await fetch(`${server.url}/decide`, { method: "PROPFIND" }).then((response) => response.text());
  });

  it("count requests by route, never by path, and decisions by label", async () => {
    const response = await fetch(`${server.url}/metrics`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const families = parse(await response.text());
    const requests = families
      .get("agent33_requests_total")!
      .samples.map(({ labels, value }) => ({ ...labels, value }));
    expect(requests).toContainEqual({ method: "POST", route: "/decide", status: "200", value: 2 });
    expect(requests).toContainEqual({ method: "GET", route: "/records/:id", status: "404", value: 2 });
    expect(requests).toContainEqual({ method: "GET", route: "unknown", status: "404", value: 1 });
    expect(requests).toContainEqual({ method: "other", route: "/decide", status: "405", value: 1 });
    expect(families.get("agent33_decisions_total")!.samples).toEqual([
      {
        name: "agent33_decisions_total",
        labels: { decision_id: "gate-wire-approve", label: "GREEN" },
        value: 2,
      },
    ]);
    expect(families.get("agent33_requests_in_flight")!.samples[0]?.value).toBe(1);
    expect(families.get("agent33_definitions")!.samples[0]?.value).toBe(
      server.reloadingWorld.current.definitions.ids.length,
    );
    expect(families.get("process_resident_memory_bytes")!.samples[0]?.value).toBeGreaterThan(1e7);
    expect([...families.values()].every(({ type }) => ["counter", "gauge", "histogram"].includes(type))).toBe(
      true,
    );
  });

  it("count every decision of a followed chain", async () => {
    const directory = mkdtempSync(join(tmpdir(), "agent-33-way-"));
    const way = (id: string, target: string): string =>
      `decision: { id: ${id}, name: Way, version: "1.0.0", type: binary, cases: [{ condition: "x > 5", target: far }], default: { target: ${target} } }\n`;
    writeFileSync(
      join(directory, "way.yaml"),
      [way("one", "two"), way("two", "end"), way("round", "about"), way("about", "round")].join("---\n"),
    );
    const following = await serving({ world: await sampleWorld(directory) });
    const ask = (id: string, how = "evaluate"): Promise<Answered> =>
      post(following, `/decisions/${id}/${how}`, { context: { x: 1 }, follow: true });
    expect((await ask("one")).body["followed"]).toHaveLength(2);
    await ask("one", "dry-run");
    expect((await ask("round")).status).toBe(422);
    const families = parse(await (await fetch(`${following.url}/metrics`)).text());
    const { samples } = families.get("agent33_decisions_total")!;
    expect(samples.map(({ labels, value }) => [labels["decision_id"], value])).toEqual([
      ["one", 1],
      ["two", 1],
      ["round", 1],
      ["about", 1],
    ]);
  });

  it("contain no request data, like the log", async () => {
    const secret = "sesame-4711";
    await post(
      server,
      `/records?x=${secret}`,
      { [secret]: secret },
      { cookie: secret, "x-key": secret, "user-agent": secret },
    );
    await post(server, "/decide", { ...routineWire, context: { ...routineWire.context, note: secret } });
    await get(server, `/decisions/${secret}?q=${secret}`);
    const lines = (await server.logged()).trim().split("\n");
    expect(lines.length).toBeGreaterThan(8);
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({
        message: "request",
        duration_ms: expect.any(Number) as number,
      });
    }
    expect(lines.join("\n")).not.toContain(secret);
  });
});
