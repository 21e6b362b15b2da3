import { setTimeout as sleep } from "node:timers/promises";
import { untilInterrupted } from "./batch.js";
import { describeError } from "./error-text.js";
import type { ExitCode } from "./exit-codes.js";
import type { CommonFlags } from "./flags.js";
import { styleFor } from "./flags.js";
import type { Io } from "./io.js";
import { assertOpen } from "./io.js";
import type { SuitePaths } from "./open-tests.js";
import { suiteStamp } from "./open-tests.js";
import { note } from "./world.js";
import { DecisionError, toFileError } from "../errors.js";
import { present } from "../present/format.js";
import { testChangesView } from "../present/test-view.js";
import { stampOfPath } from "../store/definition-directory.js";
import type { TestReport } from "../testing/run-tests.js";

/** Called while tests are read and run. */
export interface TestHooks {
  /** Called with the path of each file with data before it is read. */
  readonly onData: (path: string) => void;
  /** Called after every few hundred tests; throws if the run is to end. */
  readonly pause: () => Promise<void>;
}

interface WatchedTests {
  readonly suites: readonly SuitePaths[];
  readonly run: (hooks: TestHooks) => Promise<TestReport>;
  /** Says which bounds the report does not reach. */
  readonly assertBounds: (report: TestReport) => void;
}

/** How often the files are looked at. They are looked at, and not watched by the system, which loses renamed files. */
const intervalMs = 200;

/**
 * Runs tests, and runs them again whenever a definition, a test or a file with data has changed, until Ctrl-C. After the
 * first run, only the tests whose outcome has changed are shown. An error of a file is shown, and does not end it.
 */
export async function watchTests(tests: WatchedTests, flags: CommonFlags, io: Io): Promise<ExitCode> {
  await untilInterrupted(async (signal) => {
    const watcher = new Watcher(tests, flags, io, signal);
    try {
      await watcher.runOnce({ isFirst: true });
      if (!flags.quiet) note(io, "watching for changes; press Ctrl-C to stop");
      while (await watcher.isChanged()) await watcher.runOnce({ isFirst: false });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
  return 130;
}

class Watcher {
  readonly #tests: WatchedTests;
  readonly #flags: CommonFlags;
  readonly #io: Io;
  readonly #signal: AbortSignal;
  /** The last run that had a report. */
  #last: TestReport | undefined;
  /** The state of the files when they were read, and that of the data by its path. */
  #stamp = "";
  #data: ReadonlyMap<string, string> = new Map();

  constructor(tests: WatchedTests, flags: CommonFlags, io: Io, signal: AbortSignal) {
    this.#tests = tests;
    this.#flags = flags;
    this.#io = io;
    this.#signal = signal;
  }

  async runOnce({ isFirst }: { readonly isFirst: boolean }): Promise<void> {
    // What changes from here on leads to another run.
    this.#stamp = this.#currentStamp();
    const data = new Map<string, string>();
    try {
      const report = await this.#tests.run({
        onData: (path) => data.set(path, stampOfPath(path)),
        pause: async () => {
          // Lets pending signals run.
          await new Promise((resolve) => setImmediate(resolve));
          this.#signal.throwIfAborted();
        },
      });
      await this.#show(report);
      this.#data = data;
    } catch (thrown) {
      const error = toFileError(thrown) ?? thrown;
      if (!(error instanceof DecisionError) || (isFirst && isWrongUse(error))) throw thrown;
      const { paint } = await styleFor(this.#flags, this.#io, this.#io.err);
      this.#io.err.write(describeError(error, paint));
      // Not all data may have been read.
      this.#data = new Map([...this.#data, ...data]);
    }
    assertOpen(this.#io.out);
  }

  async #show(report: TestReport): Promise<void> {
    const text = await present(
      testChangesView(report, this.#last),
      "table",
      await styleFor(this.#flags, this.#io),
    );
    this.#io.out.write(this.#last === undefined ? text : `\n${text}`);
    this.#tests.assertBounds(report);
    this.#last = report;
  }

  /** Waits until the files have changed and have been the same for two looks; false: interrupted. */
  async isChanged(): Promise<boolean> {
    let earlier: string | undefined;
    while (!this.#signal.aborted) {
      await sleep(intervalMs, undefined, { signal: this.#signal }).catch(() => undefined);
      const current = `${this.#currentStamp()}\n${[...this.#data.keys()].map(stampOfPath).join("\n")}`;
      if (current === earlier) return true;
      const read = `${this.#stamp}\n${[...this.#data.values()].join("\n")}`;
      earlier = current === read ? undefined : current;
    }
    return false;
  }

  /** A directory that is missing or cannot be read is a state, too. */
  #currentStamp(): string {
    try {
      return this.#tests.suites.map(suiteStamp).join("\n");
    } catch (error) {
      return `unreadable: ${String(error)}`;
    }
  }
}

const isWrongUse = ({ code }: DecisionError): boolean => code === "usage" || code === "definitions_missing";
