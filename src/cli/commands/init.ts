import { existsSync, lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { version } from "../../version.js";
import { projectStore } from "../directories.js";
import type { ExitCode } from "../exit-codes.js";
import type { Io } from "../io.js";
import { confirm } from "../io.js";

interface InitFlags {
  readonly yes?: boolean;
}

export function addInitCommand(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("init")
    .option("--yes", "write the files without asking")
    .summary("set up a project in this directory")
    .description(
      "Set up a project in the current directory: `agent-33.json` with a store of its own, which `.gitignore` excludes, " +
        "and a commented decision with its tests. Existing files are not changed, except that `.gitignore` gets one " +
        "line. Prints what to try next, and a workflow for GitHub Actions.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 init
  $ agent-33 init --yes`,
    )
    .action(async (flags: InitFlags) => {
      const steps = await planSteps(io);
      const missing = steps.filter(({ state }) => state !== "exists");
      if (missing.length > 0 && !isConfirmed(missing, flags, io)) {
        io.err.write("nothing was written\n");
        done(0);
        return;
      }
      for (const { path, text } of missing) await write(join(io.cwd, path), text);
      const lines = steps.map(({ path, state }) => `${outcomes[state]} ${path}`);
      io.out.write(`${lines.join("\n")}\n${nextSteps}`);
      done(0);
    });
}

/** A file, and what it contains afterwards. */
interface Step {
  readonly path: string;
  readonly text: string;
  readonly state: "missing" | "incomplete" | "exists";
}

const outcomes: Readonly<Record<Step["state"], string>> = {
  missing: "created  ",
  incomplete: "extended ",
  exists: "unchanged",
};

async function planSteps(io: Io): Promise<readonly Step[]> {
  const decisions = await decisionsIn(io);
  // Checked before anything is written, so that no project is left half set up.
  for (const path of [decisions, projectStore]) assertKind(io.cwd, path, "directory");
  const files = {
    "agent-33.json": `${JSON.stringify({ decisions: "decisions", store: projectStore }, null, 2)}\n`,
    [`${decisions}/expense-approval.yaml`]: sample,
    [`${decisions}/expense-approval.test.yaml`]: sampleTests,
  };
  for (const path of [...Object.keys(files), ".gitignore"]) assertKind(io.cwd, path, "file");
  const steps = Object.entries(files).map(([path, text]): Step => ({
    path,
    text,
    state: existsSync(join(io.cwd, path)) ? "exists" : "missing",
  }));
  return [...steps.slice(0, 1), ignoreStep(io.cwd), ...steps.slice(1)];
}

/** Throws if something else than a file or directory is in the place of one. */
function assertKind(cwd: string, path: string, kind: "file" | "directory"): void {
  const at = join(cwd, path);
  if (lstatSync(at, { throwIfNoEntry: false }) === undefined) return;
  // Undefined for a link to nothing.
  const stats = statSync(at, { throwIfNoEntry: false });
  if ((kind === "file" ? stats?.isFile() : stats?.isDirectory()) === true) return;
  throw new DecisionError("file_unwritable", `\`${path}\` is not a ${kind}`, {
    hint: `rename or remove \`${path}\``,
  });
}

/** The directory that the settings of this directory name, if they do. */
async function decisionsIn(io: Io): Promise<string> {
  const { settingsFiles } = await import("../settings.js");
  const project = settingsFiles(io).project();
  const named =
    project !== undefined && dirname(project.path) === io.cwd ? project.values["decisions"] : undefined;
  return typeof named === "string" && named !== "" && !/^[/~]|\.\./.test(named)
    ? named.replace(/\/+$/, "")
    : "decisions";
}

function ignoreStep(cwd: string): Step {
  const path = ".gitignore";
  if (!existsSync(join(cwd, path))) return { path, text: `${projectStore}/\n`, state: "missing" };
  const text = readFileSync(join(cwd, path), "utf8");
  const isListed = /^\/?\.agent-33\/?[ \t]*\r?$/m.test(text);
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return { path, text: `${text}${gap}${projectStore}/\n`, state: isListed ? "exists" : "incomplete" };
}

function isConfirmed(steps: readonly Step[], flags: InitFlags, io: Io): boolean {
  if (!flags.yes && (!io.stdin.isTerminal || !io.err.isTerminal)) {
    throw new DecisionError("usage", "`init` writes files and needs confirmation", {
      hint: "add --yes to confirm",
    });
  }
  return confirm(`Write ${steps.map(({ path }) => path).join(", ")}?`, flags, io);
}

async function write(path: string, text: string): Promise<void> {
  const { makeDirectory } = await import("../../store/files.js");
  try {
    makeDirectory(dirname(path));
    writeFileSync(path, text);
  } catch (error) {
    const { message } = error as Error;
    throw new DecisionError("file_unwritable", `cannot write \`${path}\`: ${message}`, { cause: error });
  }
}

const sample = `# Who approves an expense. Check all definitions with: agent-33 decision validate
decision:
  id: expense-approval
  name: "Expense Approval"
  version: "1.0.0"
  type: switch
  # The value to decide on, from the context given with --input.
  input: "{{ expense.amount }}"
  # The first case with a true condition is used.
  cases:
    - condition: "input <= 100"
      target: pay
      label: "Small"
    - condition: "input <= 1000"
      target: ask-manager
      label: "Medium"
  # Also taken if the amount is missing: a condition that cannot be evaluated never matches.
  default:
    target: ask-finance
`;

const sampleTests = `# Run with: agent-33 decision test --coverage
tests:
  - name: expenses by amount
    decision: expense-approval
    # One case for each row.
    each:
      - { amount: 100, to: pay }
      - { amount: 101, to: ask-manager }
      - { amount: 1000, to: ask-manager }
      - { amount: 1001, to: ask-finance }
    input: { expense: { amount: "{{ amount }}" } }
    expect: { target: "{{ to }}" }
`;

const nextSteps = `
Try:
  agent-33 decision evaluate expense-approval \\
    --input '{"expense": {"amount": 40}}'
  agent-33 decision test --coverage
  agent-33 decision explain latest

For GitHub Actions, save this as .github/workflows/decisions.yml, with the
tarball of \`npm pack\` in the repository:

name: decisions
on: pull_request
jobs:
  decisions:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - run: npm install --global ./tools/agent-33-${version}.tgz
      - run: agent-33 decision fmt --check --format github
      - run: agent-33 decision validate --format github
      - run: agent-33 decision test --threshold 100 --format github
`;
