import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Signer } from "../../src/definition/approval/lock.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import type { ApprovalLock, LockEntry } from "../../src/model/approval.js";
import type { Ran } from "../acceptance/command.js";
import { newCache, run, temporaryDirectory } from "../acceptance/command.js";
import { runInProcess } from "./in-process.js";

export const quality = (threshold: string): string => `decision:
  id: quality
  type: binary
  input: "{{ score }}"
  cases:
    - { condition: "input >= ${threshold}", target: deploy }
  default: { target: rework }
`;

export const other = `decision:
  id: other
  type: switch
  input: "{{ kind }}"
  cases:
    - { condition: "input == 'a'", target: one }
  default: { target: two }
`;

export const files = (deny: string): string => `decision:
  id: files
  type: policy
  tool: write_*
  policies:
    - name: no_secrets
      version: 1.0.0
      conditions: [{ name: harmless, expression: "params.path != '${deny}'" }]
      deny_reason: "that is secret"
`;

export const wire = (version: number, status: string): string => `decision:
  id: wire-${version}
  type: gate
  action: { org: acme, domain: pay, name: wire, world_model_version: ${version} }
  rules:
    - { id: always, tier: T3, severity: 1, when: "true", status: ${status} }
`;

const base = {
  "quality.yaml": quality("0.8"),
  "other.yaml": other,
  "files.yaml": files("/etc/shadow"),
  "wire-1.yaml": wire(1, "GREEN"),
  "wire-2.yaml": wire(2, "YELLOW"),
};

let first: Promise<ApprovedProject> | undefined;

/** A project whose definitions are approved, and a user who decides by nothing else. */
export class ApprovedProject {
  readonly root: string;
  readonly decisions: string;
  readonly home: string;
  readonly lock: string;
  readonly key: string;

  private constructor(root: string) {
    this.root = root;
    this.decisions = join(root, "decisions");
    this.home = join(root, "home");
    this.lock = join(this.decisions, "decisions.lock");
    this.key = join(root, "key.pem");
  }

  /** All are copies of one, as making that takes a while. */
  static async make({ approved = true } = {}): Promise<ApprovedProject> {
    const project = new ApprovedProject(temporaryDirectory());
    first ??= ApprovedProject.#makeFirst();
    cpSync((await first).root, project.root, { recursive: true });
    if (!approved) rmSync(project.lock);
    return project;
  }

  static async #makeFirst(): Promise<ApprovedProject> {
    const project = new ApprovedProject(mkdtempSync(join(tmpdir(), "agent-33-approved-")));
    mkdirSync(project.decisions);
    newCache(join(project.root, "cache"));
    for (const [name, text] of Object.entries(base)) project.write(name, text);
    await project.run("keygen", "--out", project.key);
    await project.run("config", "set", "trusted_keys", project.oneLine());
    await project.run("config", "set", "require_approval", "true");
    await project.approve("--all");
    return project;
  }

  run(...words: readonly string[]): Promise<Ran> {
    return runInProcess(["decision", ...words], this.#options());
  }

  /** Runs the built command in a process of its own. */
  spawn(...words: readonly string[]): Promise<Ran> {
    return run(["decision", ...words], this.#options());
  }

  #options(): { cwd: string; env: Readonly<Record<string, string>> } {
    return { cwd: this.root, env: { AGENT33_HOME: this.home, AGENT33_CACHE: join(this.root, "cache") } };
  }

  approve(...words: readonly string[]): Promise<Ran> {
    return this.run("approve", ...words, "--key", this.key);
  }

  evaluate(...words: readonly string[]): Promise<Ran> {
    return this.run("evaluate", "quality", "--input", '{"score": 0.9}', "--format", "target", ...words);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.decisions, name), text);
  }

  readLock(): ApprovalLock {
    return JSON.parse(readFileSync(this.lock, "utf8")) as ApprovalLock;
  }

  writeLock(lock: unknown): void {
    writeFileSync(this.lock, typeof lock === "string" ? lock : JSON.stringify(lock, null, 2));
  }

  /** Changes one entry of the lock and nothing else. */
  forge(id: string, change: (entry: LockEntry, lock: ApprovalLock) => object): void {
    const lock = this.readLock();
    const entries = lock.entries.map((entry) => (entry.decision_id === id ? change(entry, lock) : entry));
    this.writeLock({ ...lock, entries });
  }

  /** How many records there are. */
  recorded(): number {
    const log = join(this.home, "log");
    if (!existsSync(log)) return 0;
    const segments = readdirSync(log).filter((name) => /^\d+\.jsonl$/.test(name));
    const lines = segments.flatMap((name) => readFileSync(join(log, name), "utf8").trim().split("\n"));
    return lines.filter((line) => line.includes('"decision_id"')).length;
  }

  oneLine(): string {
    const der = createPublicKey(readFileSync(`${this.key}.pub`)).export({ type: "spki", format: "der" });
    return `ed25519:${der.subarray(-32).toString("base64")}`;
  }

  signer(): Signer {
    const key = createPrivateKey(readFileSync(this.key));
    const pem = createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
    return {
      key: sha256Hex(pem),
      sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
    };
  }
}

export const entryOf = ({ entries }: ApprovalLock, id: string): LockEntry => {
  const found = entries.find(({ decision_id }) => decision_id === id);
  if (found === undefined) throw new Error(`no entry of ${id}`);
  return found;
};
