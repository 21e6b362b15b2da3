import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { genesisHash, sealLine } from "../../src/record/chain.js";
import type { Verification } from "../../src/store/drivers/jsonl/verify-store.js";
import type { CheckTextSignature } from "../../src/store/signing.js";
import { textSignatureCheck } from "../../src/store/signing.js";
import type { Manifest } from "../../src/store/export-manifest.js";
import { formatManifest } from "../../src/store/export-manifest.js";
import { verifyExport } from "../../src/store/verify-export.js";
import { fakeIo } from "../cli/fake-io.js";

const home = mkdtempSync(join(tmpdir(), "agent-33-verify-export-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const store = join(home, "store");
const key = join(home, "key.pem");
const publicKey = join(home, "public.pem");

async function decision(...words: readonly string[]): Promise<void> {
  const env = { AGENT33_STORE: store, AGENT33_DURABILITY: "fast", AGENT33_CHECKPOINT_EVERY: "2" };
  const signing = words.includes("signed") || words.includes("signed-part");
  const io = fakeIo({
    stdin: "",
    env: { ...env, ...(signing && { AGENT33_SIGNING_KEY: key }) },
  });
  const out = words.map((word) =>
    /^(?:whole|part|signed|signed-part|table)$/.test(word) ? join(home, word) : word,
  );
  expect(await main(["decision", ...out], io)).toBe(0);
}

let isSigned: CheckTextSignature;
beforeAll(async () => {
  const pair = generateKeyPairSync("ed25519");
  writeFileSync(key, pair.privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(publicKey, pair.publicKey.export({ type: "spki", format: "pem" }));
  isSigned = textSignatureCheck(publicKey);
  for (const score of [0.9, 0.1, 0.9]) {
    const input = `{"artifact":{"quality_score":${score}}}`;
    await decision("evaluate", "decision-quality-gate", "--input", input, "--no-cache");
  }
  const byLabel = ["--label", "Pass", "--until", "2100-01-01"];
  const first = ["--decision-id", "decision-quality-gate", "--label", "Fail"];
  await decision("export", "--out", "whole");
  await decision("export", "--out", "signed");
  await decision("export", "--out", "part", ...first);
  await decision("export", "--out", "signed-part", ...byLabel);
  await decision("export", "--out", "table", "--format", "csv");
});

let copies = 0;

/** A copy of an export to be damaged. */
function copyOf(name: string): string {
  const copy = join(home, `copy-${++copies}`);
  cpSync(join(home, name), copy, { recursive: true });
  return copy;
}

const manifestOf = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")) as Manifest;

function writeManifest(directory: string, manifest: object): void {
  writeFileSync(join(directory, "manifest.json"), formatManifest(manifest as Manifest));
}

const linesIn = (directory: string, name: string): string[] =>
  readFileSync(join(directory, name), "utf8").split("\n").slice(0, -1);

/** Replaces the lines of a file and updates the manifest to match. */
function forge(
  directory: string,
  name: string,
  { lines, ...changes }: { readonly lines: readonly string[] } & Partial<Manifest>,
): void {
  const text = lines.map((line) => `${line}\n`).join("");
  writeFileSync(join(directory, name), text);
  const manifest = { ...manifestOf(directory), ...changes };
  const sha256 = createHash("sha256").update(text).digest("hex");
  const files = manifest.files.map((file) =>
    file.name !== name
      ? file
      : {
          ...file,
          bytes: Buffer.byteLength(text),
          sha256,
          ...(file.records !== undefined && { records: manifest.records }),
        },
  );
  writeManifest(directory, { ...manifest, files });
}

const messagesOf = ({ problems }: Verification): readonly string[] => problems.map(({ message }) => message);

const tellingBits = [1, 4, 32];

/** Returns the offsets at which a changed byte is not detected. */
function unseenFlips(
  name: string,
  file: string,
  { bits = [0x01], check }: { readonly bits?: readonly number[]; readonly check?: CheckTextSignature } = {},
): readonly number[] {
  const copy = copyOf(name);
  const path = join(copy, file);
  const unseen = new Set<number>();
  const fd = openSync(path, "r+");
  for (const [at, byte] of readFileSync(path).entries()) {
    for (const bit of bits) {
      writeSync(fd, Buffer.of(byte ^ bit), 0, 1, at);
      if (verifyExport(copy, { checkTextSignature: check }).ok) unseen.add(at);
    }
    writeSync(fd, Buffer.of(byte), 0, 1, at);
  }
  closeSync(fd);
  rmSync(copy, { recursive: true });
  return [...unseen];
}

/** Returns the manifest fields that contain these offsets; `?` for other offsets. */
function fieldsAt(name: string, places: readonly number[]): readonly string[] {
  const text = readFileSync(join(home, name, "manifest.json"), "utf8");
  const fields = places.map((at) => {
    const start = text.lastIndexOf("\n", at) + 1;
    const [found = "", field = "?"] = /^ *"(\w+)": "?/.exec(text.slice(start)) ?? [];
    return at >= start + found.length ? field : "?";
  });
  return [...new Set(fields)].sort();
}

describe("a changed byte", () => {
  const everyFile = [
    { name: "whole", file: "records.jsonl" },
    { name: "whole", file: "definitions.jsonl" },
    { name: "whole", file: "checkpoints.jsonl" },
    { name: "part", file: "records.jsonl" },
    { name: "part", file: "definitions.jsonl" },
    { name: "table", file: "records.csv" },
    { name: "table", file: "definitions.jsonl" },
  ];

  it.each(everyFile)("is detected in $file of $name, wherever it is", ({ name, file }) => {
    expect(unseenFlips(name, file)).toEqual([]);
  });

  it.each(["signed", "signed-part"])("is detected in the manifest of %s with the key", (name) => {
    expect(unseenFlips(name, "manifest.json", { bits: tellingBits, check: isSigned })).toEqual([]);
  });

  // Nothing else in an export repeats these fields; only a signature protects them.
  it.each([
    { name: "whole", fields: ["created_at", "tool_version"] },
    { name: "signed", fields: ["created_at", "key", "signature", "tool_version"] },
    { name: "part", fields: ["created_at", "decision_id", "head", "label", "size", "tool_version"] },
    { name: "table", fields: ["created_at", "head", "tool_version"] },
  ])("is detected in the manifest of $name without a key, except in $fields", ({ name, fields }) => {
    expect(fieldsAt(name, unseenFlips(name, "manifest.json", { bits: tellingBits }))).toEqual(fields);
  });
});

describe("a manipulated export", () => {
  it("is reported with its first bad record", () => {
    const copy = copyOf("whole");
    const path = join(copy, "records.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").replace('"quality_score":0.1', '"quality_score":0.8'));
    expect(verifyExport(copy).problems[0]).toMatchObject({
      kind: "changed",
      seq: 2,
      record_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      file: "records.jsonl",
      line: 2,
    });
  });

  it.each([
    { name: "the first", kept: [1, 2], seq: [2, 3] },
    { name: "one in the middle", kept: [0, 2], seq: [1, 3] },
    { name: "the last", kept: [0, 1], seq: [1, 2] },
  ])("lacks a record: $name", ({ kept, seq: [first_seq = 0, last_seq = 0] }) => {
    for (const complete of [true, false]) {
      const copy = copyOf("whole");
      const lines = kept.map((index) => linesIn(copy, "records.jsonl")[index] ?? "");
      forge(copy, "records.jsonl", { lines, complete, records: 2, first_seq, last_seq });
      // Only a signature proves that records were left out on purpose.
      expect(verifyExport(copy).ok).toBe(!complete);
    }
  });

  it("has records in another order", () => {
    const copy = copyOf("whole");
    const [first = "", second = "", third = ""] = linesIn(copy, "records.jsonl");
    forge(copy, "records.jsonl", { lines: [first, third, second], complete: false });
    expect(verifyExport(copy).ok).toBe(false);
  });

  it("has a record twice", () => {
    const copy = copyOf("part");
    const [only = ""] = linesIn(copy, "records.jsonl");
    forge(copy, "records.jsonl", { lines: [only, only], records: 2, last_seq: 3 });
    expect(verifyExport(copy).problems[0]).toMatchObject({ kind: "order" });
  });

  it("was cut together with its manifest, which a checkpoint and an expectation reveal", () => {
    const copy = copyOf("whole");
    const { log } = manifestOf(copy);
    const [line = ""] = linesIn(copy, "records.jsonl");
    const { hash: head } = JSON.parse(line) as { hash: string };
    forge(copy, "records.jsonl", { lines: [line], records: 1, last_seq: 1, log: { size: 1, head } });
    expect(messagesOf(verifyExport(copy))).toEqual([
      "a checkpoint at 2 records does not belong to the log of 1 records in the manifest",
    ]);
    forge(copy, "checkpoints.jsonl", { lines: [] });
    expect(verifyExport(copy).ok).toBe(true);
    expect(messagesOf(verifyExport(copy, { expect: log }))).toEqual([
      "the log was cut: 3 records were expected, there are 1",
    ]);
  });

  it("was forged completely, which the key reveals", () => {
    const copy = copyOf("signed");
    let head = genesisHash;
    const lines = linesIn(copy, "records.jsonl").map((line, index) => {
      const body = line
        .replace(/^\{"seq":\d+,/, "")
        .replace(/,"prev_hash":.*$/, "")
        .replace("0.1", "0.8");
      const sealed = sealLine(index + 1, body, head);
      head = sealed.hash;
      return sealed.line.trimEnd();
    });
    forge(copy, "checkpoints.jsonl", { lines: [] });
    forge(copy, "records.jsonl", { lines, log: { size: 3, head } });
    expect(verifyExport(copy).ok).toBe(true);
    expect(verifyExport(copy, { checkTextSignature: isSigned }).problems).toMatchObject([
      { kind: "signature" },
    ]);
  });

  it("has another definition under the hash of the original", () => {
    const copy = copyOf("whole");
    const lines = linesIn(copy, "definitions.jsonl").map((line) => line.replace("0.8", "0.05"));
    forge(copy, "definitions.jsonl", { lines });
    expect(verifyExport(copy).problems[0]).toMatchObject({
      kind: "definition",
      file: "definitions.jsonl",
      line: 1,
    });
  });

  it.each(["definition", "environment"])("lacks the %s of a record", (kind) => {
    const copy = copyOf("whole");
    const lines = linesIn(copy, "definitions.jsonl").filter((line) => !line.includes(`"kind":"${kind}"`));
    forge(copy, "definitions.jsonl", { lines });
    expect(verifyExport(copy).problems).toMatchObject([
      { kind: "definition", seq: 1, file: "records.jsonl" },
    ]);
  });

  it("has many problems, of which some are reported", () => {
    const copy = copyOf("whole");
    forge(copy, "records.jsonl", { lines: Array<string>(1000).fill("x"), complete: false, records: 3 });
    expect(verifyExport(copy).problems.length).toBeLessThanOrEqual(20);
  });
});

describe("a manifest", () => {
  const changed: readonly { readonly name: string; readonly change: (manifest: Manifest) => object }[] = [
    { name: "of another format", change: (manifest) => ({ ...manifest, format: 2 }) },
    { name: "with a field of its own", change: (manifest) => ({ ...manifest, more: 1 }) },
    { name: "without a field", change: (manifest) => ({ ...manifest, log: undefined }) },
    { name: "with a number as text", change: (manifest) => ({ ...manifest, records: "3" }) },
    { name: "with a filter that there is not", change: (manifest) => ({ ...manifest, filters: { x: "1" } }) },
    { name: "with another count of records", change: (manifest) => ({ ...manifest, records: 2 }) },
    { name: "of no file", change: (manifest) => ({ ...manifest, files: [] }) },
    { name: "that is a list", change: () => [] },
    {
      name: "with a file twice",
      change: (manifest) => ({ ...manifest, files: [...manifest.files, ...manifest.files] }),
    },
    {
      name: "with a head that would write on a terminal",
      change: (manifest) => ({ ...manifest, log: { size: 3, head: "\u001b[2J" } }),
    },
  ];

  it.each(changed)("is refused: one $name", ({ change }) => {
    const copy = copyOf("part");
    writeManifest(copy, change(manifestOf(copy)));
    expect(verifyExport(copy).problems).toMatchObject([{ kind: "file", file: "manifest.json" }]);
  });

  it.each(["null", "1", '"x"', "{}", "{", "", "[".repeat(100_000)])("is refused: %.20j", (text) => {
    const copy = copyOf("part");
    writeFileSync(join(copy, "manifest.json"), text);
    expect(verifyExport(copy).problems).toMatchObject([{ kind: "file", file: "manifest.json" }]);
  });

  it("is refused in any other formatting", () => {
    const copy = copyOf("whole");
    writeFileSync(join(copy, "manifest.json"), JSON.stringify(manifestOf(copy)));
    expect(messagesOf(verifyExport(copy))).toEqual(["the manifest was changed"]);
  });

  it.each(["../x", "/etc/passwd", "sub/records.jsonl", "..", "", "manifest.json", "records.jsonl\u0000"])(
    "refers to no file outside the export: %j",
    (name) => {
      const copy = copyOf("whole");
      const manifest = manifestOf(copy);
      writeManifest(copy, { ...manifest, files: manifest.files.map((file) => ({ ...file, name })) });
      expect(messagesOf(verifyExport(copy))[0]).toContain("which is not a file of an export");
    },
  );

  it("is reported if it is missing", () => {
    const copy = copyOf("whole");
    rmSync(join(copy, "manifest.json"));
    expect(messagesOf(verifyExport(copy))[0]).toContain("`manifest.json` is missing");
  });
});

describe("something else in place of a file", () => {
  const stand: readonly { readonly name: string; readonly put: (path: string) => void }[] = [
    { name: "nothing", put: () => undefined },
    { name: "a directory", put: (path) => mkdirSync(path) },
    { name: "a pipe", put: (path) => execFileSync("mkfifo", [path]) },
    { name: "a link to the very file", put: (path) => symlinkSync(`${path}.real`, path) },
    { name: "a link to itself", put: (path) => symlinkSync(path, path) },
  ];

  it.each(stand)("is not read: $name", ({ put }) => {
    for (const file of readdirSync(join(home, "whole"))) {
      const copy = copyOf("whole");
      renameSync(join(copy, file), join(copy, `${file}.real`));
      put(join(copy, file));
      expect(verifyExport(copy).problems[0]).toMatchObject({ kind: "file", file });
    }
  });

  it("is not a record although its hash is right", () => {
    for (const body of ['"note":"pruned" x', '"kind":"note"}{', '"note":"pruned","kind":']) {
      const copy = copyOf("whole");
      const { line, hash: head } = sealLine(1, body, genesisHash);
      forge(copy, "checkpoints.jsonl", { lines: [] });
      const lines = [line.trimEnd()];
      forge(copy, "records.jsonl", { lines, records: 1, last_seq: 1, log: { size: 1, head } });
      expect(verifyExport(copy).problems[0]).toMatchObject({ kind: "changed", seq: 1, line: 1 });
    }
  });

  it("is not a definition, however deeply it is nested", () => {
    const copy = copyOf("whole");
    const document = "[".repeat(200_000) + "]".repeat(200_000);
    const lines = [`{"hash":"${genesisHash}","kind":"definition","document":${document}}`, "null", "1", "x"];
    forge(copy, "definitions.jsonl", { lines });
    expect(verifyExport(copy).problems.slice(0, 4)).toMatchObject(
      [1, 2, 3, 4].map((line) => ({ kind: "definition", line })),
    );
  });

  it("is an incomplete line at the end, even if the manifest includes it", () => {
    const copy = copyOf("part");
    forge(copy, "records.jsonl", { lines: [], records: 0, first_seq: null, last_seq: null });
    const text = '{"seq":9';
    writeFileSync(join(copy, "records.jsonl"), text);
    const manifest = manifestOf(copy);
    const sha256 = createHash("sha256").update(text).digest("hex");
    const files = manifest.files.map((file) =>
      file.name === "records.jsonl" ? { ...file, bytes: text.length, sha256 } : file,
    );
    writeManifest(copy, { ...manifest, files });
    expect(messagesOf(verifyExport(copy))).toContain("`records.jsonl` ends with an incomplete line");
  });
});
