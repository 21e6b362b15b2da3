import { describe, expect, it } from "vitest";
import { LogWriter } from "../../src/serve/log-writer.js";

const clock = (): string => "2026-11-15T10:30:00.000000Z";

/** A sink whose writes wait until they are released. */
function slowReader(): {
  readonly written: string[];
  readonly write: ConstructorParameters<typeof LogWriter>[0];
  readonly readAll: () => void;
} {
  const written: string[] = [];
  let waiting: (() => void)[] = [];
  let isReading = false;
  return {
    written,
    write: (bytes, done) => {
      written.push(Buffer.from(bytes).toString());
      if (isReading) setImmediate(() => done(null));
      else waiting.push(() => done(null));
    },
    readAll() {
      isReading = true;
      for (const done of waiting) done();
      waiting = [];
    },
  };
}

const linesOf = (written: readonly string[]): readonly Record<string, unknown>[] =>
  written
    .join("")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("the log of a server", () => {
  it("keeps the order and loses no entry before the end", async () => {
    const { written, write, readAll } = slowReader();
    readAll();
    const log = new LogWriter(write, { clock, quiet: false });
    for (let at = 0; at < 1000; at++) log.log("info", "request", { at });
    const flushed = log.flush();
    log.log("warn", "last", { at: 1000 });
    await flushed;
    expect(linesOf(written).map(({ at }) => at)).toEqual(Array.from({ length: 1001 }, (_, at) => at));
    expect(written.length).toBeLessThan(5);
  });

  it("writes one JSON object per line, whatever it contains", async () => {
    const { written, write, readAll } = slowReader();
    readAll();
    const log = new LogWriter(write, { clock, quiet: false });
    log.log("error", 'a\nb\u2028"c"\u0000', { stack: "x\r\ny" });
    await log.flush();
    expect(linesOf(written)).toEqual([
      { time: clock(), level: "error", message: 'a\nb\u2028"c"\u0000', stack: "x\r\ny" },
    ]);
  });

  it("writes nothing that would control a terminal", async () => {
    const { written, write, readAll } = slowReader();
    readAll();
    const log = new LogWriter(write, { clock, quiet: false });
    log.log("info", "\u009b2J\u202e", { path: "\u2066" });
    log.writeText("\u001b[2J");
    await log.flush();
    expect(written.join("")).toBe(
      `{"time":"${clock()}","level":"info","message":"\\u009b2J\\u202e","path":"\\u2066"}\n\\u001b[2J\n`,
    );
  });

  it("buffers at most one megabyte for a slow reader, and logs how many lines were dropped", async () => {
    const { written, write, readAll } = slowReader();
    const log = new LogWriter(write, { clock, quiet: false });
    log.log("info", "first");
    await new Promise((resolve) => setImmediate(resolve));
    const message = "x".repeat(1000);
    for (let at = 0; at < 3000; at++) log.log("info", message);
    readAll();
    await log.flush();
    const lines = linesOf(written);
    expect(written.join("").length).toBeLessThan(1.1 * 1024 * 1024);
    const warning = lines.find(({ dropped }) => dropped !== undefined);
    expect(warning).toMatchObject({ level: "warn" });
    expect(lines.length - 2 + Number(warning?.["dropped"])).toBe(3000);
    log.log("info", "later");
    await log.flush();
    expect(linesOf(written).at(-1)).toMatchObject({ message: "later" });
  });

  it("gives up flushing after the timeout", async () => {
    const { write } = slowReader();
    const log = new LogWriter(write, { clock, quiet: false });
    log.log("info", "request");
    const startedAt = performance.now();
    await log.flush(30);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it("continues after write errors", async () => {
    const log = new LogWriter((_bytes, done) => done(new Error("EPIPE")), { clock, quiet: false });
    log.log("info", "one");
    await log.flush();
    log.log("info", "two");
    await log.flush();
  });

  it("when quiet, writes only problems and plain text", async () => {
    const { written, write, readAll } = slowReader();
    readAll();
    const log = new LogWriter(write, { clock, quiet: true });
    log.log("info", "request");
    log.log("warn", "keys");
    log.writeText("listening on http://127.0.0.1:1");
    await log.flush();
    expect(written.join("")).toMatch(/^\{[^\n]*"warn"[^\n]*\}\nlistening on http:\/\/127\.0\.0\.1:1\n$/);
  });
});
