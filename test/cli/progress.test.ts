import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Progress, walkProgress, workText } from "../../src/cli/progress.js";
import { fakeIo } from "./fake-io.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["hrtime"] });
  // It begins at zero, which would be before all that was measured so far.
  vi.advanceTimersByTime(1e12);
});
afterEach(() => void vi.useRealTimers());

const erased = "\r\u001b[K";

describe("a progress line", () => {
  it("appears after 300 ms, is overwritten in place, and is erased at the end", () => {
    const io = fakeIo({ terminal: true });
    const progress = new Progress(io);
    for (const [milliseconds, text] of [
      [0, "a"],
      [299, "b"],
      [1, "c"],
      [99, "d"],
      [1, "e"],
    ] as const) {
      vi.advanceTimersByTime(milliseconds);
      progress.show(() => text);
    }
    expect(io.written.err).toBe("\rc\u001b[K\re\u001b[K");
    progress.erase();
    progress.erase();
    expect(io.written.err).toBe(`\rc\u001b[K\re\u001b[K${erased}`);
  });

  it("stays below text that is written meanwhile", () => {
    const io = fakeIo({ terminal: true });
    const progress = new Progress(io);
    vi.advanceTimersByTime(300);
    progress.show(() => "1 %");
    progress.writeAbove(io.err, "error: line 3\n");
    expect(io.written.err).toBe(`\r1 %\u001b[K${erased}error: line 3\n\r1 %\u001b[K`);
  });

  it("keeps the last row once the text above it has filled the screen: only the rows above it scroll", () => {
    const io = fakeIo({ terminal: true });
    const progress = new Progress(io);
    progress.writeAbove(io.out, "x\n".repeat(11));
    vi.advanceTimersByTime(300);
    progress.show(() => "1 %");
    progress.writeAbove(io.out, "y\n".repeat(12));
    expect(io.written.out).toBe(`${"x\n".repeat(11)}${erased}${"y\n".repeat(12)}\r1 %\u001b[K`);
    progress.writeAbove(io.err, "error: line 23\n");
    io.written.out = io.written.err = "";
    progress.writeAbove(io.out, "a\nb\n");
    progress.writeAbove(io.err, "error: line 26\n");
    progress.erase();
    const above = (text: string): string => `\u001b[1;23r\u001b[23;1H\n${text}\u001b[r\u001b[24;1H`;
    expect(io.written).toEqual({ out: above("a\nb"), err: `${above("error: line 26")}${erased}` });
  });

  it("is drawn with its text where the height of the terminal is not known", () => {
    const io = fakeIo({ terminal: true });
    const progress = new Progress({ ...io, err: { ...io.err, rows: 0 } });
    vi.advanceTimersByTime(300);
    progress.show(() => "1 %");
    for (let lines = 0; lines < 3; lines++) progress.writeAbove(io.out, "a\n");
    expect(io.written.out).toBe(`${erased}a\n\r1 %\u001b[K`.repeat(3));
  });

  it("is not drawn around text for a file or another terminal", () => {
    for (const terminalId of [undefined, 2]) {
      const io = fakeIo({ terminal: true });
      const progress = new Progress(io);
      vi.advanceTimersByTime(300);
      progress.show(() => "1 %");
      progress.writeAbove({ ...io.out, terminalId }, "x\n");
      expect(io.written).toEqual({ out: "x\n", err: "\r1 %\u001b[K" });
    }
  });

  it("is not drawn by text that is written before it appears", () => {
    const io = fakeIo({ terminal: true });
    new Progress(io).writeAbove(io.err, "x\n");
    expect(io.written.err).toBe("x\n");
  });

  it("fits on one line of the terminal", () => {
    const io = fakeIo({ terminal: true, columns: 20 });
    const progress = new Progress(io);
    vi.advanceTimersByTime(300);
    progress.show(() => "12 %, 1,234 decided, 99 per second");
    expect(io.written.err).toBe("\r12 %, 1,234 decide…\u001b[K");
  });

  it.each([
    { name: "without a terminal", terminal: false },
    { name: "with --quiet", quiet: true },
    { name: "on a terminal that cannot move the cursor", env: { TERM: "dumb" } },
  ])("is not drawn $name", ({ terminal = true, quiet = false, env = {} }) => {
    const io = fakeIo({ terminal, env });
    const progress = new Progress(io, quiet);
    vi.advanceTimersByTime(1000);
    progress.show(() => "x");
    progress.erase();
    expect(io.written.err).toBe("");
  });
});

it.each([
  [0, 5, "0 %", "0 s left"],
  [0.25, 4, "25 %", "12 s left"],
  [0.999, 100, "99 %", "1 s left"],
  [1, 100, "100 %", "0 s left"],
  [0.1, 20, "10 %", "3 min 0 s left"],
  [0.01, 60, "1 %", "1 h 39 min left"],
])("a share of %f after %i s is %s with %s", (share, seconds, percent, left) => {
  const line = workText({ done: 1200, what: "replayed", share }, seconds);
  const speed = (1200 / seconds).toLocaleString("en");
  expect(line).toBe(`${percent}, 1,200 replayed, ${speed} per second, ${left}`);
});

it("shows only the speed of work whose size is unknown", () => {
  expect(workText({ done: 1500, what: "decided", share: undefined }, 2)).toBe(
    "1,500 decided, 750 per second",
  );
});

it("counts the time of a walk from its first record on", () => {
  const io = fakeIo({ terminal: true });
  const progress = walkProgress({}, io, "replayed");
  vi.advanceTimersByTime(10_000);
  progress.show(1, 0.001);
  expect(io.written.err).toBe("");
  vi.advanceTimersByTime(2000);
  progress.show(1000, 0.5);
  expect(io.written.err).toBe("\r50 %, 1,000 replayed, 500 per second, 2 s left\u001b[K");
  progress.erase();
  expect(io.written.err.endsWith(erased)).toBe(true);
});
