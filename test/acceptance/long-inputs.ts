import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { bin, cleanEnvironment, root } from "./command.js";

/** Writes that many contexts for the escalation table, and after each thousand a line that is no JSON. */
export function writeContexts(file: string, lines: number): void {
  const fd = openSync(file, "w");
  for (let from = 0; from < lines; from += 1000) {
    const chunk = Array.from({ length: Math.min(1000, lines - from) }, (_, index) =>
      JSON.stringify({
        severity: index % 7 === 0 ? "critical" : "low",
        attempts: index % 5,
        quality_score: (index % 100) / 100,
      }),
    );
    writeSync(fd, `${chunk.join("\n")}\noops\n`);
  }
  closeSync(fd);
}

export interface Peak {
  readonly megabytes: number;
  readonly answers: number;
  readonly errors: number;
  readonly exitCode: number | undefined;
}

/** Answers the contexts in a child and tells how much memory that took at most. */
export async function peakOf(
  file: string,
  folder: string,
  verb: "evaluate" | "dry-run" = "evaluate",
): Promise<Peak> {
  const probe = join(folder, "probe.cjs");
  const report = join(folder, "peak.txt");
  const answers = join(folder, "answers.jsonl");
  writeFileSync(
    probe,
    `process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)))`,
  );
  const words = ["decision", verb, "decision-escalation-rules", "--inputs", file, "--format", "jsonl"];
  const { exitCode } = await execa(process.execPath, ["--require", probe, bin, ...words], {
    cwd: root,
    env: cleanEnvironment(),
    extendEnv: false,
    stdout: { file: answers },
    buffer: false,
    reject: false,
  });
  const count = async (pattern: string): Promise<number> =>
    Number((await execa("grep", ["-c", pattern, answers], { reject: false })).stdout);
  const { stdout: kilobytes } = await execa("cat", [report]);
  return {
    exitCode,
    megabytes: Number(kilobytes) / 1024,
    answers: await count(verb === "evaluate" ? '^{"record_id"' : '^{"decision_id"'),
    errors: await count('^{"line"'),
  };
}
