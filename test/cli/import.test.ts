import { generateKeyPairSync } from "node:crypto";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const small = { AGENT33_SEGMENT_SIZE: "1024", AGENT33_CHECKPOINT_EVERY: "2" };
const gate = ["evaluate", "decision-quality-gate", "--input", '{"artifact":{"quality_score":0.9}}'];

/** A policy that allows three calls in all. */
const limit =
  "decision: { id: limit, type: policy, tool: w, policies: [{ name: p, max_calls: { count: 3, per: session } }] }";
const call = ["check", "w", "--params", "{}", "--session-id", "s"];

let place: Workplace;
let whole: string;
beforeAll(async () => {
  place = workplace();
  whole = join(place.root, "whole");
  for (let count = 0; count < 3; count++) await place.run(gate, { env: small });
  await place.run(["export", "--out", whole], { env: small });
});

/** A directory that does not exist yet. */
let made = 0;
const fresh = (): string => join(place.root, `new-${++made}`);

const verified = async (store: string): Promise<unknown> =>
  JSON.parse((await place.run(["verify", "--store", store])).out);

describe("import", () => {
  it("restores an export, and later decisions continue the chain", async () => {
    const store = fresh();
    const { out, err, code } = await place.run(["import", whole, "--store", store, "--json"]);
    const { size, head } = (await verified(place.store)) as { size: number; head: string };
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(JSON.parse(out)).toEqual({ imported: 3, size, head, pruned: 0 });
    expect(await verified(store)).toMatchObject({ ok: true, size: 3, head, notes: [] });
    await place.run([...gate, "--store", store]);
    expect(await verified(store)).toMatchObject({ ok: true, size: 4 });
    const { out: log } = await place.run(["log", "--store", store]);
    const records = log.split("\n").slice(0, -1);
    expect(JSON.parse(records[3] ?? "")).toMatchObject({ prev_hash: head, cached: false });
    expect((await place.run(["replay", "--all", "--store", store])).code).toBe(0);
  });

  it("can be read by people and by scripts", async () => {
    const plain = await place.run(["import", whole, "--store", fresh(), "--format", "plain"]);
    expect(plain.out).toMatch(/^3\t3:[0-9a-f]{64}\n$/);
    const store = fresh();
    const table = await place.run(["import", join(whole, "manifest.json"), "--store", store], {
      terminal: true,
      columns: 200,
    });
    expect(table.out).toMatch(/^✓ 3 records imported {2}into .*\n\n {2}head {3}3:[0-9a-f]{64}\n$/);
  });

  it("resets no limit, also none that pruned records have used", async () => {
    const limited = workplace();
    writeFileSync(join(limited.decisions, "limit.yaml"), limit);
    for (let count = 0; count < 2; count++) await limited.run(call, { env: small });
    await limited.run(["prune", "--keep", "0", "--yes"], { env: small });
    const out = join(limited.root, "out");
    await limited.run(["export", "--out", out], { env: small });
    const moved = ["--store", join(limited.root, "moved")];
    const { out: text } = await limited.run(["import", out, ...moved]);
    expect(JSON.parse(text)).toMatchObject({ imported: 1, size: 3, pruned: 2 });
    expect((await limited.run([...call, ...moved])).code).toBe(0);
    expect((await limited.run([...call, ...moved])).code).toBe(4);
    expect((await limited.run(["verify", ...moved])).code).toBe(0);
  });

  it("refuses a damaged export, names the problems and creates no store", async () => {
    const damaged = fresh();
    cpSync(whole, damaged, { recursive: true });
    const records = join(damaged, "records.jsonl");
    writeFileSync(records, readFileSync(records, "utf8").replace("0.9", "0.8"));
    const store = fresh();
    const { out, err, code } = await place.run(["import", damaged, "--store", store]);
    expect({ err, code }).toEqual({ err: "nothing imported\n", code: 6 });
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ kind: "changed", seq: 1 }, {}] });
    expect(existsSync(join(store, "log"))).toBe(false);
  });

  it("refuses an export without its manifest, or without a checkpoint that its records name", async () => {
    const incomplete = fresh();
    cpSync(whole, incomplete, { recursive: true });
    const path = join(incomplete, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8")) as { files: readonly { name: string }[] };
    const files = manifest.files.filter(({ name }) => name !== "checkpoints.jsonl");
    writeFileSync(path, `${JSON.stringify({ ...manifest, files }, null, 2)}\n`);
    const forged = await place.run(["import", incomplete, "--store", fresh(), "--format", "plain"]);
    expect(forged.code).toBe(6);
    expect(forged.out).toContain("the checkpoint at 2 records is missing");
    writeFileSync(path, "{}");
    const invalid = await place.run(["import", incomplete, "--store", fresh(), "--format", "plain"]);
    expect(invalid.code).toBe(6);
    expect(invalid.out).toContain("the manifest is not valid");
  });

  it("can require the signature of a key", async () => {
    const pair = generateKeyPairSync("ed25519");
    const [key, publicKey] = [fresh(), fresh()];
    writeFileSync(key, pair.privateKey.export({ type: "pkcs8", format: "pem" }));
    writeFileSync(publicKey, pair.publicKey.export({ type: "spki", format: "pem" }));
    const signed = fresh();
    await place.run(["export", "--out", signed], { env: { AGENT33_SIGNING_KEY: key } });
    const withKey = ["--key", publicKey, "--store"];
    expect((await place.run(["import", signed, ...withKey, fresh()])).code).toBe(0);
    const { out, code } = await place.run(["import", whole, ...withKey, fresh()]);
    expect(code).toBe(6);
    expect(JSON.parse(out)).toMatchObject({ problems: [{ kind: "signature" }] });
  });

  it.each([
    {
      name: "a directory without an export",
      words: () => ["import", place.decisions, "--store", fresh()],
      message: /there is no export in/,
      hint: /decision export --out DIR/,
    },
    {
      name: "a store that is not empty",
      words: () => ["import", whole],
      message: /the store `.*` is not empty/,
      hint: /specify a new directory with --store DIR/,
    },
    {
      name: "a filtered export",
      words: () => ["import", join(place.root, "part"), "--store", fresh()],
      message: /has 0 of the log's 3 records/,
      hint: /without filters/,
    },
    {
      name: "a CSV export",
      words: () => ["import", join(place.root, "table"), "--store", fresh()],
      message: /is a CSV export/,
      hint: /export the whole log/,
    },
  ])("refuses $name", async ({ words, message, hint }) => {
    await place.run(["export", "--out", join(place.root, "part"), "--label", "Fail"]);
    await place.run(["export", "--out", join(place.root, "table"), "--format", "csv"]);
    const { out, err, code } = await place.run([...words(), "--json"]);
    expect({ out, code }).toEqual({ out: "", code: 2 });
    expect((JSON.parse(err) as { error: object }).error).toMatchObject({
      message: expect.stringMatching(message) as string,
      hint: expect.stringMatching(hint) as string,
    });
  });
});

describe("the setting `retention`", () => {
  const notes = async (own: Workplace): Promise<string> => (await own.run(["log", "--kind", "note"])).out;

  it("removes old log files after a decision", async () => {
    const own = workplace();
    for (let count = 0; count < 3; count++) await own.run(gate, { env: small });
    await own.run(gate, { env: { ...small, AGENT33_RETENTION: "1ms" } });
    await vi.waitFor(async () => expect(await notes(own)).toContain('"retention":"1ms"'), 10_000);
    expect((await own.run(["verify"])).code).toBe(0);
    expect((await own.run(["log", "--format", "plain"])).out).not.toMatch(/^1\t/);
  });

  it("is ignored in a project's file, which a guarded agent may be able to write", async () => {
    const own = workplace();
    for (let count = 0; count < 3; count++) await own.run(gate, { env: small });
    writeFileSync(join(own.root, "agent-33.json"), '{ "retention": "1ms" }');
    const { err, code } = await own.run(gate, { env: small });
    expect(code).toBe(0);
    expect(err).toMatch(/warning: ignoring `retention` in `.*`: only the user's own settings can set it/);
    expect(JSON.parse((await own.run(["config", "get", "retention", "--json"])).out)).toMatchObject({
      value: null,
    });
  });
});
