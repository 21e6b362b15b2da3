import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { execa } from "execa";

/** A run of numbered cases in a process of its own, which may come to harm. */
export interface Job {
  /** The script, as `bundleChild` made it. */
  readonly script: string;
  readonly args: readonly string[];
  readonly cases: number;
  /** A folder for what parent and child tell each other. */
  readonly folder: string;
  /** Milliseconds that a case may take before its process is ended. */
  readonly patience: number;
}

export interface Watched {
  /** What the children said, a JSON document a line. */
  readonly said: readonly unknown[];
  /** The cases that took their process with them. */
  readonly deaths: readonly Death[];
}

export interface Death {
  readonly index: number;
  readonly cause: string;
}

/** Bundles a child of this folder together with our source, so that plain node runs it. */
export async function bundleChild(name: string, folder: string): Promise<string> {
  const outfile = join(folder, `${name}.cjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    define: { __VERSION__: '"0.0.0"' },
    logLevel: "error",
  });
  return outfile;
}

/** Runs all cases; after a death the next child goes on behind it. */
export async function watch(job: Job, mostDeaths = 100): Promise<Watched> {
  const said: unknown[] = [];
  const deaths: Death[] = [];
  let from = 0;
  while (from < job.cases && deaths.length < mostDeaths) {
    const { lines, death } = await runOnce(job, from);
    said.push(...lines);
    if (death === undefined) break;
    deaths.push(death);
    from = death.index + 1;
  }
  return { said, deaths };
}

async function runOnce(
  job: Job,
  from: number,
): Promise<{ lines: readonly unknown[]; death: Death | undefined }> {
  const [progress, stdout, stderr] = ["progress", "stdout", "stderr"].map((name) =>
    join(job.folder, name),
  ) as [string, string, string];
  for (const file of [progress, stdout, stderr]) writeFileSync(file, "");
  const impatience = new AbortController();
  const child = execa(process.execPath, [job.script, progress, String(from), ...job.args], {
    reject: false,
    buffer: false,
    stdin: "ignore",
    stdout: { file: stdout },
    stderr: { file: stderr },
    cancelSignal: impatience.signal,
    killSignal: "SIGKILL",
  });
  const watchdog = watchProgress(progress, job.patience, () => impatience.abort());
  const { exitCode, signal, isCanceled } = await child;
  clearInterval(watchdog);
  const lines = readFileSync(stdout, "utf8").split("\n").slice(0, -1);
  const at = readFileSync(progress, "utf8");
  const complaint = `${signal ?? exitCode ?? "?"}: ${readFileSync(stderr, "utf8").slice(0, 2_000)}`;
  if (exitCode !== 0 && at === "") throw new Error(`the child did not start: ${complaint}`);
  const cause = isCanceled ? `took longer than ${job.patience} ms` : complaint;
  return {
    lines: lines.map((line) => JSON.parse(line) as unknown),
    death: exitCode === 0 ? undefined : { index: Number(at), cause },
  };
}

function watchProgress(file: string, patience: number, giveUp: () => void): NodeJS.Timeout {
  let shown = "";
  let since = performance.now();
  return setInterval(() => {
    const now = readFileSync(file, "utf8");
    if (now !== shown) [shown, since] = [now, performance.now()];
    else if (now !== "" && performance.now() - since > patience) giveUp();
  }, 100);
}
