import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main } from "../../src/cli/main.js";
import { bin, cleanEnvironment, run, temporaryDirectory } from "../acceptance/command.js";
import { fakeIo } from "../cli/fake-io.js";

const saver = fileURLToPath(new URL("../store/children/file-saver.mjs", import.meta.url));

/** Valid on its own, and allows every call; the rest denies `rm`. */
const part = "decision:\n  id: no-rm\n  type: policy\n  tool: rm\n  policies:\n    - { name: any }\n";
const rest = "    - { name: never, conditions: [{ name: no, expression: 'false' }] }\n";
const other = "decision: { id: other, type: policy, tool: ls, policies: [] }\n";

/** A directory with a policy that denies `rm`; a child process can save it again and again. */
export interface SavedPolicy {
  readonly root: string;
  readonly file: string;
  whileSaving(race: () => Promise<void>): Promise<void>;
}

export function savedPolicy(): SavedPolicy {
  const root = temporaryDirectory();
  const file = join(root, "decisions/no-rm.yaml");
  mkdirSync(join(root, "decisions"));
  writeFileSync(join(root, "decisions/other.yaml"), other);
  writeFileSync(file, part + rest);
  return {
    root,
    file,
    async whileSaving(race) {
      const child = spawn(process.execPath, [saver, file, part, rest], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        await once(child.stdout, "data");
        await race();
      } finally {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
    },
  };
}

/** Counts answers by a text. */
export type Counts = Record<string, number>;

const count = (counts: Counts, answer: string): void => void (counts[answer] = (counts[answer] ?? 0) + 1);

const words = ["decision", "check", "rm", "--session-id", "s", "--dry-run", "--format", "reason"];

/** Runs many checks, some at a time, and counts their exit codes. */
async function countChecks(checks: number, atOnce: number, check: () => Promise<number>): Promise<Counts> {
  const counts: Counts = {};
  let left = checks;
  const worker = async (): Promise<void> => {
    while (left-- > 0) count(counts, `exit ${await check()}`);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return counts;
}

/** Checks in this process, as the command does. */
export function checkInProcess({ root }: SavedPolicy, checks: number): Promise<Counts> {
  const env = { AGENT33_HOME: join(root, "home"), AGENT33_CACHE: join(root, "cache") };
  return countChecks(checks, 50, () =>
    main(words, fakeIo({ cwd: root, env: { ...env, AGENT33_DECISIONS: join(root, "decisions") } })),
  );
}

/** Checks with the built command, in a process for each. */
export function checkByCommand({ root }: SavedPolicy, checks: number): Promise<Counts> {
  const env = { AGENT33_HOME: join(root, "home") };
  return countChecks(checks, 24, async () => (await run(words, { cwd: root, env })).exitCode ?? -1);
}

export interface SavingServer {
  readonly child: ChildProcess;
  /** Checks over HTTP, with SIGHUP after every tenth, and reads the decision that is being saved. */
  check(checks: number): Promise<Counts>;
  /** Resolves when the log contains the text. */
  logs(text: string): Promise<void>;
}

/** Starts the built server; `stop` it with SIGTERM. */
export async function serveSaved({ root }: SavedPolicy): Promise<SavingServer> {
  const env = cleanEnvironment({ AGENT33_HOME: join(root, "home"), AGENT33_CACHE: join(root, "cache") });
  const args = [bin, "decision", "serve", "--port", "0"];
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const logs = async (text: string): Promise<void> => {
    while (!said.includes(text)) await once(child.stderr, "data");
  };
  await logs("use --jwks to allow remote clients\n");
  const [, url = ""] = /^listening on (\S+)$/m.exec(said) ?? [];
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ tool: "rm", params: {}, session_id: "s" });
  return {
    child,
    logs,
    async check(checks) {
      const counts: Counts = {};
      for (let done = 0; done < checks; done++) {
        if (done % 10 === 0) child.kill("SIGHUP");
        const checked = await fetch(`${url}/check`, { method: "POST", headers, body });
        const { allowed } = (await checked.json()) as { readonly allowed?: boolean };
        count(counts, `${checked.status} ${allowed === true ? "allowed" : "denied"}`);
        const shown = await fetch(`${url}/decisions/no-rm`);
        await shown.arrayBuffer();
        count(counts, `shown ${shown.status}`);
      }
      return counts;
    },
  };
}
