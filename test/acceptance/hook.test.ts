import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { runInProcess } from "../cli/in-process.js";
import type { Ran } from "./command.js";
import { bin, cleanEnvironment, root, temporaryDirectory } from "./command.js";

/** The blocks of a language that the page shows. */
function blocksOf(language: string): readonly string[] {
  const text = readFileSync(join(root, "docs/policies.md"), "utf8");
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...text.matchAll(fence)].map((found) => found[1] ?? "");
}

/** The script that the page shows for this command. */
function documented(command: string): string {
  const blocks = blocksOf("sh");
  const scripts = blocks.filter((block) => block.startsWith("#!/bin/sh\n") && block.includes(command));
  const [script] = scripts;
  if (script === undefined || scripts.length > 1) {
    throw new Error(`docs/policies.md shows ${scripts.length} scripts with \`${command}\`, not one`);
  }
  return script;
}

const preTool = (): string => documented("decision check --event -");
const postTool = (): string => documented("decision result --event -");

const policy = `decision:
  id: files
  type: policy
  tool: "Write"
  policies:
    - name: read_first
      version: 1.0.0
      read_before_write: { read_tools: [Read], write_tools: [Write], path: params.file_path }
      deny_reason: "Read {{ params.file_path }} before you write it"
`;

/** A project whose coding agent runs the hooks. */
class Project {
  readonly directory = temporaryDirectory();

  constructor() {
    for (const name of ["bin", "hooks", "decisions"]) mkdirSync(join(this.directory, name));
    symlinkSync(bin, join(this.directory, "bin/agent-33"));
    writeFileSync(join(this.directory, "decisions/files.yaml"), policy);
  }

  before(event: object | string, cwd = this.directory): Promise<Ran> {
    return this.#run("pre-tool.sh", preTool(), event, cwd);
  }

  after(event: object): Promise<Ran> {
    return this.#run("post-tool.sh", postTool(), event);
  }

