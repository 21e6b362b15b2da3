import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import { attack, longestRun, refused, terminalCommands } from "./attack.js";
import type { HostileFile, HostileFiles, Soundness } from "./corpus.js";
import type { JudgedFolder } from "./file-child.js";
import type { Death } from "./watched-child.js";
import { bundleChild, watch } from "./watched-child.js";

const validateCodes: Readonly<Record<Soundness, readonly number[]>> = {
  sound: [0],
  void: [3],
  "sound but for a test": [3],
  broken: [3],
  alien: [3],
  illegible: [3],
  "sound or broken": [0, 3],
};

const evaluateCodes: Readonly<Record<Soundness, readonly number[]>> = {
  sound: [0],
  void: [2],
  "sound but for a test": [0],
  broken: [3],
  alien: [2],
  illegible: [2, 3],
  "sound or broken": [0, 3],
};

/** Puts each file of the classes in a folder of its own and has the commands read it. */
export function testFiles(classes: readonly HostileFiles[]): void {
  const root = temporaryDirectory();
  const all = classes.flatMap(({ files }) => files);
  const folders = new Map(all.map((hostile, index) => [hostile, join(root, String(index))]));
  const folderOf = (hostile: HostileFile): string => folders.get(hostile) ?? "";
  const judged = new Map<HostileFile, JudgedFolder | Death>();

  beforeAll(async () => {
    for (const hostile of all) {
      mkdirSync(folderOf(hostile));
      writeFileSync(join(folderOf(hostile), hostile.file ?? "x.yaml"), hostile.content());
    }
    const script = await bundleChild("file-child", root);
    const args = [...folders.values()];
    const { said, deaths } = await watch({
      script,
      args,
      cases: all.length,
      folder: root,
      patience: 2 * longestRun,
    });
    for (const each of [...(said as JudgedFolder[]), ...deaths]) {
      const hostile = all[each.index];
      if (hostile !== undefined) judged.set(hostile, each);
    }
  }, 300_000);

  describe.each(classes)("a definition file $title", ({ files, spawned }) => {
    it.each(files)("$name is read or refused in time", (hostile) => {
      expect(judged.get(hostile)).toMatchObject({
        validate: { exitCode: oneOf(validateCodes[hostile.is]) },
        evaluate: { exitCode: oneOf(evaluateCodes[hostile.is]) },
      });
      const { validate, evaluate } = judged.get(hostile) as JudgedFolder;
      if (validate.exitCode === 3)
        expect(validate.places[0]).toMatch(new RegExp(`^${hostile.at ?? "\\d+:\\d+"}$`));
      if (hostile.is === "broken") expect(evaluate.places).not.toEqual([]);
      if (hostile.is.startsWith("sound but") || hostile.is === "sound") expect(evaluate.said).toBe("t");
      expect(validate.said).not.toContain("Maximum call stack");
    });

    it.each(spawned ? files : files.slice(0, 1))("$name does no harm to validate", async (hostile) => {
      const { file = "x.yaml" } = hostile;
      const options = { cwd: folderOf(hostile), exitCode: validateCodes[hostile.is] };
      const { exitCode, stdout } = await attack(["decision", "validate", ".", "--format", "plain"], options);
      expect(stdout).not.toMatch(terminalCommands);
      if (exitCode === 3) expect(stdout).toMatch(new RegExp(`^(?:\\./)?${file}:\\d+:\\d+\\s+error\\s`, "m"));
    });

    it.each(samples(files))("$name does no harm to evaluate", async (hostile) => {
      const args = [
        "decision",
        "evaluate",
        "x",
        "--decisions",
        ".",
        "--input",
        '{"a": 1}',
        "--format",
        "target",
      ];
      const options = { cwd: folderOf(hostile), exitCode: evaluateCodes[hostile.is] };
      if (hostile.is.startsWith("sound but") || hostile.is === "sound") {
        expect((await attack(args, options)).stdout).toBe("t\n");
        return;
      }
      const { stderr, exitCode } = await refused(args, options);
      if (exitCode === 3) expect(stderr).toMatch(new RegExp(`${hostile.file ?? "x.yaml"}:\\d+:\\d+`));
    });
  });
}

/** The first of each kind. */
export function samples(files: readonly HostileFile[]): readonly HostileFile[] {
  const kinds = new Set(files.map(({ is }) => is).filter((is) => is !== "sound or broken"));
  return [...kinds].flatMap((kind) => files.find(({ is }) => is === kind) ?? []);
}

function oneOf(codes: readonly number[]): unknown {
  return expect.toSatisfy((code: number) => codes.includes(code), `one of ${codes.join(", ")}`);
}
