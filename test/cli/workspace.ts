import { cpSync, mkdtempSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExitCode } from "../../src/cli/exit-codes.js";
import { main } from "../../src/cli/main.js";
import { fakeIo } from "./fake-io.js";

const samples = fileURLToPath(new URL("../../decisions", import.meta.url));

export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** A project with the samples, and a store of its own. */
export interface Workplace {
  readonly root: string;
  readonly decisions: string;
  readonly store: string;
  /** Runs `agent-33 decision …`. */
  run(words: readonly string[], options?: RunOptions): Promise<Ran>;
}

interface RunOptions {
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

export function workplace(): Workplace {
  const root = mkdtempSync(join(tmpdir(), "agent-33-workplace-"));
  const decisions = join(root, "decisions");
  const store = join(root, "store");
  cpSync(samples, decisions, { recursive: true, preserveTimestamps: true });
  // Commands wait until a directory that has just changed is settled.
  utimesSync(decisions, 0, 0);
  return {
    root,
    decisions,
    store,
    async run(words, { terminal = false, columns, stdin, env = {} } = {}) {
      const settings = { AGENT33_STORE: store, AGENT33_DECISIONS: decisions, NO_COLOR: "1", ...env };
      const io = fakeIo({
        terminal,
        cwd: root,
        env: settings,
        ...(stdin !== undefined && { stdin }),
        ...(columns !== undefined && { columns }),
      });
      return { code: await main(["decision", ...words], io), ...io.written };
    },
  };
}