  async #run(name: string, script: string, event: object | string, cwd = this.directory): Promise<Ran> {
    const file = join(this.directory, "hooks", name);
    writeFileSync(file, script);
    chmodSync(file, 0o755);
    const PATH = `${join(this.directory, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;
    const { exitCode, stdout, stderr } = await execa(file, {
      cwd,
      input: typeof event === "string" ? event : JSON.stringify(event),
      env: cleanEnvironment({
        PATH,
        HOME: join(this.directory, "home"),
        CLAUDE_PROJECT_DIR: this.directory,
      }),
      extendEnv: false,
      reject: false,
      stripFinalNewline: false,
    });
    return { exitCode, stdout, stderr };
  }
}

const call = (tool: string, input: object, session = "s-1", event = "PreToolUse"): object => ({
  session_id: session,
  transcript_path: "transcript.jsonl",
  cwd: "/repo",
  hook_event_name: event,
  tool_name: tool,
  tool_input: input,
});
const write = (path: string, session?: string): object =>
  call("Write", { file_path: path, content: 'one "line"\nand another' }, session);
const read = { file_path: "/repo/a.txt" };

const goesOn: Ran = { exitCode: 0, stdout: "", stderr: "" };

describe("the hooks that the page shows", () => {
  it("work in a subdirectory of the project", async () => {
    const project = new Project();
    const { exitCode, stderr } = await project.before(write("/repo/a.txt"), join(project.directory, "hooks"));
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: "Read /repo/a.txt before you write it\n" });
  });

  it("let a file be written once it was read in the session, and tell the model so before", async () => {
    const project = new Project();
    expect(await project.before(write("/repo/a.txt"))).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "Read /repo/a.txt before you write it\n",
    });

    expect(await project.before(call("Read", read))).toEqual(goesOn);
    expect((await project.before(write("/repo/a.txt"))).exitCode).toBe(2);
    expect(await project.after({ ...call("Read", read, "s-1", "PostToolUse"), tool_response: "…" })).toEqual(
      goesOn,
    );

    expect(await project.before(write("/repo/./a.txt"))).toEqual(goesOn);
    expect((await project.before(write("/repo/b.txt"))).exitCode).toBe(2);
    expect((await project.before(write("/repo/a.txt", "s-2"))).exitCode).toBe(2);
  });

  it("keep to their store, whatever an `agent-33.json` says", async () => {
    const project = new Project();
    const limit =
      "decision: { id: d, type: policy, tool: Bash, policies: [{ name: p, max_calls: { count: 1, per: session } }] }";
    writeFileSync(join(project.directory, "decisions/limit.yaml"), limit);
    expect((await project.before(call("Bash", {}))).exitCode).toBe(0);
    writeFileSync(join(project.directory, "agent-33.json"), '{"store": "fresh"}');
    expect((await project.before(call("Bash", {}))).exitCode).toBe(2);
  });

  it("let tools be called that no policy is about", async () => {
    expect(await new Project().before(call("Bash", { command: "ls" }))).toEqual(goesOn);
  });

  it.each([
    {
      name: "a policy is broken",
      spoil: ({ directory }: Project) =>
        writeFileSync(join(directory, "decisions/files.yaml"), policy.replace("version:", "versoin:")),
      complaint: "a policy may be invalid",
    },
    {
      name: "there are no definitions",
      spoil: ({ directory }: Project) => rmSync(join(directory, "decisions"), { recursive: true }),
      complaint: "decisions",
    },
    {
      name: "the command falls over without a word",
      spoil: ({ directory }: Project) => {
        rmSync(join(directory, "bin/agent-33"));
        writeFileSync(join(directory, "bin/agent-33"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
      },
      complaint: "",
    },
    {
      name: "the record cannot be kept",
      spoil: ({ directory }: Project) => writeFileSync(join(directory, "home"), "no directory"),
      complaint: "home",
    },
  ])("block every call where $name", async ({ spoil, complaint }) => {
    const project = new Project();
    spoil(project);
    const { exitCode, stdout, stderr } = await project.before(call("Read", read));
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(complaint);
    expect(stderr).toMatch(/the policy check failed\n$/);
  });

  it.each([
    { name: "no JSON", event: "tool_name: Read" },
    { name: "nothing", event: "" },
    { name: "half of one", event: JSON.stringify(call("Read", read)).slice(0, -1) },
    { name: "a list", event: [] },
    { name: "without a session", event: { tool_name: "Read", tool_input: read } },
    { name: "without a tool", event: { session_id: "s-1", tool_input: read } },
    {
      name: "with a tool that is no text",
      event: { session_id: "s-1", tool_name: ["Read"], tool_input: read },
    },
    {
      name: "with an input that is no object",
      event: { session_id: "s-1", tool_name: "Read", tool_input: "x" },
    },
  ])("block a call whose event is $name", async ({ event }) => {
    const { exitCode, stdout, stderr } = await new Project().before(event);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^error: .*[\s\S]*the policy check failed\n$/);
  });
});

describe("the policies for Claude Code that the page shows", () => {
  const directory = temporaryDirectory();
  const decisions = join(directory, "decisions");
  mkdirSync(decisions);
  const shown = blocksOf("yaml").filter((block) => block.includes("decisions/coding-agent.yaml"));
  writeFileSync(join(decisions, "coding-agent.yaml"), shown.join("---\n"));
  // Commands wait until a file that has just changed is settled.
  for (const path of [join(decisions, "coding-agent.yaml"), decisions]) utimesSync(path, 1e9, 1e9);

  it.each([
    { allowed: true, tool: "Read", input: { file_path: "/repo/a.txt" } },
    { allowed: true, tool: "Read", input: { file_path: "/repo/decisions/coding-agent.yaml" } },
    { allowed: false, tool: "Read", input: { file_path: "/root/.ssh/id_rsa" } },
    { allowed: false, tool: "Read", input: { file_path: "/repo/../root/.ssh/id_rsa" } },
    { allowed: false, tool: "Read", input: {} },
    { allowed: true, tool: "Write", input: { file_path: "/repo/a.txt" } },
    { allowed: false, tool: "Write", input: { file_path: "/repo/.git/hooks/pre-commit" } },
    { allowed: false, tool: "Edit", input: { file_path: "/etc/hosts" } },
    { allowed: true, tool: "Glob", input: { pattern: "src/**/*.{ts,tsx}" } },
    { allowed: true, tool: "Glob", input: { pattern: "*", path: "/repo/src" } },
    { allowed: false, tool: "Glob", input: { pattern: "*", path: "/root" } },
    { allowed: false, tool: "Glob", input: { pattern: "/root/.ssh/*" } },
    { allowed: false, tool: "Glob", input: { pattern: "~/.ssh/*" } },
    { allowed: false, tool: "Glob", input: { pattern: "src/../../*" } },
    { allowed: false, tool: "Glob", input: { pattern: "{..,src}/*" } },
    { allowed: false, tool: "Glob", input: { pattern: ".{,x}./*" } },
    { allowed: false, tool: "Glob", input: { pattern: ".[.]/*" } },
    { allowed: true, tool: "Grep", input: { pattern: "[a-z](/root)" } },
    { allowed: true, tool: "Grep", input: { pattern: "key", path: "/repo/src" } },
    { allowed: false, tool: "Grep", input: { pattern: "key", path: "/root" } },
    { allowed: true, tool: "Bash", input: { command: "git status" } },
    { allowed: false, tool: "Bash", input: { command: "cat /root/.ssh/id_rsa" } },
    { allowed: false, tool: "WebFetch", input: {} },
  ])("answer that $tool with $input is allowed: $allowed", async ({ allowed, tool, input }) => {
    const words = ["decision", "check", "--event", "-", "--dry-run", "--json"];
    const event = JSON.stringify(call(tool, input));
    const ran = await runInProcess(words, { cwd: directory, input: event, env: { AGENT33_CACHE: "" } });
    expect(JSON.parse(ran.stdout)).toMatchObject({ tool, allowed });
  });
});
