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

it("shows the endpoint after 300 ms and erases the line at the end", () => {
  const io = fakeIo({ terminal: true });
  const hide = fetchProgress({}, io)?.("bureau");
  pass(299);
  expect(io.written.err).toBe("");
  pass(51);
  expect(io.written.err).toBe("\rfetching from `bureau` …\u001b[K");
  hide?.();
  expect(io.written.err).toBe("\rfetching from `bureau` …\u001b[K\r\u001b[K");
  pass(1000);
  expect(io.written.err.match(/fetching/g)).toHaveLength(1);
});

it("shows the first endpoint and the number of others", () => {
  const io = fakeIo({ terminal: true });
  const show = fetchProgress({}, io);
  const hide = ["bureau", "bureau", "weather", "news"].map((name) => show?.(name));
  pass(400);
  expect(io.written.err).toContain("fetching from `bureau` and 2 more …");
  for (const each of hide.slice(0, 3)) each?.();
  pass(200);
  expect(io.written.err).toContain("fetching from `news` …");
  hide[3]?.();
  expect(io.written.err.endsWith("\r\u001b[K")).toBe(true);
});

it("shows nothing for a quick response", () => {
  const io = fakeIo({ terminal: true });
  fetchProgress({}, io)?.("bureau")();
  pass(1000);
  expect(io.written.err).toBe("");
});

it.each([
  { name: "without a terminal", terminal: false, quiet: false },
  { name: "with --quiet", terminal: true, quiet: true },
])("shows nothing $name", ({ terminal, quiet }) => {
  expect(fetchProgress({ quiet }, fakeIo({ terminal }))).toBeUndefined();
});
