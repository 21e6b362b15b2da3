import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { bin, cleanEnvironment, temporaryDirectory } from "./command.js";

const definition = (limit: number): string => `decision:
  id: shipping
  type: switch
  cases: [{ condition: "weight > ${limit}", target: freight }]
  default: { target: parcel }
`;

const tests = `tests:
  - { name: light, decision: shipping, input: { weight: 1 }, expect: { target: parcel } }
  - { name: heavy, decision: shipping, input: { weight: 31 }, expect: { target: freight } }
  - { name: of a file, decision: shipping, input: "@testdata/parcel.json", expect: { target: parcel } }
`;

describe("decision test --watch", () => {
  it("runs again when a file changes, is replaced, added or removed, and ends with 130", async () => {
    const folder = temporaryDirectory();
    const write = (path: string, text: string): void => {
      const file = join(folder, "decisions", path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    };
    write("shipping.yaml", definition(30));
    write("shipping.test.yaml", tests);
    write("testdata/parcel.json", '{"weight": 2}');
    const child = execa(process.execPath, [bin, "decision", "test", "--watch"], {
      cwd: folder,
      env: cleanEnvironment(),
      extendEnv: false,
      reject: false,
      all: true,
    });
    let screen = "";
    child.all.on("data", (chunk: Buffer) => (screen += chunk.toString()));
    /** Returns what is printed until the text is there. */
    const shownUntil = async (text: string): Promise<string> => {
      const deadline = Date.now() + 30_000;
      while (!screen.includes(text)) {
        if (Date.now() > deadline || child.exitCode !== null)
          throw new Error(`no \`${text}\` in:\n${screen}`);
        await sleep(10);
      }
      const end = screen.indexOf("\n", screen.indexOf(text)) + 1;
      const shown = screen.slice(0, end);
      screen = screen.slice(end);
      return shown;
    };
    const place = "decisions/shipping.test.yaml";
    try {
      expect(await shownUntil("watching")).toBe(
        "✓ 3 tests passed  1 decision\nwatching for changes; press Ctrl-C to stop\n",
      );

      write("shipping.yaml", definition(40));
      const failing = await shownUntil("2 passed");
      expect(failing).toContain(`\n✗ heavy\n  at         ${place}:3\n`);
      expect(failing).not.toContain("light");

      write("testdata/parcel.json", '{"weight": 50}');
      const alsoFailing = await shownUntil("1 passed");
      expect(alsoFailing).toContain(`\n✗ of a file\n  at         ${place}:4\n`);
      expect(alsoFailing).not.toContain("heavy");

      write("shipping.yaml", "decision: [");
      expect(await shownUntil("decisions/shipping.yaml:1:")).toMatch(/^error: /m);

      // As editors save: the new file takes the place of the old one.
      write("shipping.yaml~", definition(30));
      renameSync(join(folder, "decisions/shipping.yaml~"), join(folder, "decisions/shipping.yaml"));
      expect(await shownUntil("2 passed")).toContain(`\n✓ heavy  ${place}:3\n`);

      write("more/new.test.yaml", tests.replace("@", "@../"));
      expect(await shownUntil("of 6")).toContain(
        "\n✗ of a file\n  at         decisions/more/new.test.yaml:4\n",
      );
      rmSync(join(folder, "decisions/more"), { recursive: true });
      expect(await shownUntil("of 3")).not.toContain("✓");
    } finally {
      child.kill("SIGINT");
    }
    expect((await child).exitCode).toBe(130);
  });
});
