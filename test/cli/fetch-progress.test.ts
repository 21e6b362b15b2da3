import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fetchProgress } from "../../src/cli/progress.js";
import { fakeIo } from "./fake-io.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "hrtime"] });
  // It begins at zero, which would be before all that was measured so far.
  vi.advanceTimersByTime(1e12);
});
afterEach(() => void vi.useRealTimers());

const pass = (milliseconds: number): void => {
  vi.advanceTimersByTime(milliseconds);
};

it("says who is being asked once that takes long, and takes it back", () => {
  const io = fakeIo({ terminal: true });
  const over = fetchProgress({}, io)?.("bureau");
  pass(299);
  expect(io.written.err).toBe("");
  pass(51);
  expect(io.written.err).toBe("\rasking `bureau` …\u001b[K");
  over?.();
  expect(io.written.err).toBe("\rasking `bureau` …\u001b[K\r\u001b[K");
  pass(1000);
  expect(io.written.err.match(/asking/g)).toHaveLength(1);
});

it("names one and counts the others", () => {
  const io = fakeIo({ terminal: true });
  const asking = fetchProgress({}, io);
  const over = ["bureau", "bureau", "weather", "news"].map((name) => asking?.(name));
  pass(400);
  expect(io.written.err).toContain("asking `bureau` and 2 more …");
  for (const each of over.slice(0, 3)) each?.();
  pass(200);
  expect(io.written.err).toContain("asking `news` …");
  over[3]?.();
  expect(io.written.err.endsWith("\r\u001b[K")).toBe(true);
});

it("says nothing of what is quick", () => {
  const io = fakeIo({ terminal: true });
  fetchProgress({}, io)?.("bureau")();
  pass(1000);
  expect(io.written.err).toBe("");
});

it.each([
  { name: "where it is not a terminal", terminal: false, quiet: false },
  { name: "where it is to be quiet", terminal: true, quiet: true },
])("says nothing $name", ({ terminal, quiet }) => {
  expect(fetchProgress({ quiet }, fakeIo({ terminal }))).toBeUndefined();
});
