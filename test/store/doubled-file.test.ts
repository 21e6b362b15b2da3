import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readDoubled, writeDoubled } from "../../src/store/doubled-file.js";

let folder = "";
let path = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-33-doubled-"));
  path = join(folder, "kept.json");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const content = { id: "grün", rows: [1, 2, 3], last: null };

describe("a file that is written doubled", () => {
  it("gives what was written, and leaves nothing beside it", () => {
    writeDoubled(path, { old: true });
    writeDoubled(path, content);
    expect(readDoubled(path)).toEqual(content);
    expect(readdirSync(folder)).toEqual(["kept.json"]);
  });

  it("shows every flipped bit", () => {
    writeDoubled(path, content);
    const whole = readFileSync(path);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const bytes = Buffer.from(whole);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, bytes);
      expect(readDoubled(path), `bit ${bit}`).toBeUndefined();
    }
  });

  it("shows every cut, and an end in zeros", () => {
    writeDoubled(path, content);
    const whole = readFileSync(path);
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      expect(readDoubled(path), `cut to ${length}`).toBeUndefined();
      writeFileSync(path, Buffer.concat([whole.subarray(0, length), Buffer.alloc(whole.length - length)]));
      expect(readDoubled(path), `zeros from ${length}`).toBeUndefined();
    }
  });

  it("is undefined where it is missing", () => {
    expect(readDoubled(path)).toBeUndefined();
  });
});
