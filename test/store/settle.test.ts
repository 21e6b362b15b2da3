import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TimeSource } from "../../src/clock.js";
import type { OpenedDefinitions } from "../../src/store/definitions.js";
import { openDefinitions, readSummaries } from "../../src/store/definitions.js";
import { settlingTime } from "../../src/store/settle.js";

const start = Date.parse("2026-03-02T12:00:00Z");
const hour = 3_600_000;

/** A clock that only `sleep` moves; `during` runs while somebody sleeps. */
class SleepingTime implements TimeSource {
  readonly slept: number[] = [];
  elapsed = 0;
  busy = 0;
  /** How much later than asked each sleep ends. */
  late = 0;
  during: () => void = () => undefined;
  now(): number {
    return start + this.elapsed;
  }
  stopwatch(): number {
    return this.elapsed;
  }
  load(): number {
    return this.busy;
  }
  sleep(milliseconds: number): Promise<void> {
    this.slept.push(milliseconds);
    this.elapsed += milliseconds + this.late;
    this.during();
    return Promise.resolve();
  }
}

let directory = "";
let time: SleepingTime;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "agent-33-settle-"));
  time = new SleepingTime();
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const policy = (policies: string): string =>
  `decision: { id: p, type: policy, tool: rm, policies: [${policies}] }\n`;
const denying = policy("{ name: never, conditions: [{ name: c, expression: 'false' }] }");

function setTime(path: string, at: number): void {
  utimesSync(path, at / 1000, at / 1000);
}

/** Writes a file as if it was modified `ago` milliseconds before the current time of the test. */
function write(text: string, ago: number, { folderAgo = hour, name = "p.yaml" } = {}): void {
  writeFileSync(join(directory, name), text);
  setTime(join(directory, name), start + time.elapsed - ago);
  setTime(directory, start + time.elapsed - folderAgo);
}

const open = (): Promise<OpenedDefinitions> =>
  openDefinitions({ directory, cacheHome: undefined, version: "1", time });

const policiesOf = async (opened: OpenedDefinitions): Promise<number> => {
  const { definition } = await opened.find("p");
  return definition.type === "policy" ? (definition.policies?.length ?? 0) : 0;
};

describe("a definition file", () => {
  it("that was modified 50 ms ago is read at once", async () => {
    write(denying, 50);
    expect((await open()).ids).toEqual(["p"]);
    expect(time.slept).toEqual([]);
  });

  it.each([
    { load: 4, ago: 50, waits: [] },
    { load: 14, ago: 50, waits: [125] },
    { load: 100, ago: 50, waits: [450] },
    { load: 100, ago: 500, waits: [] },
  ])("that was modified $ago ms ago waits for $waits ms at a load of $load", async ({ load, ago, waits }) => {
    write(denying, ago);
    time.busy = load;
    expect((await open()).ids).toEqual(["p"]);
    expect(time.slept).toEqual(waits);
  });

  it("waits for longer while the machine gets busier", async () => {
    write(denying, 10);
    time.during = () => (time.busy = 16);
    expect((await open()).ids).toEqual(["p"]);
    expect(time.slept).toEqual([40, 150]);
  });

  it("waits for three times as long as this process was kept waiting", async () => {
    write(denying, 10);
    time.late = 30;
    expect((await open()).ids).toEqual(["p"]);
    expect(time.slept).toEqual([40, 10]);
    time.late = 60_000;
    write(denying, 10);
    time.during = () => write(denying, 100);
    await expect(open()).rejects.toMatchObject({ code: "definition_invalid" });
  });

  it("that was truncated is read when it is complete", async () => {
    write("", 10);
    time.during = () => {
      if (time.slept.length === 1) write(denying, 5);
    };
    expect(await policiesOf(await open())).toBe(1);
    expect(time.slept).toEqual([40, 45]);
  });

  it("that is written in parts is not read in between", async () => {
    write(policy(""), 10);
    time.during = () => {
      if (time.slept.length === 1) write(denying, 0);
    };
    expect(await policiesOf(await open())).toBe(1);
  });

  it("that keeps changing is refused after a second", async () => {
    write(denying, 0);
    time.during = () => write(time.slept.length % 2 === 0 ? denying : "", 20);
    const refused = { code: "definition_invalid", message: `\`${directory}/p.yaml\` keeps changing` };
    await expect(open()).rejects.toMatchObject(refused);
    expect(time.elapsed).toBeGreaterThanOrEqual(1_000);
    expect(time.elapsed).toBeLessThan(1_100);
  });

  it("whose modification time is in the future is read after 50 ms without a change", async () => {
    write(denying, -hour);
    expect((await open()).ids).toEqual(["p"]);
    expect(time.slept).toEqual([50]);
  });

  it("that changes between being found and being read is read again", async () => {
    write(denying, hour);
    const opening = open();
    // The file was found, and is read in the next turn of the event loop.
    write(policy(""), 0);
    time.during = () => write(denying, hour);
    expect(await policiesOf(await opening)).toBe(1);
  });

  it("is inspected once, in the state that is used", async () => {
    write(denying, hour);
    const seen: string[] = [];
    const inspect = ({ definition }: { definition: { id: string } }): void => void seen.push(definition.id);
    const reading = readSummaries({ directory, cacheHome: undefined, version: "1", inspect, time });
    write(denying, 0);
    await reading;
    expect(seen).toEqual(["p"]);
  });
});

describe("a folder of definitions", () => {
  it("from which a file was just removed is read again, because the file may be being replaced", async () => {
    write(denying, hour);
    rmSync(join(directory, "p.yaml"));
    setTime(directory, start);
    time.during = () => write(denying, hour);
    expect((await open()).ids).toEqual(["p"]);
  });

  it("in which other files keep changing is read after 50 ms", async () => {
    write(denying, hour, { folderAgo: 0 });
    mkdirSync(join(directory, "deep"));
    time.during = () => setTime(directory, start + time.elapsed);
    expect((await open()).ids).toEqual(["p"]);
    expect(time.elapsed).toBe(50);
  });
});

it.runIf(process.platform === "linux")("the load counts the processes that run now", () => {
  expect(settlingTime.load()).toBeGreaterThanOrEqual(1 / availableParallelism());
});
