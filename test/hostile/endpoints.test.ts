import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Ran } from "../acceptance/command.js";
import { temporaryDirectory } from "../acceptance/command.js";
import { runInProcess as run } from "../cli/in-process.js";
import type { HostileServer } from "./hostile-server.js";
import { behaviours, startHostileServer } from "./hostile-server.js";

/** No text like it is anywhere else. */
const canaries = {
  ENDPOINT_KEY: "canary-key-5b1d9f",
  ENDPOINT_USER: "canary-user-77ab01",
  ENDPOINT_PASSWORD: "canary-password-e0c4",
  ENDPOINT_TOKEN: "canary-token-93d2aa",
};

const auths = {
  api_key: { type: "api_key", secret_key: "ENDPOINT_KEY" },
  basic: { type: "basic", username_key: "ENDPOINT_USER", password_key: "ENDPOINT_PASSWORD" },
  bearer: { type: "bearer", token_key: "ENDPOINT_TOKEN" },
} as const;

const names = [...Object.keys(behaviours), "redirect"];
const directory = temporaryDirectory();
const places = {
  store: join(directory, "store"),
  cache: join(directory, "cache"),
  home: join(directory, "home"),
};
const decisions = temporaryDirectory();
let server: HostileServer;
let elsewhere: HostileServer;

beforeAll(async () => {
  elsewhere = await startHostileServer();
  server = await startHostileServer(`http://127.0.0.1:${elsewhere.port}/echo`);
  for (const [index, name] of names.entries()) {
    const auth = Object.values(auths)[index % 3];
    const endpoint = {
      url: `http://127.0.0.1:${server.port}/${name}`,
      auth,
      timeout: "500ms",
      allow_private: true,
      retry: { attempts: 2, base: "10ms" },
    };
    const decision = {
      id: `asks-${name}`,
      type: "switch",
      input: "{{ data.score }}",
      cases: [{ condition: "input > 700", label: "Good", target: "stage-good" }],
      default: { target: "stage-review" },
      enrich: [{ endpoint: name, into: "data" }],
    };
    const text = [{ endpoints: { [name]: endpoint } }, { decision }].map((each) => JSON.stringify(each));
    writeFileSync(join(decisions, `${name}.yaml`), text.join("\n---\n"));
  }
});

afterAll(async () => {
  await server.close();
  await elsewhere.close();
});

const environment = {
  ...canaries,
  AGENT33_STORE: places.store,
  AGENT33_CACHE: places.cache,
  AGENT33_HOME: places.home,
  AGENT33_DECISIONS: decisions,
};

const ask = (name: string, ...words: readonly string[]): Promise<Ran> =>
  run(["decision", "evaluate", `asks-${name}`, "--input", "{}", ...words], { env: environment });

/** Every form in which a secret could have got out. */
function tracesOf(text: string): readonly string[] {
  const pair = `${canaries.ENDPOINT_USER}:${canaries.ENDPOINT_PASSWORD}`;
  return [...Object.values(canaries), pair].flatMap((secret) =>
    [secret, Buffer.from(secret).toString("base64"), Buffer.from(secret).toString("hex")].filter((form) =>
      text.includes(form.replace(/=+$/, "")),
    ),
  );
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe("an endpoint that means no good", () => {
  const answers = new Map<string, Ran>();

  it("ends no decision otherwise than as it is defined", async () => {
    for (const name of names) answers.set(name, await ask(name, "--json", "--explain"));
    const ends = Object.fromEntries(
      [...answers].map(([name, { exitCode, stdout }]) => {
        const result = JSON.parse(stdout || "{}") as { selected_targets?: readonly string[] };
        return [name, `${exitCode} ${result.selected_targets?.join() ?? "nothing"}`];
      }),
    );
    expect(ends).toEqual(
      Object.fromEntries(names.map((name) => [name, `0 ${name === "fine" ? "stage-good" : "stage-review"}`])),
    );
  }, 120_000);

  it.each<[name: string, code: string, message: RegExp]>([
    ["silent", "request_timeout", /500ms/],
    ["slow-headers", "request_timeout", /500ms/],
    ["drip", "request_timeout", /500ms/],
    ["reset", "network_failed", /./],
    ["too-many", "request_failed", /429/],
    ["server-error", "request_failed", /500/],
    ["echo-in-status", "request_failed", /500/],
    ["redirect", "request_failed", /redirect/],
    ["half-a-body", "request_failed", /./],
    ["a-hundred-megabytes", "request_failed", /1 MiB/],
    ["no-http", "request_failed", /./],
    ["broken-json", "request_failed", /JSON/],
    ["deep-json", "request_failed", /./],
    ["no-text", "request_failed", /UTF-8/],
  ])("is told as what it is: %s", async (name, code, message) => {
    const { stdout } = await run(["decision", "log", "--decision-id", `asks-${name}`, "--json"], {
      env: environment,
    });
    const [record] = JSON.parse(stdout) as readonly DecisionRecord[];
    const [fact] = Object.values((record?.facts["fetched"] ?? {}) as Record<string, unknown>);
    expect(fact).toMatchObject({ endpoint: name, ok: false, error: { code } });
    expect((fact as { error: { message: string } }).error.message).toMatch(message);
  });

  it("leads nobody elsewhere", () => {
    expect(elsewhere.connections).toBe(0);
  });

  it("learns a secret and cannot make us tell it, whatever it answers", async () => {
    await ask("echo", "--explain");
    await ask("echo-in-status", "--verbose");
    for (const words of [
      ["endpoints"],
      ["endpoints", "--check"],
      ["explain", "latest"],
      ["log"],
      ["show", "asks-echo"],
    ]) {
      const { stdout, stderr } = await run(["decision", ...words], { env: environment });
      expect({ words, found: tracesOf(stdout + stderr) }).toEqual({ words, found: [] });
    }
    for (const [name, { stdout, stderr }] of answers) {
      expect({ name, found: tracesOf(stdout + stderr) }).toEqual({ name, found: [] });
    }
    const files = filesIn(directory);
    expect(files.length).toBeGreaterThan(5);
    const telling = files.filter((file) => tracesOf(readFileSync(file, "latin1")).length > 0);
    expect(telling).toEqual([]);
    // It did hear them: they were there to be told.
    const heard = server.heard;
    const basic = Buffer.from(`${canaries.ENDPOINT_USER}:${canaries.ENDPOINT_PASSWORD}`).toString("base64");
    for (const secret of [canaries.ENDPOINT_KEY, canaries.ENDPOINT_TOKEN, basic])
      expect(heard).toContain(secret);
  }, 60_000);

  it("is not needed to replay what it was asked for", async () => {
    await server.close();
    const { exitCode, stdout } = await run(["decision", "replay", "--all", "--json"], { env: environment });
    const report = JSON.parse(stdout) as { total: number; matched: number };
    expect(exitCode).toBe(0);
    expect(report.total).toBeGreaterThanOrEqual(names.length);
    expect(report.matched).toBe(report.total);
  });
});
