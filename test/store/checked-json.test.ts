import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readCheckedJson, writeCheckedJson } from "../../src/store/files.js";

let folder = "";
let path = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-33-doubled-"));
  path = join(folder, "kept.json");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const content = { id: "grün", rows: [1, 2, 3], last: null };

describe("a checked JSON file", () => {
  it("returns what was written, and leaves no temporary file", () => {
    writeCheckedJson(path, { old: true });
    writeCheckedJson(path, content);
    expect(readCheckedJson(path)).toEqual(content);
    expect(readdirSync(folder)).toEqual(["kept.json"]);
  });

  it("reveals every flipped bit", () => {
    writeCheckedJson(path, content);
    const whole = readFileSync(path);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const bytes = Buffer.from(whole);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, bytes);
      expect(readCheckedJson(path), `bit ${bit}`).toBeUndefined();
    }
  });

  it("reveals every truncation and zeros at the end", () => {
    writeCheckedJson(path, content);
    const whole = readFileSync(path);
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      expect(readCheckedJson(path), `cut to ${length}`).toBeUndefined();
      writeFileSync(path, Buffer.concat([whole.subarray(0, length), Buffer.alloc(whole.length - length)]));
      expect(readCheckedJson(path), `zeros from ${length}`).toBeUndefined();
    }
  });

  it("is undefined if it is missing", () => {
    expect(readCheckedJson(path)).toBeUndefined();
  });
});
