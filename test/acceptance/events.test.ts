import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { formatCount, plural } from "../../src/present/text.js";
import { runInProcess as run } from "../cli/in-process.js";
import { bin, cleanEnvironment, root, temporaryDirectory } from "./command.js";
import type { LiveStream } from "./live-stream.js";
import { openStream } from "./live-stream.js";

const router = "decision-artifact-type-router";
const target = ["--format", "target"];
const asks = (type: string): string => `{"artifact":{"type":"${type}"}}\n`;

/** A stream of targets, and the store that its decisions are recorded in. */
function open(more: readonly string[] = target): { readonly stream: LiveStream; readonly store: string } {
  const store = temporaryDirectory();
  return { store, stream: openStream(["evaluate", router, "--inputs", "-", ...more], store) };
}

/** How many records a store holds that is valid. */
async function recorded(store: string): Promise<number> {
  const { stdout } = await run(["decision", "verify", "--json"], { env: { AGENT33_STORE: store } });
  const { ok, size } = JSON.parse(stdout) as { ok: boolean; size: number };
  expect(ok).toBe(true);
  return size;
}

async function restOf(stream: LiveStream): Promise<number> {
  let answers = 0;
  while ((await stream.answer()) !== undefined) answers++;
  return answers;
}

describe("a live stream", () => {
  it("has each line answered and recorded before the next is written", async () => {
    const { stream, store } = open();
    for (const [index, type] of ["prompt", "agent", "schema"].entries()) {
      stream.write(asks(type));
      expect(await stream.answer()).toBe(`stage-${type}-validation`);
      expect(await recorded(store)).toBe(index + 1);
    }
    stream.end();
    expect(await stream.ended()).toEqual({ exitCode: 0, signal: undefined, stderr: "" });
  });

  it("may break a line anywhere, and end without a line end", async () => {
    const { stream } = open();
    stream.write(`${asks("prompt")}{"artifact":`);
    expect(await stream.answer()).toBe("stage-prompt-validation");
    stream.write(`{"type":"agent"}}\n{"artifact":{"ty`);
    expect(await stream.answer()).toBe("stage-agent-validation");
    stream.write('pe":"schema"}}');
    stream.end();
    expect(await stream.answer()).toBe("stage-schema-validation");
    expect(await stream.ended()).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("goes on behind a bad line, and tells of it at the end", async () => {
    const { stream } = open(["--format", "jsonl"]);
    stream.write("oops\n");
    expect(JSON.parse((await stream.answer()) ?? "")).toMatchObject({ line: 1, error: {} });
    stream.write(asks("prompt"));
    expect(JSON.parse((await stream.answer()) ?? "")).toMatchObject({ type: "switch" });
    stream.end();
    const stderr = expect.stringMatching(
      /^\{"error":.*"1 of 2 lines failed; first: line 1: .*\}\n$/,
    ) as unknown;
    expect(await stream.ended()).toEqual({ exitCode: 1, signal: undefined, stderr });
  });

  it("may be a file of the shell, such as <(…)", async () => {
    const script = `node bin/agent-33.js decision dry-run ${router} --format target --inputs <(printf '%s\\n' '${asks("agent").trim()}')`;
    const env = cleanEnvironment();
    const { stdout } = await execa("bash", ["-c", script], { cwd: root, env, extendEnv: false });
    expect(stdout).toBe("stage-agent-validation");
  });
});

describe("a live stream that is interrupted", () => {
  it.each([
    { name: "SIGINT", ends: { exitCode: 130, signal: undefined } },
    { name: "SIGTERM", ends: { exitCode: undefined, signal: "SIGTERM" } },
  ] as const)("by $name while it waits ends at once, without half a line", async ({ name, ends }) => {
    const { stream, store } = open();
    stream.write(`${asks("prompt")}{"artifact":{}}`);
    expect(await stream.answer()).toBe("stage-prompt-validation");
    stream.kill(name);
    expect(await stream.answer()).toBeUndefined();
    expect(await stream.ended()).toEqual({ ...ends, stderr: "interrupted: 1 line decided, 1 recorded\n" });
    expect(await recorded(store)).toBe(1);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "by %s while it answers has answered all that it recorded",
    async (name) => {
      const { stream, store } = open();
      stream.write(asks("prompt").repeat(2_000));
      await stream.answer();
      stream.kill(name);
      const answers = 1 + (await restOf(stream));
      await stream.ended();
      expect(await recorded(store)).toBe(answers);
    },
  );

  it("leaves a file at a whole answer too", async () => {
    const [folder, store] = [temporaryDirectory(), temporaryDirectory()];
    const file = join(folder, "many.jsonl");
    writeFileSync(file, asks("prompt").repeat(50_000));
    const stream = openStream(["evaluate", router, "--inputs", file, ...target], store);
    await stream.answer();
    stream.kill("SIGINT");
    const answers = 1 + (await restOf(stream));
    const count = formatCount(answers);
    const stderr = `interrupted: ${plural(answers, "line")} decided, ${count} recorded\n`;
    expect(await stream.ended()).toEqual({ exitCode: 130, signal: undefined, stderr });
    expect(answers).toBeLessThan(50_000);
    expect(await recorded(store)).toBe(answers);
  });
});

describe("a live stream whose reader goes away", () => {
  it("ends quietly at the next answer, though its input is still open", async () => {
    const { stream } = open();
    stream.write(asks("prompt"));
    await stream.answer();
    stream.hangUp();
    stream.write(asks("agent"));
    expect(await stream.ended()).toEqual({ exitCode: 0, signal: undefined, stderr: "" });
  });
});

/** Tells of each file that is put into a folder. */
const sensor = `
require("node:fs").watch(process.argv[1], (_, name) => console.log(JSON.stringify({ event: "file_change", path: name })));
console.log(JSON.stringify({ event: "watching", path: "" }));`;

const fileChange = {
  artifact: {
    path: "{{ path }}",
    type: "{{ if contains(path, '.prompt.') then 'prompt' else if contains(path, '.agent.') then 'agent' else 'other' }}",
  },
};

describe("a sensor of file changes", () => {
  it("is routed while the files change", async () => {
    const [folder, store] = [temporaryDirectory(), temporaryDirectory()];
    mkdirSync(join(folder, "artifacts"));
    const map = join(folder, "map.json");
    writeFileSync(map, JSON.stringify(fileChange));
    const watching = execa(process.execPath, ["-e", sensor, join(folder, "artifacts")], { reject: false });
    const words = ["evaluate", router, "--inputs", "-", "--map", `@${map}`, ...target];
    const stream = openStream(words, store);
    watching.stdout.on("data", (line: Buffer) => stream.write(line.toString()));
    expect(await stream.answer()).toBe("stage-generic-validation");
    for (const [file, stage] of [
      ["greeting.prompt.md", "stage-prompt-validation"],
      ["helper.agent.yaml", "stage-agent-validation"],
      ["notes.txt", "stage-generic-validation"],
    ] as const) {
      writeFileSync(join(folder, file), "x");
      renameSync(join(folder, file), join(folder, "artifacts", file));
      expect(await stream.answer()).toBe(stage);
    }
    watching.kill();
    await watching;
    stream.end();
    expect(await stream.ended()).toMatchObject({ exitCode: 0, stderr: "" });
    const { stdout } = await run(["decision", "log", "--limit", "1", "--format", "jsonl"], {
      env: { AGENT33_STORE: store },
    });
    expect((JSON.parse(stdout) as { context: unknown }).context).toEqual({
      artifact: { path: "notes.txt", type: "other" },
    });
  });
});

describe("the help", () => {
  const store = temporaryDirectory();
  const examplesOf = async (words: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await run(words);
    const examples = [...stdout.matchAll(/^ +\$ ((?:.*\\\n)*.*)$/gm)].map((found) => found[1] ?? "");
    return examples.filter((example) => /--map|--inputs -/.test(example));
  };

  it.each([
    [["decision", "evaluate", "--help"], 1],
    [["decision", "dry-run", "--help"], 1],
    [["decision", "gate", "--help"], 1],
  ])("%j shows events that are answered", async (words, count) => {
    const examples = await examplesOf(words);
    expect(examples).toHaveLength(count);
    const isGate = words.includes("gate");
    // The gate is that of the samples, the other decision is the one that `init` writes.
    const cwd = isGate ? root : temporaryDirectory();
    if (!isGate) await execa(process.execPath, [bin, "init", "--yes"], { cwd, env: cleanEnvironment() });
    for (const example of examples) {
      const line = example.replace("agent-33", `"${process.execPath}" "${bin}"`);
      const options = { cwd, env: cleanEnvironment({ AGENT33_STORE: store }), extendEnv: false };
      const { stdout, stderr } = await execa("bash", ["-c", line], options);
      expect(JSON.parse(stdout)).toMatchObject(isGate ? { status: "GREEN" } : { selected_targets: ["pay"] });
      expect(stderr).toBe("");
    }
  });
});
