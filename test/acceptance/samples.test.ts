import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "yaml";
import { describe, expect, it } from "vitest";
import { runInProcess as run } from "../cli/in-process.js";
import { root, run as runProcess, samples, temporaryDirectory } from "./command.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

interface Sample {
  readonly id: string;
  readonly input: object;
  readonly target: string;
  readonly label: string;
}

const answers: readonly Sample[] = [
  {
    id: "decision-quality-gate",
    input: { artifact: { quality_score: 0.9 } },
    target: "stage-deploy",
    label: "Pass",
  },
  {
    id: "decision-artifact-type-router",
    input: { artifact: { type: "agent" } },
    target: "stage-agent-validation",
    label: "Agent Config",
  },
  {
    id: "decision-ab-prompt-variant",
    input: { request: { id: "req-2" } },
    target: "stage-prompt-v3",
    label: "Variant B (v3)",
  },
  {
    id: "decision-escalation-rules",
    input: { severity: "critical", attempts: 3, quality_score: 1 },
    target: "stage-human-escalation",
    label: "Critical + Retried",
  },
];

describe.each(answers)("the sample $id", ({ id, input, target, label }) => {
  const words = ["decision", "evaluate", id, "--input", JSON.stringify(input)];

  it("answers in a pipe", async () => {
    const { exitCode, stdout, stderr } = await runProcess(words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      decision_id: id,
      selected_targets: [target],
      selected_labels: [label],
      because: [expect.any(String) as string],
    });
  });

  it("answers with the target alone", async () => {
    expect(await run([...words, "--format", "target"])).toEqual({
      exitCode: 0,
      stdout: `${target}\n`,
      stderr: "",
    });
  });

  it("answers alike from a file, from standard input and in a batch", async () => {
    const text = JSON.stringify(input);
    const fromStdin = await run(["decision", "evaluate", id, "--input", "-", "--format", "target"], {
      input: text,
    });
    const inBatch = await run(["decision", "evaluate", id, "--inputs", "-", "--format", "target"], {
      input: `${text}\n`,
    });
    expect([fromStdin.stdout, inBatch.stdout]).toEqual([`${target}\n`, `${target}\n`]);
  });

  it("answers alike from cached and from freshly read definitions", async () => {
    const env = { AGENT33_CACHE: temporaryDirectory() };
    const hashes: unknown[] = [];
    for (let time = 0; time < 3; time++) {
      const { stdout } = await run(words, { env });
      const { deterministic_hash, evaluation_details } = JSON.parse(stdout) as Record<string, unknown>;
      hashes.push(JSON.stringify([deterministic_hash, evaluation_details]));
    }
    expect(new Set(hashes).size).toBe(1);
  });

  it.skipIf(!hasTerminal)(`leads with the answer on a terminal${noTerminal}`, async () => {
    const { exitCode, screen } = await typed(
      `node bin/agent-33.js decision evaluate ${id} --input '${JSON.stringify(input)}'`,
      {
        cwd: root,
        env: { NO_COLOR: "1" },
      },
    );
    expect(exitCode).toBe(0);
    expect(screen.split("\n")[0]).toBe(`${target}  ${label}`);
  });
});

describe("the samples", () => {
  it("are valid, without a remark", async () => {
    const { exitCode, stdout } = await run(["decision", "validate", samples]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ valid: true, problems: [], guardrails_checked: 1 });
  });

  it("are shown with their file and hash", async () => {
    const { stdout } = await run(["decision", "show", "decision-quality-gate", "--format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      id: "decision-quality-gate",
      type: "binary",
      file: "decisions/quality-gate.yaml",
      line: 2,
      definition_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  it("fit the schema that editors use", async () => {
    const { stdout } = await run(["decision", "schema"]);
    const { default: Ajv } = await import("ajv");
    const { parseAllDocuments } = await import("yaml");
    const validate = new Ajv.default({ strict: false }).compile(JSON.parse(stdout) as object);
    const files = readdirSync(samples).filter((file) => /(?<!\.test)\.yaml$/.test(file));
    expect(files.length).toBeGreaterThanOrEqual(7);
    for (const file of files) {
      for (const each of parseAllDocuments(readFileSync(join(samples, file), "utf8"))) {
        const document = (each as Document).toJS() as { readonly decision: object };
        expect(validate(document), file).toBe(true);
        expect(validate({ decision: { ...document.decision, nonsense: 1 } }), file).toBe(false);
      }
    }
  });
});
