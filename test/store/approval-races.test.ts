import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { beforeAll, describe, expect, it } from "vitest";
import { compose, composeDefinitions } from "../../src/compose.js";
import { exitCodeOf } from "../../src/cli/exit-codes.js";
import { DecisionError } from "../../src/errors.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { approve } from "../../src/store/approve.js";
import { generateKeys } from "../../src/store/approval-keys.js";
import { openPrivateKey } from "../../src/store/signing.js";
import { bin, cleanEnvironment } from "../acceptance/command.js";
import { quality } from "../cli/approving.js";

const swapper = fileURLToPath(new URL("./children/file-swapper.mjs", import.meta.url));
/** Has the same length as the other, so that size and offsets do not differ. */
const [approvedText, evilText] = [quality("0.8"), quality("0.1")];
const context = { score: 0.5 };

let root: string;
let decisions: string;
let file: string;
let publicKey: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "agent-33-races-"));
  decisions = join(root, "decisions");
  file = join(decisions, "quality.yaml");
  mkdirSync(decisions);
  writeFileSync(file, approvedText);
  const made = generateKeys(join(root, "key.pem"));
  publicKey = made.public_key;
  const definitions = await composeDefinitions({ decisions });
  await approve([await definitions.find("quality")], {
    directory: decisions,
    key: openPrivateKey(made.file),
    trustedKeys: [],
    shelf: openMemoryStore().shelf("approvals"),
    at: "2026-11-17T10:00:00.000000Z",
  });
});

/** The target, or the exit code of the refusal. */
async function ask(cacheHome: string | undefined): Promise<string | number> {
  try {
    const world = await compose({
      decisions,
      cacheHome,
      store: "memory",
      approval: { trustedKeys: [publicKey] },
    });
    const { selected_targets } = await world.decide({ decision_id: "quality", context });
    return selected_targets.join();
  } catch (error) {
    if (error instanceof DecisionError) return exitCodeOf(error.code);
    throw error;
  }
}

function askBin(): Promise<string | number> {
  const words = ["decision", "dry-run", "quality", "--input", JSON.stringify(context), "--format", "target"];
  const env = cleanEnvironment({ AGENT33_HOME: join(root, "home"), AGENT33_CACHE: join(root, "bin-cache") });
  const options = { cwd: root, env, extendEnv: false, reject: false } as const;
  return execa(process.execPath, [bin, ...words, "--require-approval"], options).then(
    ({ exitCode = -1, stdout }) => (exitCode === 0 ? stdout : exitCode),
  );
}

async function whileSwapping(how: string, race: () => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, [swapper, file, approvedText, evilText, how], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    await race();
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
    rmSync(`${file}.tmp`, { force: true });
    writeFileSync(file, approvedText);
  }
}

describe("a file that is swapped between check and use", () => {
  it.each([
    { how: "rename", cached: false, races: 60 },
    { how: "rename", cached: true, races: 60 },
    { how: "in place", cached: false, races: 60 },
    { how: "in place", cached: true, races: 60 },
  ])("is never used: $how, cached: $cached, $races times", async ({ how, cached, races }) => {
    const answers: (string | number)[] = [];
    await whileSwapping(how, async () => {
      const asking = (): Promise<string | number> => ask(cached ? join(root, "cache") : undefined);
      // Several at a time, because each waits until the file is settled. All races can fall between two swaps.
      const seen = (answer: string | number): boolean => answers.includes(answer);
      while (answers.length < races || (answers.length < 100 * races && !(seen("rework") && seen(3))))
        answers.push(...(await Promise.all(Array.from({ length: 6 }, asking))));
    });
    // The definition that is not approved would return `deploy`.
    expect(answers.filter((answer) => answer !== "rework" && answer !== 3)).toEqual([]);
    expect(answers.filter((answer) => answer === "rework").length).toBeGreaterThan(0);
    expect(answers.filter((answer) => answer === 3).length).toBeGreaterThan(0);
  });

  it("is never used by the command either", async () => {
    mkdirSync(join(root, "home"), { recursive: true });
    writeFileSync(join(root, "home/config.json"), JSON.stringify({ trusted_keys: publicKey }));
    expect(await askBin()).toBe("rework");
    const answers: (string | number)[] = [];
    await whileSwapping("rename", async () => {
      while (answers.length < 12) answers.push(await askBin());
    });
    expect(answers.filter((answer) => answer !== "rework" && answer !== 3)).toEqual([]);
  });

  it("does not matter after it was read", async () => {
    const world = await compose({ decisions, store: "memory", approval: { trustedKeys: [publicKey] } });
    writeFileSync(file, evilText);
    const { selected_targets } = await world.decide({ decision_id: "quality", context });
    expect(selected_targets).toEqual(["rework"]);
    await expect(ask(undefined)).resolves.toBe(3);
    writeFileSync(file, approvedText);
  });

  it("is refused if its cache entry was removed meanwhile", async () => {
    const cacheHome = join(root, "swept");
    await new Promise((settled) => setTimeout(settled, 80));
    await compose({ decisions, cacheHome });
    const world = await compose({
      decisions,
      cacheHome,
      store: "memory",
      approval: { trustedKeys: [publicKey] },
    });
    expect(world.definitions.filesCached).toBe(1);
    rmSync(cacheHome, { recursive: true });
    writeFileSync(file, evilText);
    const refused = world.decide({ decision_id: "quality", context });
    await expect(refused).rejects.toMatchObject({ code: "definition_invalid" });
    writeFileSync(file, approvedText);
  });

  it("leaves only the lock in the directory", () => {
    expect(readdirSync(decisions).sort()).toEqual([".agent-33", "decisions.lock", "quality.yaml"]);
  });
});
